#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/authentication/host_rule.h"
#include "server/authentication/ident_map.h"

namespace redquel::server {

struct ConnectionSecurity;

/// The sources of the rules. A text takes precedence over a file of the same rules; without both the built-in rules hold.
struct RuleSources {
  std::filesystem::path hba_file, ident_file;  // empty: none
  std::string rules;                           // lines of pg_hba.conf
  bool tls_is_on = false;

  bool has_rules() const { return !hba_file.empty() || !rules.empty(); }
};

/// Every line of a source, for pg_hba_file_rules and pg_ident_file_mappings. Throws std::system_error if there is a file that cannot be read.
std::vector<ParsedHostRule> read_host_rules(const RuleSources& sources);
std::vector<ParsedIdentRule> read_ident_rules(const RuleSources& sources);

/// The rules that decide who may log in, and how. Immutable; threads share it.
class RuleSet {
 public:
  /// Reads the sources. Throws std::runtime_error "FILE:LINE: REASON" for a file that cannot be read or a line with an error.
  static std::shared_ptr<const RuleSet> load(RuleSources sources);
  const RuleSources& sources() const { return sources_; }

  /// The facts about a login that rules ask for.
  struct Login {
    const ConnectionSecurity& connection;
    std::string_view user, database;
    /// Names of the roles that the user is a member of, itself included. Empty: there is no such role.
    std::span<const std::string> memberships;
  };
  /// Returns the first rule that fits (check_hba); null: none does.
  const HostRule* find(const Login& login) const;

  /// Returns true if the map of a rule lets `system_name` be `role`. `log`: takes the reason if not.
  bool is_mapped(const HostRule& rule, std::string_view system_name, std::string_view role, std::string& log) const;

  /// Returns true if the built-in rules let an operating-system user log in as any role: redquel's own and root. Others log in as the role
  /// of their name.
  bool lets_in_all_roles(std::uint32_t user) const;

 private:
  RuleSources sources_;
  std::vector<HostRule> rules_;
  std::vector<IdentRule> maps_;
};

using RuleSetPtr = std::shared_ptr<const RuleSet>;

}  // namespace redquel::server
