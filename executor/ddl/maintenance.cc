#include <algorithm>

#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/definition_rights.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/vacuum_options.h"
#include "executor/roles/access.h"
#include "executor/transaction/transaction.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

/// Calls `check` with the definitions that the statement sees.
asio::awaitable<void> check_definitions(DdlContext& context, const std::function<void(const CatalogDraft&)>& check) {
  if (context.session.transaction && context.session.transaction->catalog()) {
    const MakeDraft make = [&](CatalogDraft& draft) { check(draft); };
    co_await change_catalog(context, make);
    co_return;
  }
  const LoadedCatalog loaded = co_await load_committed(context);
  const CatalogDraft draft(loaded, context.session);
  check(draft);
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::Vacuum& statement) {
  check_vacuum_options(statement);
  const std::function<void(const CatalogDraft&)> check = [&](const CatalogDraft& draft) {
    for (const ast::VacuumRelation& listed : statement.relations) {
      const ast::RelationName& name = listed.relation.name;
      if (relation_kind(draft, name) == RelationKind::kNone) throw missing_relation(draft, name);
      const std::string_view verb = statement.analyze_only ? "analyze" : "vacuum";
      const TablePtr table = draft.catalog().find_table(name.schema, name.name, draft.session().search_path);
      if (table && !may_maintain(draft.session(), table->owner, table->name, verb)) continue;
      if (relation_kind(draft, name) == RelationKind::kSystemTable && !may_maintain_catalog(draft.session(), name.name, verb)) continue;
      for (auto column = listed.columns.begin(); table && column != listed.columns.end(); ++column) {
        const std::string shown = "column \"" + *column + "\" of relation \"" + table->name + "\"";
        if (table->find_column(*column) == nullptr) throw sql::SqlError(sqlstate::kUndefinedColumn, shown + " does not exist");
        if (std::find(listed.columns.begin(), column, *column) != column) {
          throw sql::SqlError(sqlstate::kDuplicateColumn, shown + " appears more than once");
        }
      }
    }
  };
  if (!statement.relations.empty()) co_await check_definitions(context, check);
  co_await finish_removals(context.redis);
}

asio::awaitable<void> run(DdlContext& context, const ast::Cluster& statement) {
  const std::function<void(const CatalogDraft&)> check = [&](const CatalogDraft& draft) {
    if (!statement.relation) return;
    check_schema(draft, *statement.relation);
    const TablePtr table = require_table(draft, *statement.relation);
    require_owner(draft.session(), table->owner, table->materialized ? "materialized view" : "table", table->name);
    if (statement.index.empty()) {
      throw sql::SqlError(sqlstate::kUndefinedObject, "there is no previously clustered index for table \"" + table->name + "\"");
    }
    if (table->find_index(statement.index) == nullptr && (table->primary_key.empty() || table->primary_key_index.name != statement.index)) {
      throw sql::SqlError(sqlstate::kUndefinedObject, "index \"" + statement.index + "\" for table \"" + table->name + "\" does not exist");
    }
  };
  co_await check_definitions(context, check);
}

asio::awaitable<void> run(DdlContext& context, const ast::Checkpoint&) {
  const sql::RoleSet& roles = *sql::known_roles();
  const sql::RoleDef* allowed = roles.find("pg_checkpoint");
  if (roles.has_privileges_of(current_role(roles, context.session), allowed->oid, context.session.database)) co_return;
  throw sql::SqlError(sqlstate::kInsufficientPrivilege, "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT");
}

}  // namespace redquel::executor
