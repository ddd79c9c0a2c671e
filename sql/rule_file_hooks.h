#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redquel::sql {

/// A row of pg_hba_file_rules. A line with an error alone has no type.
struct HostRuleRow {
  std::int32_t line_number = 0;
  std::optional<std::string> type;
  std::vector<std::string> database, user_name;
  std::optional<std::string> address, netmask;
  std::string auth_method;
  std::vector<std::string> options;
  std::optional<std::string> error;
};

/// A row of pg_ident_file_mappings. A line with an error has no names.
struct IdentRuleRow {
  std::int32_t line_number = 0;
  std::optional<std::string> map_name, sys_name, pg_username;
  std::optional<std::string> error;
};

/// Reads the rule files of the server. Throws 58P01 for a file that cannot be read.
struct RuleFileHooks {
  std::vector<HostRuleRow> (*host_rules)() = nullptr;
  std::vector<IdentRuleRow> (*ident_rules)() = nullptr;
};

/// Names those of this process, before any statement runs.
void set_rule_file_hooks(const RuleFileHooks& hooks);

}  // namespace redquel::sql
