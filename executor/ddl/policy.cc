#include "executor/ddl/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/dependencies.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_parts.h"
#include "executor/roles/access.h"
#include "executor/runtime/session_context.h"
#include "planner/bind/policy_condition.h"
#include "planner/bind/trigger_condition.h"
#include "sql/catalog/view_rows.h"
#include "sql/catalog/role_set.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::PolicyDef;
using sql::SqlError;

namespace {

using Command = PolicyDef::Command;

Command command_of(const std::string& word) {
  if (word == "select") return Command::kSelect;
  if (word == "insert") return Command::kInsert;
  if (word == "update") return Command::kUpdate;
  if (word == "delete") return Command::kDelete;
  if (word == "all") return Command::kAll;
  throw SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized row security option \"{}\"", word));
}

SqlError missing_policy(const std::string& name, const std::string& table) {
  return SqlError(sqlstate::kUndefinedObject, fmt::format("policy \"{}\" for table \"{}\" does not exist", name, table));
}

SqlError duplicate_policy(const std::string& name, const std::string& table) {
  return SqlError(sqlstate::kDuplicateObject, fmt::format("policy \"{}\" for table \"{}\" already exists", name, table));
}

/// The roles that a policy is for. 42704. A warning if PUBLIC is one of several.
std::vector<sql::Oid> roles_of(CatalogDraft& draft, const std::vector<std::string>& names) {
  if (names.empty() || std::ranges::find(names, "public") != names.end()) {
    if (names.size() > 1 && draft.session().notice) {
      draft.session().notice("WARNING", SqlError(sqlstate::kInvalidParameterValue, "ignoring specified roles other than PUBLIC")
                                            .hint("All roles are members of the PUBLIC role."));
    }
    return {sql::kPublic};
  }
  std::vector<sql::Oid> roles;
  for (const std::string& name : names) {
    const std::string meant = role_meant(draft.session(), name);
    const sql::RoleDef* role = sql::known_roles()->find(std::string_view(meant));
    if (role == nullptr) throw sql::undefined_role(meant);
    roles.push_back(role->oid);
  }
  return roles;
}

/// The table of a policy. 42P01; 42809 for other relations, foreign tables and materialized views.
TablePtr policy_table(const CatalogDraft& draft, const ast::RelationName& name) {
  const RelationKind kind = relation_kind(draft, name);
  if (kind == RelationKind::kNone) throw missing_relation(draft, name);
  if (kind == RelationKind::kSystemTable) {
    throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied: \"{}\" is a system catalog", name.name));
  }
  if (kind != RelationKind::kTable) throw sql::wrong_object_kind(name.name, "a table");
  TablePtr table = require_table(draft, name);
  if (table->is_mapped() || table->materialized) throw sql::wrong_object_kind(name.name, "a table");
  return table;
}

std::string stored_condition(const CatalogDraft& draft, const sql::TableDef& table, const ast::Expression& written) {
  std::string text;
  without_positions([&] { text = planner::make_policy_condition(written, table, draft.catalog(), bind_settings(draft.session())); });
  return text;
}

void sort_by_name(std::vector<PolicyDef>& policies) { std::ranges::sort(policies, {}, &PolicyDef::name); }

void create_policy(CatalogDraft& draft, const ast::CreatePolicy& statement) {
  const Command command = command_of(statement.command);
  if ((command == Command::kSelect || command == Command::kDelete) && statement.check_condition) {
    throw SqlError(sqlstate::kSyntaxError, "WITH CHECK cannot be applied to SELECT or DELETE");
  }
  if (command == Command::kInsert && statement.using_condition) {
    throw SqlError(sqlstate::kSyntaxError, "only WITH CHECK expression allowed for INSERT");
  }
  PolicyDef policy{.name = statement.name, .restrictive = statement.restrictive, .command = command};
  policy.roles = roles_of(draft, statement.roles);
  sql::TableDef table = *policy_table(draft, statement.relation);
  if (statement.using_condition) policy.using_sql = stored_condition(draft, table, *statement.using_condition);
  if (statement.check_condition) policy.check_sql = stored_condition(draft, table, *statement.check_condition);
  policy.references = planner::policy_references(policy, table, draft.catalog());
  if (find_policy(table, policy.name) != nullptr) throw duplicate_policy(policy.name, table.name);
  policy.oid = draft.new_oid();
  table.security.policies.push_back(std::move(policy));
  sort_by_name(table.security.policies);
  draft.put(std::move(table));
}

void alter_policy(CatalogDraft& draft, const ast::AlterPolicy& statement) {
  std::vector<sql::Oid> roles;
  if (!statement.roles.empty()) roles = roles_of(draft, statement.roles);
  sql::TableDef table = *policy_table(draft, statement.relation);
  std::string using_sql, check_sql;
  if (statement.using_condition) using_sql = stored_condition(draft, table, *statement.using_condition);
  if (statement.check_condition) check_sql = stored_condition(draft, table, *statement.check_condition);
  PolicyDef* policy = find_policy(table, statement.name);
  if (policy == nullptr) throw missing_policy(statement.name, table.name);
  const bool reads_only = policy->command == Command::kSelect || policy->command == Command::kDelete;
  if (reads_only && statement.check_condition) throw SqlError(sqlstate::kSyntaxError, "only USING expression allowed for SELECT, DELETE");
  if (policy->command == Command::kInsert && statement.using_condition) {
    throw SqlError(sqlstate::kSyntaxError, "only WITH CHECK expression allowed for INSERT");
  }
  if (!roles.empty()) policy->roles = std::move(roles);
  if (statement.using_condition) policy->using_sql = std::move(using_sql);
  if (statement.check_condition) policy->check_sql = std::move(check_sql);
  policy->references = planner::policy_references(*policy, table, draft.catalog());
  draft.put(std::move(table));
}

/// The table and the name of a policy that is named with its table's parts in front.
std::pair<ast::RelationName, std::string> parts_of(const ast::ObjectName& name) {
  return {relation_name({name.names.begin(), name.names.end() - 1}), name.names.back()};
}

/// Gives the policies of a table, and the conditions of its triggers, the names that the draft has.
void rename_in(CatalogDraft& draft, const sql::CatalogSnapshot& before, const sql::TableDef& old_table) {
  const TablePtr now = draft.catalog().find_table(old_table.oid);
  if (!now) return;
  sql::TableDef table = *now;
  for (PolicyDef& policy : table.security.policies) {
    for (std::string* text : {&policy.using_sql, &policy.check_sql}) {
      if (!text->empty()) *text = planner::rename_in_policy(*text, old_table, before, draft.catalog());
    }
  }
  for (sql::TriggerDef& trigger : table.triggers) {
    if (!trigger.when_sql.empty()) trigger.when_sql = planner::rename_in_trigger(trigger.when_sql, old_table, before, draft.catalog());
  }
  draft.put(std::move(table));
}

/// Like rename_in(), for the triggers of a view.
void rename_in(CatalogDraft& draft, const sql::CatalogSnapshot& before, const sql::ViewDef& old_view) {
  const auto now = draft.catalog().find_view(old_view.oid);
  if (!now || now->triggers.empty()) return;
  const std::shared_ptr<const sql::TableDef> old_rows = sql::view_rows(old_view);
  sql::ViewDef view = *now;
  for (sql::TriggerDef& trigger : view.triggers) {
    if (!trigger.when_sql.empty()) trigger.when_sql = planner::rename_in_trigger(trigger.when_sql, *old_rows, before, draft.catalog());
  }
  draft.put(std::move(view));
}

/// Returns true if the table has the object, or its policies or triggers use it.
bool uses_in_conditions(const sql::TableDef& table, sql::Oid object) {
  const auto uses = [&](const auto& part) {
    return table.oid == object || std::ranges::find(part.references, object, &PolicyDef::Reference::relation) != part.references.end();
  };
  return std::ranges::any_of(table.security.policies, uses) || std::ranges::any_of(table.triggers, uses);
}

}  // namespace

PolicyDef* find_policy(sql::TableDef& table, const std::string& name) {
  const auto found = std::ranges::find(table.security.policies, name, &PolicyDef::name);
  return found == table.security.policies.end() ? nullptr : &*found;
}

void drop_policies(CatalogDraft& draft, const ast::Drop& statement) {
  for (const ast::ObjectName& object : statement.names) {
    const auto [relation, name] = parts_of(object);
    const bool is_table = (relation.schema.empty() || draft.catalog().schemas.contains(relation.schema)) &&
                          relation_kind(draft, relation) == RelationKind::kTable;
    if (is_table) {
      sql::TableDef table = *require_table(draft, relation);
      if (find_policy(table, name) != nullptr) {
        require_owner(draft.session(), table.owner, "relation", table.name);
        std::erase_if(table.security.policies, [&](const PolicyDef& policy) { return policy.name == name; });
        draft.put(std::move(table));
        continue;
      }
    }
    drop_missing(draft, statement.object, std::span(&object, 1), statement.if_exists);
  }
}

void rename_policy(CatalogDraft& draft, const ast::Rename& statement) {
  sql::TableDef table = *policy_table(draft, *statement.relation);
  if (find_policy(table, statement.new_name) != nullptr) throw duplicate_policy(statement.new_name, table.name);
  PolicyDef* policy = find_policy(table, statement.old_name);
  if (policy == nullptr) throw missing_policy(statement.old_name, table.name);
  policy->name = statement.new_name;
  sort_by_name(table.security.policies);
  draft.put(std::move(table));
}

void comment_on_policy(CatalogDraft& draft, const ast::ObjectName& object, const std::string& text) {
  const auto [relation, name] = parts_of(object);
  const RelationKind kind = relation_kind(draft, relation);
  if (kind == RelationKind::kNone) throw missing_relation(draft, relation);
  if (kind != RelationKind::kTable) throw missing_policy(name, relation.name);
  sql::TableDef table = *require_table(draft, relation);
  PolicyDef* policy = find_policy(table, name);
  if (policy == nullptr) throw missing_policy(name, table.name);
  require_owner(draft.session(), table.owner, "relation", table.name);
  policy->comment = text;
  draft.put(std::move(table));
}

void rename_in_policies(CatalogDraft& draft, const sql::CatalogSnapshot& before, sql::Oid object) {
  const DependentChanges dependents;
  for (const auto& [oid, table] : before.tables) {
    if (uses_in_conditions(*table, object)) rename_in(draft, before, *table);
  }
  for (const auto& [oid, view] : before.views) {
    if (!view->triggers.empty() && uses_in_conditions(*sql::view_rows(*view), object)) rename_in(draft, before, *view);
  }
}

void rename_in_all_policies(CatalogDraft& draft, const sql::CatalogSnapshot& before) {
  const DependentChanges dependents;
  for (const auto& [oid, table] : before.tables) {
    if (!table->security.policies.empty() || !table->triggers.empty()) rename_in(draft, before, *table);
  }
  for (const auto& [oid, view] : before.views) rename_in(draft, before, *view);
}

void check_no_policy_uses(const CatalogDraft& draft, sql::Oid table, std::int16_t column) {
  TablePtr owner;
  const PolicyDef* oldest = nullptr;
  for (const auto& [oid, other] : draft.catalog().tables) {
    for (const PolicyDef& policy : other->security.policies) {
      if (!reads(policy, {DropObject::Kind::kColumn, table, column}) || (oldest != nullptr && oldest->oid < policy.oid)) continue;
      owner = other;
      oldest = &policy;
    }
  }
  if (oldest == nullptr) return;
  throw SqlError(sqlstate::kFeatureNotSupported, "cannot alter type of a column used in a policy definition")
      .detail(fmt::format("policy {} on table {} depends on column \"{}\"", oldest->name, display_name(draft, owner->schema, owner->name),
                          draft.catalog().find_table(table)->find_column(column)->name));
}

asio::awaitable<void> run(DdlContext& context, const ast::CreatePolicy& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) { create_policy(draft, statement); };
  co_await change_catalog(context, make);
}

asio::awaitable<void> run(DdlContext& context, const ast::AlterPolicy& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) { alter_policy(draft, statement); };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
