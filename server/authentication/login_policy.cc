#include "server/authentication/login_policy.h"

#include <spdlog/spdlog.h>

#include "server/authentication/socket_owner.h"
#include "server/connection_security.h"

namespace redquel::server {

LoginPolicy::LoginPolicy(RuleSetPtr rules)
    : rules_(rules ? std::move(rules) : RuleSet::load({})), mode_(this->rules()->sources().has_rules() ? Mode::kRules : Mode::kUndecided) {}

void LoginPolicy::take_up(bool has_verifiers, std::string_view advice) {
  Mode mode = mode_;
  while (mode == Mode::kUndecided || (mode == Mode::kProtected && has_verifiers)) {
    if (!mode_.compare_exchange_weak(mode, has_verifiers ? Mode::kRules : Mode::kProtected)) continue;
    if (!has_verifiers) {
      spdlog::warn(
          "protected mode: no role has a password, so only redquel's own operating-system user and root may connect, from this machine. {}",
          advice);
    } else if (mode == Mode::kProtected) {
      spdlog::info("protected mode is over: a role has a password, which clients need from now on");
    }
    return;
  }
}

void LoginPolicy::replace_rules(RuleSetPtr rules) {
  if (rules->sources().has_rules()) mode_ = Mode::kRules;
  rules_ = std::move(rules);
}

bool LoginPolicy::trusts(const ConnectionSecurity& connection) {
  const asio::ip::address& client = connection.client_address;
  const bool is_loopback = client == asio::ip::address_v4::loopback() || client == asio::ip::address_v6::loopback();
  if (!connection.is_unix_socket && !is_loopback) return false;
  const std::optional<std::uint32_t> owner = socket_owner(connection);
  return owner && is_own_or_root(*owner);
}

}  // namespace redquel::server
