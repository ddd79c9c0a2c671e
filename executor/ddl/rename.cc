#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/alter_composite.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/extension.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/partition.h"
#include "executor/ddl/policy.h"
#include "executor/ddl/publication.h"
#include "executor/ddl/role_statements.h"
#include "executor/ddl/schema_name.h"
#include "executor/ddl/stored_expression.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/trigger.h"
#include "executor/ddl/type_lookup.h"
#include "executor/roles/access.h"
#include "planner/bind/sql_function.h"
#include "planner/bind/view_query.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

void check_free(const CatalogDraft& draft, const std::string& schema, const std::string& name) {
  if (draft.catalog().relation_exists(schema, name)) throw sql::duplicate_relation(name);
}

void rename_table(CatalogDraft& draft, const sql::TableDef& table, const std::string& name) {
  check_free(draft, table.schema, name);
  const sql::CatalogSnapshot before = draft.catalog();
  const sql::Oid oid = table.oid;
  sql::TableDef changed = table;  // keys keep their prefix
  changed.name = name;
  draft.put(std::move(changed));
  rename_in_views(draft, before, oid);
}

/// An index and the constraint that made it have one name.
void rename_index(CatalogDraft& draft, const ast::RelationName& relation, const std::string& name) {
  const auto& path = draft.session().search_path;
  if (const TablePtr table = draft.catalog().find_primary_key(relation.schema, relation.name, path)) {
    check_free(draft, table->schema, name);
    sql::TableDef changed = *table;
    changed.primary_key_index.name = name;
    return draft.put(std::move(changed));
  }
  const auto [table, index] = draft.catalog().find_index(relation.schema, relation.name, path);
  check_free(draft, table->schema, name);
  sql::TableDef changed = *table;
  for (sql::IndexDef& other : changed.indexes) {
    if (other.oid == index->oid) other.name = name;
  }
  draft.put(std::move(changed));
}

void rename_relation(CatalogDraft& draft, const ast::Rename& statement) {
  const ast::RelationName& relation = *statement.relation;
  const RelationKind kind = relation_kind(draft, relation);
  if (kind == RelationKind::kNone) {
    if (!statement.if_exists) throw missing_relation(draft, relation);
    draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("relation \"{}\" does not exist, skipping", relation.name));
    return;
  }
  const auto require = [&](ast::ObjectType type, RelationKind wanted, std::string_view with_article) {
    if (statement.object == type && kind != wanted) {
      throw sql::wrong_object_kind(relation.name, with_article);
    }
  };
  require(ast::ObjectType::kSequence, RelationKind::kSequence, "a sequence");
  require(ast::ObjectType::kView, RelationKind::kView, "a view");
  require(ast::ObjectType::kMaterializedView, RelationKind::kTable, "a materialized view");
  if (statement.object == ast::ObjectType::kMaterializedView && !require_table(draft, relation)->materialized) {
    throw sql::wrong_object_kind(relation.name, "a materialized view");
  }
  require(ast::ObjectType::kForeignTable, RelationKind::kTable, "a foreign table");
  if (statement.object == ast::ObjectType::kForeignTable && !require_table(draft, relation)->is_mapped()) {
    throw sql::wrong_object_kind(relation.name, "a foreign table");
  }
  // ALTER TABLE and ALTER INDEX rename tables, indexes and sequences alike.
  switch (kind) {
    case RelationKind::kIndex: {
      const auto& path = draft.session().search_path;
      TablePtr table = draft.catalog().find_primary_key(relation.schema, relation.name, path);
      if (!table) table = draft.catalog().find_index(relation.schema, relation.name, path).first;
      require_owner(draft.session(), table->owner, "index", relation.name);
      return rename_index(draft, relation, statement.new_name);
    }
    case RelationKind::kSequence: {
      sql::SequenceDef sequence =
          *draft.catalog().find_sequence(relation.schema, relation.name, draft.session().search_path);
      check_free(draft, sequence.schema, statement.new_name);
      sequence.name = statement.new_name;
      return draft.put(std::move(sequence));
    }
    case RelationKind::kView: {
      const sql::CatalogSnapshot before = draft.catalog();
      sql::ViewDef view = *before.find_view(relation.schema, relation.name, draft.session().search_path);
      check_free(draft, view.schema, statement.new_name);
      view.name = statement.new_name;
      const sql::Oid oid = view.oid;
      draft.put(std::move(view));
      return rename_in_views(draft, before, oid);
    }
    default:
      return rename_table(draft, *require_table(draft, relation), statement.new_name);
  }
}

TablePtr find_owner(CatalogDraft& draft, const ast::Rename& statement) {
  TablePtr table = find_table(draft, *statement.relation);
  if (table) return table;
  if (!statement.if_exists) throw missing_relation(draft, *statement.relation);
  draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("relation \"{}\" does not exist, skipping", statement.relation->name));
  return nullptr;
}

void rename_view_column(CatalogDraft& draft, const sql::ViewDef& written, const ast::Rename& statement) {
  sql::ViewDef view = written;
  const auto column = std::ranges::find(view.columns, statement.old_name, &sql::ViewDef::Column::name);
  if (column == view.columns.end()) throw sql::undefined_column(statement.old_name);
  if (view.find_column(statement.new_name) != nullptr) {
    throw sql::duplicate_column(statement.new_name, view.name);
  }
  column->name = statement.new_name;
  const sql::CatalogSnapshot before = draft.catalog();
  const sql::Oid oid = view.oid;
  draft.put(std::move(view));
  rename_in_views(draft, before, oid);
}

void rename_column_of(CatalogDraft& draft, const sql::TableDef& table, const ast::Rename& statement);

void rename_column(CatalogDraft& draft, const ast::Rename& statement) {
  if (relation_kind(draft, *statement.relation) == RelationKind::kView) {
    const ast::RelationName& name = *statement.relation;
    return rename_view_column(draft, *draft.catalog().find_view(name.schema, name.name, draft.session().search_path), statement);
  }
  const TablePtr table = find_owner(draft, statement);
  if (!table) return;
  if (table->partition) throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("cannot rename inherited column \"{}\"", statement.old_name));
  for (const TablePtr& one : tree_of(draft.catalog(), table)) rename_column_of(draft, *draft.catalog().find_table(one->oid), statement);
}

void rename_column_of(CatalogDraft& draft, const sql::TableDef& table, const ast::Rename& statement) {
  const sql::ColumnDef* column = table.find_column(statement.old_name);
  if (is_system_column(statement.old_name)) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot rename system column \"{}\"", statement.old_name));
  }
  if (column == nullptr) throw sql::undefined_column(statement.old_name);
  check_new_column_name(table, statement.new_name);
  const sql::CatalogSnapshot before = draft.catalog();
  sql::TableDef changed = table;  // the hash field keeps its name
  changed.columns[changed.position(column->number)].name = statement.new_name;
  for (sql::CheckDef& check : changed.checks) {
    check.expression_sql = with_renamed_column(check.expression_sql, statement.old_name, statement.new_name);
  }
  for (sql::ColumnDef& other : changed.columns) {
    if (other.generated_sql.empty()) continue;
    other.generated_sql = with_renamed_column(other.generated_sql, statement.old_name, statement.new_name);
  }
  for (sql::ColumnDef& computed : changed.computed) {
    computed.generated_sql = with_renamed_column(computed.generated_sql, statement.old_name, statement.new_name);
  }
  for (sql::IndexDef& index : changed.indexes) {
    for (sql::IndexDef::Part& part : index.parts) {
      if (!part.expression_sql.empty()) part.expression_sql = with_renamed_column(part.expression_sql, statement.old_name, statement.new_name);
    }
    if (!index.predicate_sql.empty()) index.predicate_sql = with_renamed_column(index.predicate_sql, statement.old_name, statement.new_name);
  }
  const sql::Oid oid = table.oid;
  draft.put(std::move(changed));
  rename_in_views(draft, before, oid);
}

/// Calls of a function in defaults, generated columns and checks follow its name.
void rename_in_tables(CatalogDraft& draft, const sql::CatalogSnapshot& original, const sql::FunctionDef& before, const ast::QualifiedName& name) {
  for (const auto& [oid, unused] : original.tables) {
    const TablePtr table = draft.catalog().find_table(oid);
    if (!table) continue;
    sql::TableDef changed = *table;
    bool found = false;
    const auto follow = [&](std::string& text) {
      if (text.empty()) return;
      std::string renamed = with_renamed_function(text, before, name, draft.session().search_path);
      found = found || renamed != text;
      text = std::move(renamed);
    };
    for (sql::ColumnDef& column : changed.columns) {
      follow(column.default_sql);
      follow(column.generated_sql);
    }
    for (sql::CheckDef& check : changed.checks) follow(check.expression_sql);
    if (found) draft.put(std::move(changed));
  }
}

}  // namespace

/// Calls in the texts of views, defaults and checks follow.
void replace_function(CatalogDraft& draft, const sql::FunctionDef& before, sql::FunctionDef function) {
  if (find_same_function(draft, function)) {
    throw SqlError(sqlstate::kDuplicateFunction, fmt::format("{} {} already exists in schema \"{}\"", function.procedure ? "procedure" : "function",
                                                             planner::signature_of(function), function.schema));
  }
  const sql::CatalogSnapshot original = draft.catalog();
  const sql::Oid oid = function.oid;
  const ast::QualifiedName name = {function.schema, function.name};
  draft.put(std::move(function));
  rename_in_views(draft, original, oid);
  rename_in_tables(draft, original, before, name);
}

namespace {

void rename_function(CatalogDraft& draft, const ast::Rename& statement) {
  const auto before = require_function(draft, statement.name, statement.object);
  sql::FunctionDef function = *before;
  function.name = statement.new_name;
  replace_function(draft, *before, std::move(function));
}

void rename_constraint(CatalogDraft& draft, const ast::Rename& statement) {
  const TablePtr table = find_owner(draft, statement);
  if (!table) return;
  const std::string& name = statement.old_name;
  if (!constraint_exists(*table, name)) {
    throw sql::undefined_table_constraint(name, table->name);
  }
  sql::TableDef changed = *table;
  const auto check = std::find_if(changed.checks.begin(), changed.checks.end(), [&](const auto& c) { return c.name == name; });
  const auto foreign = std::ranges::find(changed.foreign_keys, name, &sql::ForeignKeyDef::name);
  if (check == changed.checks.end() && foreign == changed.foreign_keys.end()) {
    ast::RelationName index;
    index.schema = table->schema;
    index.name = name;
    return rename_index(draft, index, statement.new_name);
  }
  if (constraint_exists(*table, statement.new_name)) {
    throw sql::duplicate_constraint(statement.new_name, table->name);
  }
  if (foreign != changed.foreign_keys.end()) {
    foreign->name = statement.new_name;
    return draft.put(std::move(changed));
  }
  const TablePtr parent = table->partition ? draft.catalog().find_table(table->partition->parent) : nullptr;
  if (parent && std::ranges::find(parent->checks, name, &sql::CheckDef::name) != parent->checks.end()) {
    throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("cannot rename inherited constraint \"{}\"", name));
  }
  for (const TablePtr& one : tree_of(draft.catalog(), table)) {
    sql::TableDef renamed = *draft.catalog().find_table(one->oid);
    const auto inherited = std::ranges::find(renamed.checks, name, &sql::CheckDef::name);
    if (inherited == renamed.checks.end()) continue;
    inherited->name = statement.new_name;
    draft.put(std::move(renamed));
  }
}

/// All views once: each names what it reads as the draft calls it.
void rename_in_all_views(CatalogDraft& draft, const sql::CatalogSnapshot& before) {
  for (const auto& [oid, unused] : before.views) {
    sql::ViewDef view = *draft.catalog().find_view(oid);
    planner::rename_in_view(view, before, draft.catalog());
    draft.put(std::move(view));
  }
  for (const auto& [oid, unused] : before.tables) {
    sql::TableDef table = *draft.catalog().find_table(oid);
    if (!table.materialized) continue;
    sql::ViewDef view = *table.materialized;
    planner::rename_in_view(view, before, draft.catalog());
    table.materialized = std::make_shared<const sql::ViewDef>(std::move(view));
    draft.put(std::move(table));
  }
  rename_in_all_policies(draft, before);
}

void rename_schema(CatalogDraft& draft, const ast::Rename& statement) {
  const std::string name = statement.name.names.empty() ? statement.old_name : statement.name.names.back();
  const auto found = draft.catalog().schemas.find(name);
  if (found == draft.catalog().schemas.end()) throw sql::undefined_schema(name);
  check_new_schema_name(draft, statement.new_name);
  sql::SchemaDef schema = found->second;
  const sql::CatalogSnapshot before = draft.catalog();
  draft.drop_schema(name);
  schema.name = statement.new_name;
  draft.put(schema);
  const DependentChanges contents_follow;
  for (const auto& [oid, entry] : before.default_acls) {
    if (entry.schema == schema.oid) draft.put(sql::DefaultAclDef(entry));
  }
  for (const auto& [oid, table] : before.tables) {
    if (table->schema != name) continue;
    sql::TableDef changed = *table;
    changed.schema = statement.new_name;
    draft.put(std::move(changed));
  }
  for (auto [oid, sequence] : before.sequences) {
    if (sequence.schema != name) continue;
    sequence.schema = statement.new_name;
    draft.put(std::move(sequence));
  }
  for (const auto& [oid, view] : before.views) {
    if (view->schema != name) continue;
    sql::ViewDef changed = *view;
    changed.schema = statement.new_name;
    draft.put(std::move(changed));
  }
  for (const auto& [oid, type] : before.types) {
    if (type->schema != name) continue;
    sql::UserType changed = *type;
    changed.schema = statement.new_name;
    draft.put(std::move(changed));
  }
  for (const auto& [oid, function] : before.functions) {
    if (function->schema != name) continue;
    sql::FunctionDef changed = *function;
    changed.schema = statement.new_name;
    draft.put(std::move(changed));
    rename_in_tables(draft, before, *function, {statement.new_name, function->name});
  }
  for (auto [oid, extension] : before.extensions) {
    if (extension.schema != name) continue;
    extension.schema = statement.new_name;
    draft.put(std::move(extension));
  }
  rename_in_all_views(draft, before);
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::Rename& statement) {
  if (statement.object == ast::ObjectType::kRole) co_return co_await rename_role(context, statement);
  if (statement.object == ast::ObjectType::kDatabase) co_return co_await rename_database(context, statement);
  const MakeDraft make = [&](CatalogDraft& draft) {
    switch (statement.object) {
      case ast::ObjectType::kColumn:
        return rename_column(draft, statement);
      case ast::ObjectType::kAttribute:
        return rename_attribute(draft, statement);
      case ast::ObjectType::kTableConstraint:
        return rename_constraint(draft, statement);
      case ast::ObjectType::kPublication:
        return rename_publication(draft, statement);
      case ast::ObjectType::kPolicy:
        return rename_policy(draft, statement);
      case ast::ObjectType::kTrigger:
        return rename_trigger(draft, statement);
      case ast::ObjectType::kSchema:
        return rename_schema(draft, statement);
      case ast::ObjectType::kType:
      case ast::ObjectType::kDomain:
        return rename_type(draft, statement);
      case ast::ObjectType::kDomainConstraint:
        return rename_domain_constraint(draft, statement);
      case ast::ObjectType::kFunction:
      case ast::ObjectType::kProcedure:
      case ast::ObjectType::kRoutine:
        return rename_function(draft, statement);
      case ast::ObjectType::kTable:
      case ast::ObjectType::kIndex:
      case ast::ObjectType::kSequence:
      case ast::ObjectType::kView:
      case ast::ObjectType::kMaterializedView:
      case ast::ObjectType::kForeignTable:
        return rename_relation(draft, statement);
      default:
        throw sql::not_supported("RENAME of this kind of object");
    }
  };
  co_await change_catalog(context, make);
}

namespace {

void check_new_schema(const CatalogDraft& draft, const std::string& schema) {
  if (is_system_schema(schema)) throw sql::not_supported("SET SCHEMA " + schema);
  if (!draft.catalog().schemas.contains(schema)) throw sql::undefined_schema(schema);
}

void move_function(CatalogDraft& draft, const ast::SetSchema& statement) {
  const auto before = require_function(draft, statement.name, statement.object);
  check_new_schema(draft, statement.new_schema);
  if (before->schema == statement.new_schema) return;
  sql::FunctionDef function = *before;
  function.schema = statement.new_schema;
  replace_function(draft, *before, std::move(function));
}

/// Returns true if an unqualified name is found in the session's temporary schema.
bool is_temporary(const CatalogDraft& draft, const ast::RelationName& name) {
  const std::string& own = draft.session().temporary_schema;
  return !own.empty() && (name.schema.empty() || name.schema == "pg_temp" || name.schema == own) &&
         draft.catalog().relation_exists(own, name.name);
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::SetSchema& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    if (is_routine(statement.object)) return move_function(draft, statement);
    if (statement.object == ast::ObjectType::kType || statement.object == ast::ObjectType::kDomain) {
      const sql::UserTypePtr type = require_movable_type(draft, statement);
      check_new_schema(draft, statement.new_schema);
      return move_type(draft, *type, statement.new_schema);
    }
    if (statement.object == ast::ObjectType::kExtension) return move_extension(draft, statement);
    if (!statement.relation) throw sql::not_supported("SET SCHEMA of this kind of object");
    const RelationKind kind = relation_kind(draft, *statement.relation);
    if (kind == RelationKind::kNone) {
      if (!statement.if_exists) throw missing_relation(draft, *statement.relation);
      draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("relation \"{}\" does not exist, skipping", statement.relation->name));
      return;
    }
    check_new_schema(draft, statement.new_schema);
    if (sql::is_temporary_schema(statement.new_schema) ||
        (kind != RelationKind::kSystemTable && is_temporary(draft, *statement.relation))) {
      throw SqlError(sqlstate::kFeatureNotSupported, "cannot move objects into or out of temporary schemas");
    }
    const auto check_target = [&](const std::string& name) {
      if (!draft.catalog().relation_exists(statement.new_schema, name)) return;
      throw SqlError(sqlstate::kDuplicateTable, fmt::format("relation \"{}\" already exists in schema \"{}\"", name, statement.new_schema));
    };
    if (kind == RelationKind::kSequence) {
      sql::SequenceDef sequence =
          *draft.catalog().find_sequence(statement.relation->schema, statement.relation->name, draft.session().search_path);
      if (sequence.owner_table != 0) {
        const TablePtr owner = draft.catalog().find_table(sequence.owner_table);
        throw SqlError(sqlstate::kFeatureNotSupported, "cannot move an owned sequence into another schema")
            .detail(fmt::format("Sequence \"{}\" is linked to table \"{}\".", sequence.name, owner ? owner->name : ""));
      }
      if (sequence.schema == statement.new_schema) return;
      check_target(sequence.name);
      sequence.schema = statement.new_schema;
      return draft.put(std::move(sequence));
    }
    const sql::CatalogSnapshot original = draft.catalog();
    if (kind == RelationKind::kView) {
      sql::ViewDef view = *original.find_view(statement.relation->schema, statement.relation->name, draft.session().search_path);
      if (view.schema == statement.new_schema) return;
      check_target(view.name);
      view.schema = statement.new_schema;
      const sql::Oid oid = view.oid;
      draft.put(std::move(view));
      return rename_in_views(draft, original, oid);
    }
    sql::TableDef table = *require_table(draft, *statement.relation);
    if (table.schema == statement.new_schema) return;
    check_target(table.name);
    for (const sql::IndexDef& index : table.indexes) {
      if (!index.is_hidden()) check_target(index.name);
    }
    const sql::CatalogSnapshot before = draft.catalog();
    for (auto [oid, sequence] : before.sequences) {
      if (sequence.owner_table != table.oid) continue;
      check_target(sequence.name);
      sequence.schema = statement.new_schema;
      draft.put(std::move(sequence));
    }
    table.schema = statement.new_schema;
    const sql::Oid oid = table.oid;
    draft.put(std::move(table));
    rename_in_views(draft, original, oid);
  };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
