#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/default_privileges.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/policy.h"
#include "executor/ddl/stored_expression.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/view_options.h"
#include "executor/roles/access.h"
#include "executor/runtime/session_context.h"
#include "planner/bind/view_query.h"
#include "planner/bind/write_target.h"
#include "planner/bind/written_definition.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/type.h"
#include "sql/value_errors.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

void check_columns(const sql::ViewDef& view) {
  if (view.columns.size() > 1600) throw sql::too_many_table_columns();
  std::set<std::string_view> names;
  for (const sql::ViewDef::Column& column : view.columns) {
    if (!names.insert(column.name).second) {
      throw sql::column_listed_twice(column.name);
    }
    if (sql::type_info(column.type.oid).category == sql::TypeCategory::kPseudo) {
      throw sql::has_pseudo_type(column.name, sql::format_type(column.type));
    }
  }
}

/// CREATE OR REPLACE may only add columns at the end.
void check_replacement(const sql::ViewDef& before, const sql::ViewDef& after) {
  if (after.columns.size() < before.columns.size()) throw SqlError(sqlstate::kInvalidTableDefinition, "cannot drop columns from view");
  for (std::size_t i = 0; i < before.columns.size(); ++i) {
    const sql::ViewDef::Column& from = before.columns[i];
    const sql::ViewDef::Column& to = after.columns[i];
    if (from.name != to.name) {
      throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("cannot change name of view column \"{}\" to \"{}\"", from.name, to.name))
          .hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.");
    }
    if (from.type != to.type) {
      throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("cannot change data type of view column \"{}\" from {} to {}", from.name,
                                                                    sql::format_type(from.type), sql::format_type(to.type)));
    }
  }
}

bool reads_temporary(const sql::CatalogSnapshot& catalog, const sql::ViewDef& view) {
  return std::ranges::any_of(view.references, [&](const sql::ViewDef::Reference& reference) {
    const auto table = catalog.find_table(reference.relation);
    const auto below = catalog.find_view(reference.relation);
    const auto sequence = catalog.sequences.find(reference.relation);
    const bool is_sequence = sequence != catalog.sequences.end();
    return sql::is_temporary_schema(table ? table->schema : below ? below->schema : is_sequence ? sequence->second.schema : "");
  });
}

void make_view(CatalogDraft& draft, const ast::CreateView& statement) {
  if (statement.persistence == ast::Persistence::kUnlogged) {
    throw SqlError(sqlstate::kSyntaxError, "views cannot be unlogged because they do not have storage");
  }
  if (statement.query->into) throw SqlError(sqlstate::kFeatureNotSupported, "views must not contain SELECT INTO");
  const bool writes = statement.query->with && std::ranges::any_of(statement.query->with->expressions, [](const auto& with_query) {
    return !std::holds_alternative<ast::Select>(with_query.statement->node);
  });
  if (writes) throw SqlError(sqlstate::kFeatureNotSupported, "views must not contain data-modifying statements in WITH");
  sql::ViewDef view = planner::make_view_query(*statement.query, statement.columns, draft.catalog(), bind_settings(draft.session()));
  view.check_option = static_cast<sql::ViewDef::CheckOption>(statement.check_option);
  set_view_options(statement.options, view);
  ast::Persistence persistence = statement.persistence;
  if (persistence == ast::Persistence::kPermanent && reads_temporary(draft.catalog(), view)) {
    draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("view \"{}\" will be a temporary view", statement.relation.name));
    persistence = ast::Persistence::kTemporary;
  }
  without_positions([&] { view.schema = creation_schema(draft, statement.relation, persistence); });
  view.name = statement.relation.name;
  take_ownership(draft, sql::AclKind::kTable, view);
  check_columns(view);
  const std::string reason = planner::set_updatable(view, draft.catalog());
  if (view.check_option != sql::ViewDef::CheckOption::kNone && !reason.empty()) {
    throw SqlError(sqlstate::kFeatureNotSupported, "WITH CHECK OPTION is supported only on automatically updatable views").hint(reason);
  }
  const auto existing = draft.catalog().find_view(view.schema, view.name, {});
  if (existing && statement.replace) {
    require_creation(draft.catalog(), draft.session(), view.schema);
    check_replacement(*existing, view);
    view.oid = existing->oid;
    view.row_type = existing->row_type;
    view.rule = existing->rule;
    view.comment = existing->comment;
    view.owner = existing->owner;
    view.acl = existing->acl;
    view.triggers = existing->triggers;
    for (std::size_t i = 0; i < existing->columns.size(); ++i) {
      view.columns[i].comment = existing->columns[i].comment;
      view.columns[i].acl = existing->columns[i].acl;
      view.columns[i].default_sql = existing->columns[i].default_sql;
    }
    return draft.put(std::move(view));
  }
  if (draft.catalog().relation_exists(view.schema, view.name)) {
    if (statement.replace) throw sql::wrong_object_kind(view.name, "a view");
    throw sql::duplicate_relation(view.name);
  }
  view.oid = draft.new_oid();
  view.row_type = draft.new_oid();
  view.rule = draft.new_oid();
  draft.put(std::move(view));
}

/// Bodies of the SQL standard's follow a new name, too.
void rename_in_bodies(CatalogDraft& draft, const sql::CatalogSnapshot& before, sql::Oid relation) {
  for (const auto& [oid, found] : before.functions) {
    if (!found->standard_body || !draft.catalog().functions.contains(oid)) continue;
    const auto references = planner::body_references(*found, before, {});
    if (std::ranges::find(references, relation, &sql::ViewDef::Reference::relation) == references.end()) continue;
    sql::FunctionDef function = *draft.catalog().functions.at(oid);
    planner::rename_in_body(function, before, draft.catalog());
    draft.put(std::move(function));
  }
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateView& statement) {
  const MakeDraft make = [&statement](CatalogDraft& draft) { make_view(draft, statement); };
  co_await change_catalog(context, make);
}

void rename_in_views(CatalogDraft& draft, const sql::CatalogSnapshot& before, sql::Oid relation) {
  const DependentChanges dependents;
  for (const auto& [oid, found] : before.views) {
    const bool reads = oid == relation || std::ranges::any_of(found->references, [&](const auto& reference) {
      return reference.relation == relation;
    });
    const sql::CatalogSnapshot::ViewPtr now = draft.catalog().find_view(oid);
    if (!reads || !now) continue;
    sql::ViewDef view = *now;
    planner::rename_in_view(view, before, draft.catalog());
    draft.put(std::move(view));
  }
  for (const auto& [oid, found] : before.tables) {
    const sql::CatalogSnapshot::TablePtr now = draft.catalog().find_table(oid);
    if (!found->materialized || !now || !now->materialized) continue;
    const bool reads = oid == relation || std::ranges::any_of(found->materialized->references, [&](const auto& reference) {
      return reference.relation == relation;
    });
    if (!reads) continue;
    sql::TableDef table = *now;
    sql::ViewDef view = *now->materialized;
    for (std::size_t i = 0; i < view.columns.size() && i < table.columns.size(); ++i) view.columns[i].name = table.columns[i].name;
    planner::rename_in_view(view, before, draft.catalog());
    table.materialized = std::make_shared<const sql::ViewDef>(std::move(view));
    draft.put(std::move(table));
  }
  rename_in_policies(draft, before, relation);
  rename_in_bodies(draft, before, relation);
}

}  // namespace redquel::executor
