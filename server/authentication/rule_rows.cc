// The rows of pg_hba_file_rules and pg_ident_file_mappings.

#include <fmt/format.h>

#include <cstring>
#include <system_error>

#include "server/authentication/login_policy.h"
#include "sql/error.h"
#include "sql/rule_file_hooks.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

/// The policy of this process; null: none is set.
const LoginPolicy* known_policy = nullptr;

std::vector<std::string> texts_of(const RuleField& words) {
  std::vector<std::string> texts;
  for (const RuleWord& word : words) texts.push_back(word.text);
  return texts;
}

/// An address as getnameinfo() writes it, without a zone.
sql::HostRuleRow row_of(const ParsedHostRule& parsed) {
  sql::HostRuleRow row;
  row.line_number = static_cast<std::int32_t>(parsed.line);
  if (!parsed.error.empty()) row.error = parsed.error;
  if (!parsed.rule) return row;
  const HostRule& rule = *parsed.rule;
  row.type = to_text(rule.connection);
  row.database = texts_of(rule.databases);
  row.user_name = texts_of(rule.roles);
  row.auth_method = to_text(rule.method);
  row.options = options_of(rule);
  if (rule.connection == RuleConnection::kLocal) return row;
  switch (rule.addresses) {
    case HostRule::Addresses::kRange:
      row.address = rule.range.address.to_string();
      row.netmask = rule.range.mask.to_string();
      break;
    case HostRule::Addresses::kAll:
      row.address = "all";
      break;
    case HostRule::Addresses::kSameHost:
      row.address = "samehost";
      break;
    case HostRule::Addresses::kSameNet:
      row.address = "samenet";
      break;
  }
  return row;
}

sql::IdentRuleRow row_of(const ParsedIdentRule& parsed) {
  sql::IdentRuleRow row;
  row.line_number = static_cast<std::int32_t>(parsed.line);
  if (!parsed.error.empty()) row.error = parsed.error;
  if (!parsed.rule) return row;
  row.map_name = parsed.rule->map;
  row.sys_name = parsed.rule->system_name;
  row.pg_username = parsed.rule->role;
  return row;
}

template <class Row, class Parsed>
std::vector<Row> rows_of(std::vector<Parsed> (*read)(const RuleSources&), std::filesystem::path RuleSources::* file) {
  const RuleSetPtr rules = known_policy->rules();
  std::vector<Row> rows;
  try {
    for (const Parsed& parsed : read(rules->sources())) rows.push_back(row_of(parsed));
  } catch (const std::system_error& failure) {
    throw sql::SqlError(sqlstate::kUndefinedFile, fmt::format("could not open configuration file \"{}\": {}", (rules->sources().*file).string(),
                                                              std::strerror(failure.code().value())));
  }
  return rows;
}

}  // namespace

void name_rule_hooks(const LoginPolicy& policy) {
  known_policy = &policy;
  sql::set_rule_file_hooks({
      .host_rules = [] { return rows_of<sql::HostRuleRow>(read_host_rules, &RuleSources::hba_file); },
      .ident_rules = [] { return rows_of<sql::IdentRuleRow>(read_ident_rules, &RuleSources::ident_file); },
  });
}

}  // namespace redquel::server
