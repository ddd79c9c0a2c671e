#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/authentication/rule_lines.h"

namespace redquel::server {

/// A line of pg_ident.conf (PostgreSQL's manual, 21.2).
struct IdentRule {
  std::size_t line = 0;
  std::string map;
  std::string system_name;  // behind a slash: a regular expression
  std::string role;         // \1 in it: the first group of that expression
};

struct ParsedIdentRule {
  std::size_t line = 0;
  std::optional<IdentRule> rule;
  std::string error;  // empty: none
};

/// Reads lines as PostgreSQL 15 does (hba.c, parse_ident_line), with its errors.
std::vector<ParsedIdentRule> parse_ident_rules(const std::vector<RuleLine>& lines);

/// Returns true if a user that the operating system or a certificate names `system_name` may log in as `role` (check_usermap).
/// `log`: takes the reason if not.
bool is_mapped(const std::vector<IdentRule>& rules, std::string_view map, std::string_view system_name, std::string_view role,
               std::string& log);

}  // namespace redquel::server
