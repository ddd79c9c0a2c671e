#include "executor/operators/operators.h"

#include <algorithm>

#include "executor/redis/own_keyspace.h"
#include "executor/replication/slot_rows.h"
#include "executor/roles/user_mappings.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/runtime/row_store.h"
#include "executor/runtime/session_exchange.h"
#include "executor/storage/databases.h"
#include "executor/storage/role_store.h"
#include "executor/tables/discovery_rows.h"
#include "executor/tables/held_locks.h"
#include "executor/tables/redis_scan.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_keys.h"
#include "sql/catalog/table_keys.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"
#include "sql/system_tables/shown_mapping_passwords.h"
#include "sql/system_tables/shown_row_counts.h"
#include "sql/system_tables/shown_sessions.h"
#include "sql/system_tables/shown_verifiers.h"

namespace redquel::executor {

namespace {

class SystemScanOperator final : public Operator {
 public:
  SystemScanOperator(const planner::PhysicalSystemScan& plan, ExecutionContext& context)
      : plan_(plan), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (turn_.is_over()) co_await turn_.yield();
    if (!rows_) {
      // Its rows are the catalog's, which no other command of the statement may have checked to be that of now.
      CommandBatch batch;
      batch.add("EXISTS", sql::home_key(sql::kVersionKey));
      const std::vector<sql::Oid> counted = append_row_counts(batch);
      const RepliesPtr replies = co_await context_.ask_unchecked(std::move(batch), false, nullptr);
      if ((*replies)[0].is_error()) replies->or_throw();
      if (plan_.name == "pg_database" || plan_.name == "pg_stat_database") context_.evaluation().databases = co_await list_databases(*context_.home);
      if (plan_.name == "pg_authid" || plan_.name == "pg_shadow") {
        const std::map<sql::Oid, std::string> verifiers = co_await load_verifiers(*context_.home);
        const sql::ShownVerifiers shown(verifiers);
        read();
      } else if (sql::ShownMappingPasswords::are_wanted_by(plan_.name)) {
        const std::map<sql::Oid, std::string> passwords = co_await load_mapping_passwords(context_.redis(), context_.catalog()->server.mappings);
        const sql::ShownMappingPasswords shown(passwords);
        read();
      } else if (!counted.empty()) {
        sql::ShownRowCounts::Counts counts;
        for (std::size_t i = 0; i < counted.size(); ++i) {
          if (!(*replies)[i + 1].is_error()) counts[counted[i]] += replies->integer(i + 1);  // Redis may refuse the login the key
        }
        const sql::ShownRowCounts shown(counts);
        read();
      } else if (sql::ShownSessions::are_wanted_by(plan_.name)) {
        const std::vector<sql::SessionStatistics> sessions = co_await sessions_elsewhere();
        const sql::ShownSessions shown(sessions);
        read();
      } else if (plan_.schema == "redquel") {
        OwnKeyspace* const own = context_.redis().own_keyspace();
        keep(discovery_rows(plan_.name, own == nullptr ? nullptr : &own->discovery()));
      } else if (plan_.name == "pg_locks") {
        keep(co_await read_locks(context_));
      } else if (plan_.name == "pg_replication_slots") {
        keep(co_await replication_slot_rows(context_.redis(), context_.evaluation().database));
      } else {
        read();
      }
    }
    const std::size_t count = std::min(sql::kBatchRows, rows_->rows - next_);
    if (count == 0) co_return std::nullopt;
    const std::vector<RowNumber> rows = row_range(next_, count);
    next_ += count;
    co_return rows_->gather(rows);
  }

 private:
  /// Asks for the numbers of rows of all tables, if the plan reads a column that shows them. Returns the tables in the order of the replies.
  std::vector<sql::Oid> append_row_counts(CommandBatch& batch) const {
    std::vector<sql::Oid> tables;
    const std::optional<std::size_t> column = sql::ShownRowCounts::column_of(plan_.name);
    if (!column || std::ranges::find(plan_.positions, *column) == plan_.positions.end()) return tables;
    for (const auto& table : context_.catalog()->managed_tables()) {
      for (const auto& stored : sql::own_stored_tables(table)) {
        batch.add("ZCARD", sql::TableKeys(*stored).all_rows());
        tables.push_back(table->oid);
      }
    }
    return tables;
  }

  void read() {
    const sql::SystemTable* table = sql::find_system_table(plan_.schema, plan_.name);
    if (table == nullptr)
      throw sql::SqlError(sqlstate::kInternalError, "system table " + plan_.schema + "." + plan_.name + " does not exist");
    keep(table->rows(*context_.catalog(), context_.evaluation()));
  }

  void keep(const sql::Batch& all) {
    rows_.emplace();
    rows_->rows = all.rows;
    for (const std::size_t position : plan_.positions) rows_->columns.push_back(all.columns[position]);
  }

  const planner::PhysicalSystemScan& plan_;
  ExecutionContext& context_;
  EventLoopTurn turn_;
  std::optional<sql::Batch> rows_;
  std::size_t next_ = 0;
};

}  // namespace

OperatorPtr make_system_scan(const planner::PhysicalNode& node, const planner::PhysicalSystemScan& plan,
                             ExecutionContext& context) {
  if (plan.schema == sql::kRedisSchema) return make_redis_scan(node, plan, context);
  return std::make_unique<SystemScanOperator>(plan, context);
}

}  // namespace redquel::executor
