#include "server/authentication/login_policy.h"

#include <spdlog/spdlog.h>

#include "server/authentication/socket_owner.h"
#include "server/connection_security.h"

namespace redquel::server {

LoginPolicy::LoginPolicy(RuleSetPtr rules)
    : rules_(rules ? std::move(rules) : RuleSet::load({})), mode_(this->rules()->sources().has_rules() ? Mode::kRules : Mode::kUndecided) {}

void LoginPolicy::take_up(bool has_verifiers, bool has_superuser_verifier, std::string_view advice) {
  const Mode next = has_superuser_verifier ? Mode::kRules : has_verifiers ? Mode::kSuperusers : Mode::kProtected;
  Mode mode = mode_;
  while (mode < next) {
    if (!mode_.compare_exchange_weak(mode, next)) continue;
    if (next == Mode::kProtected) {
      spdlog::warn(
          "protected mode: no role has a password, so only redquel's own operating-system user and root may connect, from this machine. {}",
          advice);
    } else if (mode == Mode::kProtected) {
      spdlog::info("protected mode is over: a role has a password, which clients need from now on{}",
                   next == Mode::kRules ? "" : ", except for superusers of root and redquel's own user on this machine, until a superuser has one");
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
