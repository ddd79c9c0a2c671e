#include "executor/transaction/set_constraints.h"

#include <fmt/format.h>

#include <set>

#include "executor/transaction/commit.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// The deferrable constraints that a name means: those of the first schema of the path that has one of that name.
std::set<sql::Oid> named_constraints(const sql::CatalogSnapshot& catalog, const ast::RelationName& name,
                                     const std::vector<std::string>& search_path) {
  std::vector<std::string> schemas = search_path;
  if (!name.schema.empty()) {
    if (!catalog.schemas.contains(name.schema)) throw sql::undefined_schema(name.schema);
    schemas = {name.schema};
  }
  for (const std::string& schema : schemas) {
    std::set<sql::Oid> found;
    bool is_there = false, is_deferrable = true;
    const auto meet = [&](const std::string& constraint, sql::Oid oid, bool deferrable) {
      if (constraint != name.name) return;
      is_there = true;
      is_deferrable = is_deferrable && deferrable;
      found.insert(oid);
    };
    for (const auto& [oid, table] : catalog.tables) {
      if (table->schema != schema) continue;
      if (table->primary_key_index.oid != 0) meet(table->primary_key_index.name, table->primary_key_index.oid, false);
      for (const sql::IndexDef& index : table->indexes) {
        if (index.constraint) meet(index.name, index.oid, index.constraint->deferrable);
      }
      for (const sql::CheckDef& check : table->checks) meet(check.name, 0, false);
      for (const sql::ForeignKeyDef& key : table->foreign_keys) meet(key.name, key.oid, key.deferrable);
    }
    if (!is_there) continue;
    if (!is_deferrable) throw SqlError(sqlstate::kWrongObjectType, fmt::format("constraint \"{}\" is not deferrable", name.name));
    return found;
  }
  const std::string shown = name.schema.empty() ? name.name : name.schema + "." + name.name;
  throw SqlError(sqlstate::kUndefinedObject, fmt::format("constraint \"{}\" does not exist", shown));
}

}  // namespace

asio::awaitable<void> set_constraints(RedisClient& redis, const ast::SetConstraints& statement, SessionState& session, sql::CatalogPtr definitions) {
  const std::shared_ptr<Transaction> transaction = session.transaction;
  std::set<sql::Oid> constraints;
  for (const ast::RelationName& name : statement.constraints) {
    constraints.merge(named_constraints(*definitions, name, session.search_path));
  }
  if (!transaction) co_return;
  ConstraintTimes times = transaction->constraint_times();
  if (statement.constraints.empty()) times.set_all(statement.deferred);
  for (sql::Oid constraint : constraints) times.set(constraint, statement.deferred);
  if (!statement.deferred) {
    WriteOptions options;
    options.max_rows = SIZE_MAX;
    options.settings = session.settings;
    // Those that are not deferred any more.
    const auto still_waits = [&](const sql::ForeignKeyDef& key) { return times.is_deferred(key); };
    options.foreign_keys = std::make_shared<ForeignKeyChecks>(definitions, session.settings, still_waits);
    options.defers_unique = [&times](const sql::TableDef& table, std::span<const std::int16_t> columns) { return times.is_deferred(table, columns); };
    co_await check_changes(redis, *transaction, std::move(options));
  }
  transaction->constraint_times() = times;
}

}  // namespace redquel::executor
