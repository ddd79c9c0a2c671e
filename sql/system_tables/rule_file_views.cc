// pg_hba_file_rules and pg_ident_file_mappings: the lines of the files as they are now, with their errors.

#include "sql/rule_file_hooks.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/row_writer.h"
#include "sql/types/array_value.h"

namespace redquel::sql {

namespace {

RuleFileHooks known_rule_hooks;

std::optional<std::string> array_of(const std::vector<std::string>& texts) {
  if (texts.empty()) return std::nullopt;
  std::string array;
  for (const std::string& text : texts) append_array_element(text, array);
  finish_array_text(array);
  return array;
}

void host_rules(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  if (known_rule_hooks.host_rules == nullptr) return;
  for (const HostRuleRow& row : known_rule_hooks.host_rules()) {
    const auto number = std::to_string(row.line_number);
    const auto databases = array_of(row.database), users = array_of(row.user_name), options = array_of(row.options);
    out.add_texts(std::vector<std::optional<std::string_view>>{number, row.type, databases, users, row.address, row.netmask,
                                                               null_if_empty(row.auth_method), options, row.error});
  }
}

void ident_mappings(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  if (known_rule_hooks.ident_rules == nullptr) return;
  for (const IdentRuleRow& row : known_rule_hooks.ident_rules()) {
    out.add(row.line_number, row.map_name, row.sys_name, row.pg_username, row.error);
  }
}

const SystemTableDefinition kRuleFileViews[] = {
    {"pg_catalog", "pg_hba_file_rules", 12114, 'v',
     "line_number int4, type text, database _text, user_name _text, address text, netmask text, auth_method text, "
     "options _text, error text", host_rules},
    {"pg_catalog", "pg_ident_file_mappings", 12118, 'v',
     "line_number int4, map_name text, sys_name text, pg_username text, error text", ident_mappings},
};

}  // namespace

void set_rule_file_hooks(const RuleFileHooks& hooks) { known_rule_hooks = hooks; }

SystemTableFamily rule_file_views() { return kRuleFileViews; }

}  // namespace redquel::sql
