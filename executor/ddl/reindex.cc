#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/index_build.h"
#include "executor/ddl/object_lookup.h"
#include "executor/roles/access.h"
#include "executor/storage/index_repair.h"
#include "executor/transaction/transaction.h"
#include "parser/option_value.h"
#include "sql/catalog/member_form.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// Says whether CONCURRENTLY is on. 42601 for options that REINDEX does not have.
bool read_reindex_options(const ast::Reindex& statement) {
  bool is_concurrent = false;
  for (const ast::Option& option : statement.options) {
    if (option.name == "tablespace") continue;
    if (option.name != "concurrently" && option.name != "verbose") {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized REINDEX option \"{}\"", option.name)).at(option.offset);
    }
    const std::optional<bool> flag = parser::option_flag(option);
    if (!flag) throw SqlError(sqlstate::kSyntaxError, fmt::format("{} requires a Boolean value", option.name));
    if (option.name == "concurrently") is_concurrent = *flag;
  }
  return is_concurrent;
}

void refuse_in_transaction(const DdlContext& context, const ast::Reindex& statement, bool is_concurrent) {
  if (!context.session.transaction) return;
  const auto refuse = [](std::string_view what) {
    throw SqlError(sqlstate::kActiveTransaction, fmt::format("{} cannot run inside a transaction block", what));
  };
  if (statement.kind == ast::ReindexKind::kSchema) refuse("REINDEX SCHEMA");
  if (statement.kind == ast::ReindexKind::kDatabase) refuse("REINDEX DATABASE");
  if (statement.kind == ast::ReindexKind::kSystem) refuse("REINDEX SYSTEM");
  if (is_concurrent) refuse("REINDEX CONCURRENTLY");
}

SqlError system_catalogs_concurrently() { return SqlError(sqlstate::kFeatureNotSupported, "cannot reindex system catalogs concurrently"); }

/// The table whose entries are rebuilt for REINDEX INDEX and TABLE; nullptr: system tables have none.
TablePtr find_one(const CatalogDraft& draft, const ast::Reindex& statement, bool is_concurrent) {
  const ast::RelationName& name = *statement.relation;
  const RelationKind kind = relation_kind(draft, name);
  if (kind == RelationKind::kNone) throw missing_relation(draft, name);
  const bool is_table = statement.kind == ast::ReindexKind::kTable;
  if (kind == RelationKind::kSystemTable && is_table != is_system_index(name.name)) {
    if (is_concurrent) throw system_catalogs_concurrently();
    require_owner(draft.session(), sql::owner_reference(sql::kPostgresRole), is_table ? "table" : "index", name.name);
    return nullptr;
  }
  if (is_table) {
    if (kind != RelationKind::kTable) throw sql::wrong_object_kind(name.name, "a table or materialized view");
    TablePtr table = find_table(draft, name);
    if (table) require_owner(draft.session(), table->owner, table->materialized ? "materialized view" : "table", name.name);
    return table;
  }
  if (kind != RelationKind::kIndex) throw sql::wrong_object_kind(name.name, "an index");
  const auto& path = draft.session().search_path;
  TablePtr table = draft.catalog().find_primary_key(name.schema, name.name, path);
  if (!table) table = draft.catalog().find_index(name.schema, name.name, path).first;
  if (table) require_owner(draft.session(), table->owner, "index", name.name);
  return table;
}

std::vector<TablePtr> find_tables(const CatalogDraft& draft, const ast::Reindex& statement, bool is_concurrent) {
  std::vector<TablePtr> tables;
  if (statement.relation) {
    if (TablePtr table = find_one(draft, statement, is_concurrent)) tables.push_back(std::move(table));
    return tables;
  }
  if (statement.kind == ast::ReindexKind::kSystem && is_concurrent) throw system_catalogs_concurrently();
  const bool of_schema = statement.kind == ast::ReindexKind::kSchema;
  if (of_schema && !is_system_schema(statement.name) && !draft.catalog().schemas.contains(statement.name)) {
    throw sql::undefined_schema(statement.name);
  }
  if (!of_schema && !statement.name.empty() && statement.name != draft.session().database) {
    throw SqlError(sqlstate::kFeatureNotSupported, "can only reindex the currently open database");
  }
  if (statement.kind == ast::ReindexKind::kSystem) {
    require_database_owner(*sql::known_roles(), draft.session(), draft.session().database);
    return tables;  // system tables are computed
  }
  if (of_schema) {
    const auto schema = draft.catalog().schemas.find(statement.name);
    const std::string& owner = schema != draft.catalog().schemas.end() ? schema->second.owner : sql::owner_reference(sql::kPostgresRole);
    require_owner(draft.session(), owner, "schema", statement.name);
  } else {
    require_database_owner(*sql::known_roles(), draft.session(), draft.session().database);
  }
  for (const auto& [oid, table] : draft.catalog().tables) {
    if (!of_schema || table->schema == statement.name) tables.push_back(table);
  }
  return tables;
}

/// PostgreSQL counts the index of the table where long values lie, too.
bool has_indexes(const sql::TableDef& table) {
  const auto may_be_long = [](const sql::ColumnDef& column) { return sql::type_info(column.type.oid).length == -1; };
  return !table.primary_key.empty() || std::ranges::any_of(table.columns, may_be_long) ||
         std::ranges::any_of(table.indexes, [](const sql::IndexDef& index) { return !index.is_hidden(); });
}

bool may_rebuild(const sql::TableDef& table, const sql::IndexDef& index) {
  if (index.rebuilding) return true;
  if (index.short_members || index.state != sql::IndexState::kReady || index.unique || table.is_mapped()) return false;
  std::vector<std::int16_t> columns;
  for (const sql::IndexDef::Part& part : index.parts) columns.push_back(part.column);
  // Foreign keys look at their sets at any time.
  const auto is_of_foreign_key = [&](const sql::ForeignKeyDef& key) { return key.columns == columns; };
  if (std::ranges::any_of(table.foreign_keys, is_of_foreign_key)) return false;
  sql::TableDef changed = table;
  for (sql::IndexDef& other : changed.indexes) other.short_members = true;
  return sql::omitted_parts(changed, columns).any();
}

/// Repairs the indexes of one table.
asio::awaitable<void> repair(DdlContext& context, sql::CatalogPtr catalog, TablePtr table) {
  sql::SessionSettings settings = context.session.settings;
  TakeWarning warn = [&](const SqlError& warning) {
    if (context.session.notice) context.session.notice("WARNING", warning);
  };
  co_await repair_indexes(context.bulk, std::move(catalog), std::move(table), std::move(settings), std::move(warn));
}

/// Gives short members to indexes of an older stored format. They are not read until they are complete; writers keep them in the new form
/// from the beginning. If the process is killed, the next REINDEX goes on.
asio::awaitable<void> shorten_members(DdlContext& context, sql::Oid oid, std::string version) {
  std::vector<sql::Oid> rebuilt;
  const MakeDraft make = [&](CatalogDraft& draft) {
    rebuilt.clear();
    const TablePtr table = draft.catalog().find_table(oid);
    if (!table || table->version != version) return;
    sql::TableDef changed = *table;
    for (sql::IndexDef& index : changed.indexes) {
      if (!may_rebuild(*table, index)) continue;
      index.short_members = index.rebuilding = true;
      index.state = sql::IndexState::kBuilding;
      rebuilt.push_back(index.oid);
    }
    if (!rebuilt.empty()) draft.put(std::move(changed));
  };
  co_await change_catalog(context, make);
  if (rebuilt.empty()) co_return;
  const LoadedCatalog loaded = co_await load_committed(context);
  if (const TablePtr table = loaded.snapshot->find_table(oid)) {
    co_await repair(context, loaded.snapshot, table);
  }
  co_await build_indexes(context, oid, std::move(rebuilt));
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::Reindex& statement) {
  const bool is_concurrent = read_reindex_options(statement);
  refuse_in_transaction(context, statement, is_concurrent);
  LoadedCatalog loaded = co_await load_definitions(context);
  const CatalogDraft draft(loaded, context.session);
  const std::vector<TablePtr> tables = find_tables(draft, statement, is_concurrent);
  const bool of_one_table = statement.kind == ast::ReindexKind::kTable && tables.size() == 1;
  if (of_one_table && !has_indexes(*tables[0]) && context.session.notice) {
    context.session.notice(
        "NOTICE", SqlError(sqlstate::kSuccessfulCompletion, fmt::format("table \"{}\" has no indexes {}", tables[0]->name,
                                                                        is_concurrent ? "that can be reindexed concurrently" : "to reindex")));
  }
  for (const TablePtr& table : tables) {
    if (table->is_mapped() && context.session.transaction) {
      throw SqlError(sqlstate::kActiveTransaction, "REINDEX of a foreign table cannot run inside a transaction block");
    }
    if (table->is_mapped()) continue;  // structure_state.h
    const auto is_rebuilt = [&](const sql::IndexDef& index) { return may_rebuild(*table, index); };
    if (!context.session.transaction && std::ranges::any_of(table->indexes, is_rebuilt)) {
      co_await shorten_members(context, table->oid, table->version);
      continue;
    }
    co_await repair(context, loaded.snapshot, table);
  }
}

}  // namespace redquel::executor
