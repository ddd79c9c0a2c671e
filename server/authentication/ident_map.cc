#include "server/authentication/ident_map.h"

#include <fmt/format.h>

#include <memory>

#include "sql/error.h"
#include "sql/functions/regular_expression.h"

namespace redquel::server {

namespace {

enum class MapAnswer { kOther, kFits, kBroken };

/// The expression of a rule; null: its system name is none.
std::shared_ptr<const sql::RegularExpression> expression_of(const IdentRule& rule) {
  if (rule.system_name.empty() || rule.system_name[0] != '/') return nullptr;
  return sql::RegularExpression::compiled(std::string_view(rule.system_name).substr(1), {});
}

MapAnswer ask(const IdentRule& rule, std::string_view system_name, std::string_view role, std::string& log) {
  const std::shared_ptr<const sql::RegularExpression> expression = expression_of(rule);
  if (expression == nullptr) return rule.system_name == system_name && rule.role == role ? MapAnswer::kFits : MapAnswer::kOther;
  std::vector<sql::RegexSpan> groups;
  if (!expression->search({*expression, system_name}, 0, groups)) return MapAnswer::kOther;
  std::string expected = rule.role;
  if (const std::size_t reference = expected.find("\\1"); reference != std::string::npos) {
    if (groups.size() < 2 || !groups[1].matched()) {
      log = fmt::format("regular expression \"{}\" has no subexpressions as requested by backreference in \"{}\"",
                        rule.system_name.substr(1), rule.role);
      return MapAnswer::kBroken;
    }
    expected.replace(reference, 2, groups[1].of(system_name));
  }
  return expected == role ? MapAnswer::kFits : MapAnswer::kOther;
}

IdentRule parse_ident_rule(const RuleLine& line, std::string& error) {
  IdentRule rule{.line = line.number, .map = {}, .system_name = {}, .role = {}};
  std::size_t next = 0;
  for (std::string* name : {&rule.map, &rule.system_name, &rule.role}) {
    if (next == line.fields.size()) {
      error = "missing entry at end of line";
      return rule;
    }
    const RuleField& field = line.fields[next++];
    if (field.size() > 1) {
      error = "multiple values in ident field";
      return rule;
    }
    *name = field[0].text;
  }
  try {
    expression_of(rule);
  } catch (const sql::SqlError& failure) {
    constexpr std::string_view kPrefix = "invalid regular expression: ";
    std::string_view reason = failure.what();
    if (reason.starts_with(kPrefix)) reason.remove_prefix(kPrefix.size());
    error = fmt::format("invalid regular expression \"{}\": {}", rule.system_name.substr(1), reason);
  }
  return rule;
}

}  // namespace

std::vector<ParsedIdentRule> parse_ident_rules(const std::vector<RuleLine>& lines) {
  std::vector<ParsedIdentRule> rules;
  rules.reserve(lines.size());
  for (const RuleLine& line : lines) {
    ParsedIdentRule parsed{.line = line.number, .rule = std::nullopt, .error = line.error};
    if (parsed.error.empty()) parsed.rule = parse_ident_rule(line, parsed.error);
    if (!parsed.error.empty()) parsed.rule.reset();
    rules.push_back(std::move(parsed));
  }
  return rules;
}

bool is_mapped(const std::vector<IdentRule>& rules, std::string_view map, std::string_view system_name, std::string_view role,
               std::string& log) {
  if (map.empty()) {
    if (system_name == role) return true;
    log = fmt::format("provided user name ({}) and authenticated user name ({}) do not match", role, system_name);
    return false;
  }
  for (const IdentRule& rule : rules) {
    if (rule.map != map) continue;
    const MapAnswer answer = ask(rule, system_name, role, log);
    if (answer != MapAnswer::kOther) return answer == MapAnswer::kFits;
  }
  log = fmt::format("no match in usermap \"{}\" for user \"{}\" authenticated as \"{}\"", map, role, system_name);
  return false;
}

}  // namespace redquel::server
