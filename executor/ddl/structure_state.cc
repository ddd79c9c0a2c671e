#include "executor/ddl/catalog_change.h"
#include "executor/ddl/structure_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "executor/context/execution_context.h"
#include "executor/tables/structure_check.h"
#include "sql/catalog/mapping.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// Definitions may change meanwhile so often; then something is wrong.
constexpr int kReadAttempts = 20;

using Indexes = std::set<sql::Oid>;

StructureCheck check_of(const StructureContext& context, const LoadedCatalog& loaded, const TablePtr& table, Indexes indexes, bool strays) {
  return {context.ddl.redis, context.access, context.database, loaded.snapshot, table, std::move(indexes), strays, context.ddl.session.show};
}

Indexes unbelieved(const sql::TableDef& table) {
  Indexes indexes;
  for (const sql::IndexDef& index : table.indexes) {
    if (!sql::is_believed(index)) indexes.insert(index.oid);
  }
  return indexes;
}

/// The state of structures after they were compared with the rows of this definition of their table. False: it has changed since.
asio::awaitable<bool> set_states(const StructureContext& context, TablePtr compared, std::map<sql::Oid, sql::IndexState> states) {
  bool is_same = false;
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr now = draft.catalog().find_table(compared->oid);
    is_same = now && now->version == compared->version;
    if (!is_same) return;
    sql::TableDef changed = *now;
    bool is_changed = false;
    for (sql::IndexDef& index : changed.indexes) {
      const auto state = states.find(index.oid);
      if (state == states.end() || index.state == state->second) continue;
      index.state = state->second;
      is_changed = true;
    }
    if (is_changed) draft.put(std::move(changed));
  };
  co_await change_catalog(context.ddl, make);
  co_return is_same;
}

void warn(const StructureContext& context, const std::string& message, const std::string& hint) {
  if (context.ddl.session.notice) context.ddl.session.notice("WARNING", SqlError(sqlstate::kWarning, message).hint(hint));
}

void warn_of(const StructureContext& context, const sql::TableDef& table, const sql::IndexDef& index, const std::string& reason) {
  const bool is_list = index.method == sql::IndexMethod::kList;
  warn(context, fmt::format("structure \"{}\" of foreign table \"{}\" is not used by queries: {}", index.name, table.name, reason),
       is_list ? "REINDEX compares it with the rows again." : fmt::format("REINDEX INDEX {} makes its entries match the rows.", index.name));
}

/// Fills a structure that has no key yet. Why it could not be filled; empty: it is.
asio::awaitable<std::string> fill(StructureCheck check) {
  std::string reason;
  try {
    co_await mend_structures(std::move(check));
  } catch (const SqlError& error) {
    reason = error.message();
  }
  co_return reason;
}

/// Takes one look at the structures; false: definitions changed meanwhile.
asio::awaitable<bool> settle_once(const StructureContext& context, sql::Oid oid) {
  const LoadedCatalog loaded = co_await load_committed(context.ddl);
  const TablePtr table = loaded.snapshot->find_table(oid);
  if (!table || unbelieved(*table).empty()) co_return true;
  const StructureReport report = co_await compare_structures(check_of(context, loaded, table, unbelieved(*table), false));
  std::map<sql::Oid, sql::IndexState> states;
  std::map<sql::Oid, std::string> reasons;
  for (const sql::IndexDef& index : table->indexes) {
    if (sql::is_believed(index)) continue;
    const auto missing = report.missing.find(index.oid);
    std::string reason;
    if (missing != report.missing.end()) {
      const bool is_list = index.method == sql::IndexMethod::kList;
      Indexes one;
      one.insert(index.oid);
      if (index.mapped().maintained && !is_list && report.absent.contains(index.oid)) reason = co_await fill(check_of(context, loaded, table, std::move(one), false));
      else if (is_list) reason = "it lacks rows that are newer than others in it";
      else reason = fmt::format("it lacks {} {}", missing->second, missing->second == 1 ? "row" : "rows");
    }
    if (reason.empty()) states[index.oid] = sql::IndexState::kReady;
    else reasons[index.oid] = reason;
  }
  if (!co_await set_states(context, table, std::move(states))) co_return false;
  for (const sql::IndexDef& index : table->indexes) {
    if (reasons.contains(index.oid)) warn_of(context, *table, index, reasons.at(index.oid));
  }
  co_return true;
}

asio::awaitable<bool> rebuild_once(const StructureContext& context, sql::Oid oid, std::optional<sql::Oid> only) {
  const LoadedCatalog loaded = co_await load_committed(context.ddl);
  const TablePtr table = loaded.snapshot->find_table(oid);
  if (!table) co_return true;
  Indexes indexes;
  for (const sql::IndexDef& index : table->indexes) {
    if (!only || index.oid == *only) indexes.insert(index.oid);
  }
  if (indexes.empty()) co_return true;
  const StructureReport report = co_await mend_structures(check_of(context, loaded, table, indexes, true));
  std::map<sql::Oid, sql::IndexState> states;
  for (const sql::Oid index : indexes) states[index] = report.missing.contains(index) ? sql::IndexState::kBuilding : sql::IndexState::kReady;
  if (!co_await set_states(context, table, states)) co_return false;
  for (const sql::IndexDef& index : table->indexes) {
    if (report.missing.contains(index.oid)) warn_of(context, *table, index, "it lacks rows that are newer than others in it");
  }
  co_return true;
}

/// Runs `once` until no definition changes meanwhile.
asio::awaitable<void> repeat(std::function<asio::awaitable<bool>()> once) {
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    bool is_done = false;
    try {
      is_done = co_await once();
    } catch (const StaleCatalog&) {
      is_done = false;
    }
    if (is_done) co_return;
  }
  throw SqlError(sqlstate::kSerializationFailure,
                 "could not compare the structures of a foreign table with its rows due to concurrent changes of definitions");
}

asio::awaitable<void> settle(StructureContext context, sql::Oid table) {
  const std::function<asio::awaitable<bool>()> once = [&] { return settle_once(context, table); };
  std::optional<SqlError> failure;
  try {
    co_await repeat(once);
  } catch (const SqlError& error) {
    failure = error;
  }
  if (!failure) co_return;
  // The definitions are committed: the structures stay unused.
  const bool only_looks = context.ddl.redis.own_keyspace() != nullptr;
  warn(context, fmt::format("structures of a foreign table are not used by queries yet: {}", failure->message()),
       only_looks ? "DROP INDEX and CREATE INDEX in a session compare them with the rows." : "REINDEX TABLE compares them with the rows again.");
}

asio::awaitable<void> rebuild(StructureContext context, sql::Oid table, std::optional<sql::Oid> index) {
  const std::function<asio::awaitable<bool>()> once = [&] { return rebuild_once(context, table, index); };
  co_await repeat(once);
}

/// A foreign table and, where the name is an index's, the index.
struct Named {
  TablePtr table;
  std::optional<sql::Oid> index;
};

asio::awaitable<Named> find_named(const StructureContext& context, const ast::RelationName& name) {
  const LoadedCatalog loaded = co_await load_committed(context.ddl);
  const auto& path = context.ddl.session.search_path;
  Named named{loaded.snapshot->find_table(name.schema, name.name, path), {}};
  if (const auto [owner, index] = loaded.snapshot->find_index(name.schema, name.name, path); !named.table && index != nullptr) named = {owner, index->oid};
  if (named.table && !named.table->is_mapped()) named.table = nullptr;
  co_return named;
}

}  // namespace

asio::awaitable<void> settle_structures(StructureContext context, const ast::Statement& statement) {
  const auto* create = std::get_if<ast::CreateIndex>(&statement.node);
  const auto* alter = std::get_if<ast::AlterTable>(&statement.node);
  const auto* reindex = std::get_if<ast::Reindex>(&statement.node);
  const ast::RelationName* name = create ? &create->relation : alter ? &alter->relation : reindex && reindex->relation ? &*reindex->relation : nullptr;
  if (name == nullptr) co_return;
  const Named named = co_await find_named(context, *name);
  if (!named.table) co_return;
  if (reindex) co_await rebuild(context, named.table->oid, named.index);
  else co_await settle(context, named.table->oid);
}

asio::awaitable<void> settle_structures(StructureContext context, std::set<sql::Oid> tables) {
  const LoadedCatalog loaded = co_await load_committed(context.ddl);
  for (const sql::Oid oid : tables) {
    const TablePtr table = loaded.snapshot->find_table(oid);
    if (table && table->is_mapped()) co_await settle(context, oid);
  }
}

}  // namespace redquel::executor
