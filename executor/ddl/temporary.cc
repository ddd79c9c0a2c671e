#include "executor/ddl/temporary.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/dependents.h"
#include "executor/storage/catalog_store.h"
#include "executor/transaction/transaction.h"
#include "planner/tree/node_parts.h"
#include "sql/catalog/spread_table.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

constexpr std::string_view kAlias = "pg_temp";

/// Returns the part of the name that identifies the owner of the schema.
std::string process_of(std::string_view schema) {
  schema.remove_prefix(sql::kTemporarySchemaPrefix.size());
  return std::string(schema.substr(0, schema.find('_')));
}

/// Drops what the schema holds, and what depends on it in other schemas.
void drop_contents(CatalogDraft& draft, const std::string& schema) {
  const auto definition = draft.catalog().schemas.find(schema);
  if (definition == draft.catalog().schemas.end()) return;
  drop_dependents(draft, {{DropObject::Kind::kSchema, definition->second.oid}}, /*cascade=*/true);
  draft.take_notices();
}

void drop_schema(CatalogDraft& draft, const std::string& schema) {
  drop_contents(draft, schema);
  if (draft.catalog().schemas.contains(schema)) draft.drop_schema(schema);
}

}  // namespace

asio::awaitable<void> TemporarySchemas::open(DdlContext& context) {
  SessionState& session = context.session;
  if (!session.temporary_schema.empty()) co_return;
  // It moves the definitions, which a transaction that has some of its own could not bear.
  const bool has_own = session.transaction && session.transaction->catalog();
  if (!has_own) co_await drop_abandoned(context);
  std::string token = co_await lease_.take_token();
  std::ranges::replace(token, '.', '_');
  session.temporary_schema = std::string(sql::kTemporarySchemaPrefix) + token;
  live_.insert(session.temporary_schema);
  // SET search_path may have given pg_temp a place.
  std::vector<std::string> path = session.written_path;
  const auto place = std::ranges::find(path, kAlias);
  if (place != path.end()) {
    *place = session.temporary_schema;
  } else {
    path.insert(path.begin(), session.temporary_schema);
  }
  session.set_search_path(std::move(path));
}

asio::awaitable<void> TemporarySchemas::close(DdlContext& context) {
  SessionState& session = context.session;
  if (session.temporary_schema.empty()) co_return;
  const std::string schema = session.temporary_schema;
  if (session.transaction) {
    const MakeDraft make = [&](CatalogDraft& draft) { drop_contents(draft, schema); };
    co_return co_await drop_with_key_columns(context, make);
  }
  // If a schema cannot be dropped now, it is abandoned, and dropped later.
  session.temporary_schema.clear();
  std::ranges::replace(session.search_path, schema, std::string(kAlias));
  live_.erase(schema);
  std::string token = schema.substr(sql::kTemporarySchemaPrefix.size());
  std::ranges::replace(token, '_', '.');
  lease_.give_back(token);
  const MakeDraft make = [&](CatalogDraft& draft) { drop_schema(draft, schema); };
  co_await drop_with_key_columns(context, make);
}

asio::awaitable<void> TemporarySchemas::drop_abandoned(DdlContext& context) {
  const LoadedCatalog loaded = co_await load_committed(context);
  std::vector<std::string> schemas;
  CommandBatch batch;
  for (const auto& [name, schema] : loaded.snapshot->schemas) {
    if (!sql::is_temporary_schema(name) || live_.contains(name)) continue;
    schemas.push_back(name);
    batch.add("EXISTS", process_key(process_of(name)));
  }
  if (schemas.empty()) co_return;
  const RepliesPtr replies = co_await context.redis.execute(std::move(batch));
  replies->or_throw();
  std::vector<std::string> abandoned;
  for (std::size_t i = 0; i < schemas.size(); ++i) {
    const bool is_alive = replies->integer(i) != 0;
    if (!is_alive || process_of(schemas[i]) == lease_.process()) abandoned.push_back(schemas[i]);
  }
  if (abandoned.empty()) co_return;
  SessionState outside;  // no part of the session's transaction
  DdlContext own{context.redis, context.bulk, outside, context.home, context.database};
  for (const std::string& schema : abandoned) {
    const MakeDraft make = [&](CatalogDraft& draft) { drop_schema(draft, schema); };
    try {
      co_await drop_with_key_columns(own, make);
    } catch (const sql::SqlError& error) {  // it stays for the next attempt
      spdlog::warn("the temporary schema {} cannot be dropped: {}", schema, error.what());
    }
  }
}

namespace {

void drop_on_commit(CatalogDraft& draft, const std::string& schema) {
  std::vector<sql::Oid> tables;
  for (const auto& [oid, table] : draft.catalog().tables) {
    if (table->schema == schema && table->on_commit == sql::TableDef::OnCommit::kDrop) tables.push_back(oid);
  }
  std::vector<DropObject> targets;
  for (const sql::Oid table : tables) targets.push_back({DropObject::Kind::kTable, table});
  drop_dependents(draft, targets, /*cascade=*/true);
  draft.take_notices();
  for (const sql::Oid table : tables) draft.drop_table(table);
}

/// 0A000 where rows that stay refer to rows that go.
void check_emptied(const sql::TableDef& table, const sql::CatalogSnapshot& catalog) {
  for (const sql::Oid oid : table.referencing) {
    const sql::TableDef& from = *catalog.find_table(oid);
    if (from.on_commit == sql::TableDef::OnCommit::kDeleteRows) continue;
    throw sql::SqlError(sqlstate::kFeatureNotSupported, "unsupported ON COMMIT and foreign key combination")
        .detail(fmt::format("Table \"{}\" references \"{}\", but they do not have the same ON COMMIT setting.", from.name, table.name));
  }
}

}  // namespace

asio::awaitable<void> end_temporary(DdlContext& context) {
  const MakeDraft make = [&](CatalogDraft& draft) { drop_on_commit(draft, context.session.temporary_schema); };
  co_await change_catalog(context, make);
}

void apply_on_commit(const SessionState& session, const sql::CatalogSnapshot& catalog, Transaction& transaction) {
  const std::string& schema = session.temporary_schema;
  if (schema.empty()) return;
  const sql::CatalogSnapshot& now = transaction.catalog() ? *transaction.catalog()->snapshot() : catalog;
  bool drops = false;
  std::vector<sql::Oid> emptied;
  for (const auto& [oid, table] : now.tables) {
    if (table->schema != schema || table->on_commit == sql::TableDef::OnCommit::kPreserveRows) continue;
    for (const auto& stored : sql::stored_tables(table)) emptied.push_back(stored->oid);
    if (table->on_commit == sql::TableDef::OnCommit::kDeleteRows) check_emptied(*table, now);
    drops = drops || table->on_commit == sql::TableDef::OnCommit::kDrop;
  }
  for (const sql::Oid table : emptied) transaction.buffer().forget(table);
  if (drops && transaction.catalog()) {
    transaction.catalog()->change([&](CatalogDraft& draft) { drop_on_commit(draft, schema); });
  }
}

bool makes_temporary(const ast::Statement& statement) {
  const auto asks = [](ast::Persistence persistence, const ast::RelationName& name) {
    return persistence == ast::Persistence::kTemporary || name.schema == kAlias;
  };
  return std::visit(
      [&]<class Node>(const Node& node) {
        if constexpr (std::same_as<Node, ast::Select>) {
          return node.into && asks(node.into->persistence, node.into->relation);
        } else if constexpr (std::same_as<Node, ast::CreateTableAs>) {
          return asks(node.into.persistence, node.into.relation);
        } else if constexpr (planner::OneOf<Node, ast::CreateTable, ast::CreateView, ast::CreateSequence>) {
          return asks(node.persistence, node.relation);
        } else if constexpr (planner::OneOf<Node, ast::CreateEnum, ast::AlterEnum, ast::CreateDomain, ast::AlterDomain, ast::CreateRange,
                                            ast::CreateFunction>) {
          return node.name.size() == 2 && node.name[0] == kAlias;  // a function or a type
        } else {
          return false;
        }
      },
      statement.node);
}

}  // namespace redquel::executor
