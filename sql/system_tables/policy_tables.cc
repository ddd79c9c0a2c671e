// pg_policy and pg_policies.

#include <algorithm>

#include "sql/catalog/role_set.h"
#include "sql/system_tables/constraints.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/row_writer.h"
#include "sql/types/array_value.h"

namespace redquel::sql {
namespace {

using Command = PolicyDef::Command;

char command_letter(Command command) {
  switch (command) {
    case Command::kSelect: return 'r';
    case Command::kInsert: return 'a';
    case Command::kUpdate: return 'w';
    case Command::kDelete: return 'd';
    case Command::kAll: break;
  }
  return '*';
}

std::string_view command_word(Command command) {
  switch (command) {
    case Command::kSelect: return "SELECT";
    case Command::kInsert: return "INSERT";
    case Command::kUpdate: return "UPDATE";
    case Command::kDelete: return "DELETE";
    case Command::kAll: break;
  }
  return "ALL";
}

std::string shown_condition(const TableDef& table, const std::string& text, const EvaluationContext& context) {
  return text.empty() ? text : written_expression(table, text, false, context);
}

/// An array of the names, in their order.
std::string role_names(const PolicyDef& policy) {
  if (policy.roles == std::vector<Oid>{kPublic}) return "{public}";
  std::vector<std::string> names;
  for (const Oid role : policy.roles) {
    if (const RoleDef* known = known_roles()->find(role)) names.push_back(known->name);
  }
  std::ranges::sort(names);
  std::string text;
  for (const std::string& name : names) append_array_element(name, text);
  finish_array_text(text);
  return text;
}

void policies(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const auto& [oid, table] : catalog.tables) {
    for (const PolicyDef& policy : table->security.policies) {
      const std::string condition = shown_condition(*table, policy.using_sql, context);
      const std::string check = shown_condition(*table, policy.check_sql, context);
      out.add(policy.oid, policy.name, oid, command_letter(policy.command), !policy.restrictive, array_text(policy.roles),
              null_if_empty(condition), null_if_empty(check));
    }
  }
}

void policies_in_words(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const auto& [oid, table] : catalog.tables) {
    for (const PolicyDef& policy : table->security.policies) {
      const std::string condition = shown_condition(*table, policy.using_sql, context);
      const std::string check = shown_condition(*table, policy.check_sql, context);
      out.add(table->schema, table->name, policy.name, policy.restrictive ? "RESTRICTIVE" : "PERMISSIVE", role_names(policy),
              command_word(policy.command), null_if_empty(condition), null_if_empty(check));
    }
  }
}

const SystemTableDefinition kPolicyTables[] = {
    {"pg_catalog", "pg_policy", 3256, 'r',
     "oid oid!, polname name!, polrelid oid!, polcmd char!, polpermissive bool!, polroles _oid!, "
     "polqual pg_node_tree, polwithcheck pg_node_tree", policies},
    {"pg_catalog", "pg_policies", 12018, 'v',
     "schemaname name, tablename name, policyname name, permissive text, roles _name, cmd text, qual text, "
     "with_check text", policies_in_words},
};

}  // namespace

SystemTableFamily policy_tables() { return kPolicyTables; }

}  // namespace redquel::sql
