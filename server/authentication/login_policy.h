#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "server/authentication/rule_set.h"

namespace redquel::server {

struct ConnectionSecurity;

/// What all threads know about logins: the rules in force and the protected mode. Any thread may call.
///
/// Protected mode is for a redquel without rules over a Redis in which no role has a password. It trusts redquel's own operating-system
/// user and root on this machine and refuses all others. It is decided once and only ever left.
class LoginPolicy {
 public:
  /// Throws std::runtime_error for a source that cannot be read or has an error.
  LoginPolicy(RuleSources sources, std::chrono::milliseconds delay);

  /// The first call decides about the protected mode, later ones may end it. `has_verifiers`: some role has a password.
  void take_up(bool has_verifiers);
  /// Ends the protected mode before Redis has been asked: passwords are needed from the first login on.
  void require_passwords() { mode_ = Mode::kRules; }
  bool is_protected() const { return mode_ != Mode::kRules; }

  std::shared_ptr<const RuleSet> rules() const { return rules_.load(); }
  /// Reads the sources again. Throws as the constructor does; the old rules stay then.
  void reload(bool tls_is_on);
  const RuleSources& sources() const { return sources_; }
  /// With TLS as it is now.
  RuleSources current_sources() const;
  /// The time between a refusal and its message.
  std::chrono::milliseconds delay() const { return delay_; }

  /// Returns true if protected mode trusts the client: redquel's own user or root, from 127.0.0.1, ::1 or a unix socket.
  static bool trusts(const ConnectionSecurity& connection);

 private:
  enum class Mode : std::uint8_t { kUndecided, kProtected, kRules };

  const RuleSources sources_;
  const std::chrono::milliseconds delay_;
  std::atomic<Mode> mode_;
  std::atomic<bool> tls_is_on_;
  std::atomic<std::shared_ptr<const RuleSet>> rules_;
};

/// Lets pg_hba_file_rules and pg_ident_file_mappings show the sources of this policy. It must outlive all statements.
void name_rule_hooks(const LoginPolicy& policy);

}  // namespace redquel::server
