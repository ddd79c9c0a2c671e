#include "server/authentication/login_policy.h"

#include <spdlog/spdlog.h>

#include "server/authentication/socket_owner.h"
#include "server/connection_security.h"

namespace redquel::server {

LoginPolicy::LoginPolicy(RuleSources sources, std::chrono::milliseconds delay)
    : sources_(std::move(sources)),
      delay_(delay),
      mode_(sources_.has_rules() ? Mode::kRules : Mode::kUndecided),
      tls_is_on_(sources_.tls_is_on),
      rules_(std::make_shared<const RuleSet>(RuleSet::load(sources_))) {}

void LoginPolicy::take_up(bool has_verifiers) {
  Mode mode = mode_;
  while (mode == Mode::kUndecided || (mode == Mode::kProtected && has_verifiers)) {
    if (!mode_.compare_exchange_weak(mode, has_verifiers ? Mode::kRules : Mode::kProtected)) continue;
    if (!has_verifiers) {
      spdlog::warn(
          "protected mode: no role has a password, so only redquel's own operating-system user and root may connect, from this machine. "
          "Run `redquel init`, or set authentication.rules");
    } else if (mode == Mode::kProtected) {
      spdlog::info("protected mode is over: a role has a password, which clients need from now on");
    }
    return;
  }
}

void LoginPolicy::reload(bool tls_is_on) {
  RuleSources sources = sources_;
  sources.tls_is_on = tls_is_on;
  rules_ = std::make_shared<const RuleSet>(RuleSet::load(sources));
  tls_is_on_ = tls_is_on;
}

RuleSources LoginPolicy::current_sources() const {
  RuleSources sources = sources_;
  sources.tls_is_on = tls_is_on_;
  return sources;
}

bool LoginPolicy::trusts(const ConnectionSecurity& connection) {
  const asio::ip::address& client = connection.client_address;
  const bool is_loopback = client == asio::ip::address_v4::loopback() || client == asio::ip::address_v6::loopback();
  if (!connection.is_unix_socket && !is_loopback) return false;
  const std::optional<std::uint32_t> owner = socket_owner(connection);
  return owner && is_own_or_root(*owner);
}

}  // namespace redquel::server
