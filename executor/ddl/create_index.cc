#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/this_coro.hpp>
#include <exception>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/column_definition.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/foreign_options.h"
#include "executor/ddl/generated_names.h"
#include "executor/ddl/index_build.h"
#include "executor/ddl/index_expressions.h"
#include "executor/ddl/index_part.h"
#include "executor/ddl/mapped_table.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/partition.h"
#include "executor/ddl/generalized_index.h"
#include "executor/ddl/storage_parameters.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/table_rewrite.h"
#include "executor/ddl/transaction_rewrite.h"
#include "executor/runtime/failure.h"
#include "executor/storage/table_walk.h"
#include "executor/transaction/transaction_catalog.h"
#include "parser/deparse.h"
#include "parser/option_value.h"
#include "sql/catalog/index_text.h"
#include "sql/catalog/counterparts.h"
#include "sql/catalog/spread_table.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/compare.h"
#include "sql/types/text_order.h"
#include "sql/value_errors.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

sql::IndexMethod index_method(const ast::CreateIndex& statement) {
  const std::string& name = statement.access_method;
  if (name.empty() || name == "btree") return sql::IndexMethod::kBtree;
  if (name == "hash") return sql::IndexMethod::kHash;
  if (name == "zset") return sql::IndexMethod::kZset;
  if (const std::optional<sql::IndexMethod> generalized = generalized_method(name)) return *generalized;
  constexpr std::array<std::string_view, 3> kOthers{"lookup", "list", "set"};
  if (std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end()) throw sql::not_supported("index access method " + name);
  throw sql::undefined_access_method(name);
}

/// Throws 0A000 if an index USING zset over several columns cannot be kept (sql::Structure::Kind::kValueZsets).
void check_value_zsets(const sql::IndexDef& index, const sql::TableDef& table) {
  if (!index.predicate_sql.empty()) throw sql::not_supported("a partial index USING zset over several columns");
  for (const sql::IndexDef::Part& part : index.parts) {
    if (!part.expression_sql.empty()) throw sql::not_supported("an index USING zset over several columns with an expression");
  }
  const sql::ColumnDef& last = *table.find_column(index.parts.back().column);
  if (sql::has_ordered_form(last.type)) return;
  throw sql::not_supported(fmt::format("an index USING zset with last column \"{}\", whose type has no order in Redis,", last.name));
}

/// The definition, without oid, name and state; how its columns, and then the included ones, are called.
sql::IndexDef read_index(const CatalogDraft& draft, const ast::CreateIndex& statement, const sql::TableDef& table,
                         std::vector<std::string>& names) {
  sql::IndexDef index;
  index.method = index_method(statement);
  const std::string method = statement.access_method.empty() ? "btree" : statement.access_method;
  index.unique = statement.unique;
  index.nulls_not_distinct = statement.nulls_not_distinct;
  if (index.unique && index.method != sql::IndexMethod::kBtree) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("access method \"{}\" does not support unique indexes", method));
  }
  if (generalized_method(method)) check_generalized(statement);
  if (sql::is_remembered(index.method)) index.storage = sql::RememberedIndex();
  if (statement.elements.size() > 32) throw sql::too_many_index_columns();
  if (statement.where) index.predicate_sql = read_index_expression(draft, table, *statement.where, true).text;
  if (!index.predicate_sql.empty() && index.nulls_not_distinct) throw sql::not_supported("a partial index with NULLS NOT DISTINCT");
  check_storage_parameters(parameter_owner(index.method), statement.options);
  check_tablespace(statement.tablespace);
  for (const ast::IndexElement& element : statement.elements) {
    IndexPart part = read_index_part(draft, element, table, method);
    index.parts.push_back(std::move(part.part));
    names.push_back(std::move(part.name));
  }
  if (index.method == sql::IndexMethod::kZset && index.parts.size() > 1) check_value_zsets(index, table);
  if (!statement.including.empty() && index.method == sql::IndexMethod::kHash) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("access method \"{}\" does not support included columns", method));
  }
  // A column twice adds nothing, but PostgreSQL allows it.
  for (const ast::IndexElement& element : statement.including) {
    if (element.expression) throw SqlError(sqlstate::kFeatureNotSupported, "expressions are not supported in included columns");
    read_index_part(draft, element, table, "btree");
    index.included.push_back(table.find_column(element.column)->number);
    names.push_back(element.column);
  }
  names = sql::distinct_column_names(names);
  set_index_options(index, statement.options, false);
  return index;
}

/// Writers that get in the way of a rewrite of all rows, before the statement fails.
constexpr int kRewriteAttempts = 5;

/// CREATE INDEX for one table: the one that is written, or a partition of it, whose index gets a name of its own.
struct IndexStatement {
  const ast::CreateIndex& written;
  ast::RelationName relation = written.relation;
  std::string name = written.name;
  bool if_not_exists = written.if_not_exists;
};

struct NewIndex {
  sql::Oid table = 0, index = 0;
  bool needs_build = false;
};

/// nullopt: it exists, which was allowed.
std::optional<NewIndex> make_index(CatalogDraft& draft, const IndexStatement& statement, const TablePtr& known,
                                   const TableState& state) {
  switch (relation_kind(draft, statement.relation)) {
    case RelationKind::kIndex:
      throw SqlError(sqlstate::kWrongObjectType, fmt::format("\"{}\" is an index", statement.relation.name));
    case RelationKind::kSequence:
      throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot create index on relation \"{}\"", statement.relation.name))
          .detail("This operation is not supported for sequences.");
    case RelationKind::kView:
      throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot create index on relation \"{}\"", statement.relation.name))
          .detail("This operation is not supported for views.");
    default:
      break;
  }
  const TablePtr table = require_table(draft, statement.relation);
  std::vector<std::string> names;
  sql::IndexDef index = table->is_mapped() ? declare_structure(statement.written, *table) : read_index(draft, statement.written, *table, names);
  if (table->is_mapped()) {
    for (const sql::IndexDef::Part& part : index.parts) names.push_back(table->find_column(part.column)->name);
  }
  if (!statement.name.empty() && is_there_already(draft, table->schema, statement.name, statement.if_not_exists)) return std::nullopt;
  index.oid = draft.new_oid();
  index.name = statement.name;
  if (index.name.empty()) {
    index.name = choose_name(table->name, joined_column_names(names), "idx",
                             [&](std::string_view name) { return draft.catalog().relation_exists(table->schema, name); });
  }
  const bool keeps_nothing = !std::holds_alternative<sql::ManagedIndex>(index.storage);
  if (index.is_remembered()) {
    draft.notice(sqlstate::kFeatureNotSupported, fmt::format("index \"{}\" keeps nothing in Redis: no query uses an index of access method {}",
                                                             index.name, statement.written.access_method));
  }
  const bool is_empty = keeps_nothing || (known && known->oid == table->oid && state.is_empty);
  // The contents of a foreign table's structure are compared with the rows (structure_state.h).
  index.state = is_empty && !table->is_mapped() ? sql::IndexState::kReady : sql::IndexState::kBuilding;
  if (is_empty && !keeps_nothing) {
    draft.require_unchanged(state);
  } else if (!is_empty) {
    draft.begin_build(index.oid);
  }
  const NewIndex made{table->oid, index.oid, !is_empty};
  sql::TableDef changed = *table;
  add_computed_columns(changed, index, names);
  check_nulls_of_unique(changed, index);
  changed.indexes.push_back(std::move(index));
  if (changed.is_mapped()) check_reach(changed);
  draft.put(std::move(changed));
  return made;
}

asio::awaitable<void> build(DdlContext& context, sql::Oid table, sql::Oid index) {
  const std::vector<sql::Oid> indexes{index};
  co_await run_or_undo(build_indexes(context, table, indexes), [&] { return drop_indexes(context, table, indexes); });
}

/// In a transaction a unique index of a table with rows comes with a new place for them: rows that do not fit are told at once.
/// False: there is nothing to be built.
asio::awaitable<bool> build_in_transaction(DdlContext& context, const IndexStatement& statement, TablePtr table) {
  LoadedCatalog loaded = co_await load_definitions(context);
  CatalogDraft trial(loaded, context.session);
  const TableState empty{.is_empty = true, .change_counters = {}};
  if (!make_index(trial, statement, table, empty)) co_return false;
  if (!context.lock_table) throw sql::not_supported("CREATE UNIQUE INDEX of a table with rows within another statement of a transaction");
  co_await context.lock_table(*table, TableLock::kShare);
  TableState state = co_await table_state(context.redis, *table);
  state.is_empty = true;  // as far as the new place goes
  const ChangeDefinition change = [&](CatalogDraft& draft) {
    make_index(draft, statement, draft.catalog().find_table(table->oid), state);
    return std::vector<ColumnRewrite>();
  };
  co_await rewrite_in_transaction(context, table->oid, "CREATE INDEX", change);
  co_return true;
}

/// Makes a unique index whose entries lie in other buckets than their rows (sql/catalog/spread_table.h): they come with the rows, which are
/// written anew. Returns false if the index is another one.
asio::awaitable<bool> make_by_rewrite(DdlContext& context, const IndexStatement& statement, TablePtr table) {
  const TableState empty{.is_empty = true, .change_counters = {}};
  const LoadedCatalog loaded = co_await load_definitions(context);
  CatalogDraft trial(loaded, context.session);
  const std::optional<NewIndex> made = make_index(trial, statement, table, empty);
  if (!made) co_return true;
  const TablePtr changed = trial.catalog().find_table(table->oid);
  if (!sql::lies_by_value(*changed, changed->indexes.back())) co_return false;
  const ChangeDefinition change = [&](CatalogDraft& draft) {
    make_index(draft, statement, draft.catalog().find_table(table->oid), empty);
    return std::vector<ColumnRewrite>();
  };
  for (int attempt = 0; attempt < kRewriteAttempts; ++attempt) {
    if (co_await try_rewrite_table(context, table, change)) co_return true;
    const LoadedCatalog now = co_await load_definitions(context);
    table = now.snapshot->find_table(table->oid);
    if (!table) break;
  }
  throw SqlError(sqlstate::kSerializationFailure, fmt::format("could not create index on \"{}\" due to concurrent writes", statement.relation.name));
}

}  // namespace

namespace {

asio::awaitable<void> make_for(DdlContext& context, const IndexStatement& statement);

/// The indexes of the partitions come first, then that of the table, which keeps nothing itself.
asio::awaitable<void> make_partitioned_index(DdlContext& context, const IndexStatement& statement, TablePtr table) {
  if (statement.written.concurrently) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot create index on partitioned table \"{}\" concurrently", table->name));
  }
  const TableState empty{.is_empty = true, .change_counters = {}};
  const LoadedCatalog loaded = co_await load_definitions(context);
  CatalogDraft trial(loaded, context.session);
  if (!make_index(trial, statement, table, empty)) co_return;
  const sql::IndexDef wanted = trial.catalog().find_table(table->oid)->indexes.back();
  if (wanted.unique) {
    std::vector<std::int16_t> columns;
    for (const sql::IndexDef::Part& part : wanted.parts) columns.push_back(part.column);
    check_key_of_partitioned(*table, columns, "UNIQUE");
  }
  const std::vector<TablePtr> partitions = loaded.snapshot->partitions_of(table->oid);
  const bool is_alone = statement.written.only && !partitions.empty();
  std::vector<sql::Oid> changed;
  const auto work = [&]() -> asio::awaitable<void> {
    for (const TablePtr& partition : partitions) {
      if (is_alone || sql::index_like(*partition, wanted) != nullptr) continue;
      ast::RelationName relation = statement.relation;
      relation.schema = partition->schema;
      relation.name = partition->name;
      const IndexStatement below{statement.written, std::move(relation), "", false};
      co_await make_for(context, below);
      changed.push_back(partition->oid);
    }
    const MakeDraft make = [&](CatalogDraft& draft) {
      const TablePtr now = require_table(draft, statement.relation);
      if (!make_index(draft, statement, now, empty)) return;
      sql::TableDef made = *draft.catalog().find_table(now->oid);
      if (is_alone) made.indexes.back().state = sql::IndexState::kBuilding;  // until the partitions have it, too (attach_index)
      draft.put(std::move(made));
    };
    co_await change_catalog(context, make);
  };
  const auto undo = [&]() -> asio::awaitable<void> {
    const LoadedCatalog now = co_await load_definitions(context);
    for (const sql::Oid oid : changed) {
      const TablePtr partition = now.snapshot->find_table(oid);
      const sql::IndexDef* made = partition ? sql::index_like(*partition, wanted) : nullptr;
      if (made == nullptr) continue;
      const std::vector<sql::Oid> indexes{made->oid};
      co_await drop_indexes(context, oid, indexes);
    }
  };
  if (context.session.transaction) co_return co_await work();  // it fails as a whole
  co_await run_or_undo(work(), undo);
}

asio::awaitable<void> make_for(DdlContext& context, const IndexStatement& statement) {
  std::optional<NewIndex> made;
  for (int attempt = 0;; ++attempt) {
    // The definition depends on whether there are rows; the commit checks that no session has written since.
    LoadedCatalog loaded = co_await load_definitions(context);
    const CatalogDraft names(loaded, context.session);
    TablePtr known;
    TableState state;
    if (relation_kind(names, statement.relation) == RelationKind::kTable) {
      known = find_table(names, statement.relation);
      if (known->partition_key) co_return co_await make_partitioned_index(context, statement, known);
      co_await finish_removals_of(context.redis, loaded.removals, known);
      state = co_await table_state(context.redis, *known);
    }
    if (attempt > 2) state.is_empty = false;  // a busy table: build
    if (context.session.transaction && statement.written.unique && known && !known->is_mapped() && !state.is_empty) {
      if (co_await build_in_transaction(context, statement, known)) co_return;
    }
    if (!context.session.transaction && statement.written.unique && known && !known->parts.empty() && !state.is_empty) {
      if (co_await make_by_rewrite(context, statement, known)) co_return;
    }
    const MakeDraft make = [&](CatalogDraft& draft) { made = make_index(draft, statement, known, state); };
    const bool is_committed = co_await try_change_catalog(context, make);
    if (is_committed) break;
  }
  if (!made || !made->needs_build) co_return;
  if (context.session.transaction) {
    // Filled when the transaction has committed: the rows are not its own before.
    TransactionCatalog& catalog = co_await transaction_catalog(context);
    catalog.add_sequel([table = made->table, index = made->index](DdlContext& later) { return build(later, table, index); });
    co_return;
  }
  co_await build(context, made->table, made->index);
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateIndex& statement) {
  const IndexStatement whole{.written = statement};
  co_await make_for(context, whole);
}

}  // namespace redquel::executor
