#include "executor/statements/lock_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "executor/roles/access.h"
#include "executor/transaction/transaction.h"
#include "sql/catalog/spread_table.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

class LockTableExecution final : public Execution {
 public:
  LockTableExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const auto& statement = std::get<ast::LockTable>(prepared_->statement->node);
    const std::shared_ptr<Transaction> transaction = session_.transaction;
    if (!transaction) throw sql::SqlError(sqlstate::kNoActiveTransaction, "LOCK TABLE can only be used in transaction blocks");
    // The lock may have waited for a change of definitions: the names must still refer to the locked tables.
    std::set<sql::Oid> locked;
    while (true) {
      const sql::CatalogPtr catalog = co_await engine_.newest_catalog(session_);
      std::vector<sql::CatalogSnapshot::TablePtr> tables;
      for (const ast::TableRef& written : statement.relations) {
        for (auto& table : tables_of(*catalog, written.name)) {
          if (locked.insert(table->oid).second) std::ranges::copy(sql::stored_tables(table), std::back_inserter(tables));
        }
      }
      if (tables.empty()) co_return std::nullopt;
      for (const auto& table : tables) co_await engine_.lock_table(session_, *transaction, *table, statement.mode, statement.no_wait);
    }
  }

  std::string command_tag() const override { return "LOCK TABLE"; }

 private:
  /// The table; of a view those that it reads.
  std::vector<sql::CatalogSnapshot::TablePtr> tables_of(const sql::CatalogSnapshot& catalog, const ast::RelationName& name) const {
    require_schema_usage(session_, catalog, name.schema);
    if (const auto table = catalog.find_table(name.schema, name.name, session_.search_path)) {
      require_lock(catalog, session_.role, table->oid);
      return {table};
    }
    std::vector<sql::CatalogSnapshot::TablePtr> tables;
    if (const auto view = catalog.find_view(name.schema, name.name, session_.search_path)) {
      std::set<sql::Oid> seen;
      require_lock(catalog, session_.role, view->oid);
      collect(catalog, *view, tables, seen);
      return tables;
    }
    // Nothing of a system table can change.
    if (sql::find_system_table(name.schema.empty() ? "pg_catalog" : name.schema, name.name) != nullptr) return {};
    const std::string shown = name.schema.empty() ? name.name : name.schema + "." + name.name;
    const auto refuse = [&](const char* what) {
      return sql::SqlError(sqlstate::kWrongObjectType, fmt::format("cannot lock relation \"{}\"", name.name))
          .detail(fmt::format("This operation is not supported for {}.", what));
    };
    if (catalog.find_sequence(name.schema, name.name, session_.search_path)) throw refuse("sequences");
    if (catalog.find_index(name.schema, name.name, session_.search_path).first ||
        catalog.find_primary_key(name.schema, name.name, session_.search_path)) {
      throw refuse("indexes");
    }
    throw sql::undefined_relation(shown);
  }

  /// Views may read each other in a circle (CREATE OR REPLACE VIEW).
  void collect(const sql::CatalogSnapshot& catalog, const sql::ViewDef& view, std::vector<sql::CatalogSnapshot::TablePtr>& tables,
               std::set<sql::Oid>& seen) const {
    if (!seen.insert(view.oid).second) return;
    const sql::Oid role = view.is_security_invoker() ? session_.role : sql::owner_role(view.owner);
    for (const sql::ViewDef::Reference& reference : view.references) {
      const auto table = catalog.find_table(reference.relation);
      const auto inner = catalog.find_view(reference.relation);
      if (table || inner) require_lock(catalog, role, reference.relation);
      if (table) tables.push_back(table);
      if (inner) collect(catalog, *inner, tables, seen);
    }
  }

  /// ACCESS SHARE needs SELECT, other modes a right to write; INSERT suffices up to ROW EXCLUSIVE (PostgreSQL's LockTableAclCheck).
  void require_lock(const sql::CatalogSnapshot& catalog, sql::Oid role, sql::Oid relation) const {
    constexpr std::int32_t kAccessShare = 1, kRowExclusive = 3;
    const std::int32_t mode = std::get<ast::LockTable>(prepared_->statement->node).mode;
    sql::Rights rights = sql::right::kUpdate | sql::right::kDelete | sql::right::kTruncate;
    if (mode == kAccessShare) rights = sql::right::kSelect;
    if (mode == kRowExclusive) rights |= sql::right::kInsert;
    require_any_right(role, session_.database, catalog, sql::AclKind::kTable, relation, rights);
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
};

}  // namespace

std::unique_ptr<Execution> make_lock_table(RedisEngine& engine, PreparedPtr prepared, SessionState& session) {
  return std::make_unique<LockTableExecution>(engine, std::move(prepared), session);
}

}  // namespace redquel::executor
