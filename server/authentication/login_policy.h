#pragma once

#include <string_view>
#include <atomic>
#include <cstdint>
#include <memory>

#include "server/authentication/rule_set.h"

namespace redquel::server {

struct ConnectionSecurity;

/// The login rules in force and the protected mode, shared by all threads. Any thread may call.
///
/// Protected mode is for a redquel without rules over a Redis in which no role has a password. It trusts redquel's own operating-system
/// user and root on this machine and refuses all others. It is decided once and only ever left.
class LoginPolicy {
 public:
  /// `rules`: null: the built-in ones.
  explicit LoginPolicy(RuleSetPtr rules);

  /// The first call decides about the protected mode, later ones may end it. `has_verifiers`: some role has a password.
  void take_up(bool has_verifiers, std::string_view advice = "Run `redquel init`, or set authentication.rules");
  bool is_protected() const { return mode_ != Mode::kRules; }

  RuleSetPtr rules() const { return rules_.load(); }
  /// Takes new rules into force. Rules that the configuration gives end the protected mode; no rules do not bring it back.
  void replace_rules(RuleSetPtr rules);

  /// Returns true if protected mode trusts the client: redquel's own user or root, from 127.0.0.1, ::1 or a unix socket.
  static bool trusts(const ConnectionSecurity& connection);

 private:
  enum class Mode : std::uint8_t { kUndecided, kProtected, kRules };

  std::atomic<RuleSetPtr> rules_;
  std::atomic<Mode> mode_;
};

/// Lets pg_hba_file_rules and pg_ident_file_mappings show the rules of this policy. It must outlive all statements.
void name_rule_hooks(const LoginPolicy& policy);

}  // namespace redquel::server
