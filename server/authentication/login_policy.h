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
/// user and root on this machine and refuses all others. Once a role has a password, clients need it; as long as no superuser has one, the two
/// users are still trusted as superusers. These steps are never taken back.
class LoginPolicy {
 public:
  /// `rules`: null: the built-in ones.
  explicit LoginPolicy(RuleSetPtr rules);

  /// The first call decides about the protected mode, later ones may end it. `has_verifiers`: some role has a password;
  /// `has_superuser_verifier`: a superuser has one.
  void take_up(bool has_verifiers, bool has_superuser_verifier, std::string_view advice = "Run `redquel init`, or set authentication.rules");
  bool is_protected() const { return mode_ == Mode::kUndecided || mode_ == Mode::kProtected; }
  /// Returns true if those whom protected mode trusts are trusted as superusers alone.
  bool trusts_superusers() const { return mode_ == Mode::kSuperusers; }

  RuleSetPtr rules() const { return rules_.load(); }
  /// Takes new rules into force. Rules that the configuration gives end the protected mode; no rules do not bring it back.
  void replace_rules(RuleSetPtr rules);

  /// Returns true if protected mode trusts the client: redquel's own user or root, from 127.0.0.1, ::1 or a unix socket.
  static bool trusts(const ConnectionSecurity& connection);

 private:
  enum class Mode : std::uint8_t { kUndecided, kProtected, kSuperusers, kRules };

  std::atomic<RuleSetPtr> rules_;
  std::atomic<Mode> mode_;
};

/// Lets pg_hba_file_rules and pg_ident_file_mappings show the rules of this policy. It must outlive all statements.
void name_rule_hooks(const LoginPolicy& policy);

}  // namespace redquel::server
