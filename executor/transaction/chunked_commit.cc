#include "executor/transaction/chunked_commit.h"

#include <fmt/format.h>

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "executor/runtime/event_loop_turn.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/journaled_unit.h"
#include "executor/storage/write_conflict.h"
#include "executor/transaction/lock_wait.h"
#include "sql/catalog/spread_table.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

void add_change(WriteUnit& unit, const WriteUnit::TablePtr& table, const BufferedRow& row) {
  if (row.stored && row.current) {
    unit.update_row(table, *row.stored, *row.current, {}, row.increments);
  } else if (row.stored) {
    unit.delete_row(table, *row.stored);
  } else if (row.current) {
    unit.insert_row(table, *row.current);
  }
  if (row.current && row.expires_at) unit.set_expiry(row.expires_at);
}

bool writes_rows(const TableChanges& changes) {
  return changes.any_row([](const BufferedRow& row) { return row.stored || row.current; });
}

sql::SqlError outcome_unknown(const sql::SqlError& error) {
  return sql::SqlError(sqlstate::kTransactionResolutionUnknown,
                       "the connection to Redis was lost during COMMIT: it is not known whether it took place")
      .detail(error.message());
}

namespace {

/// Returns true if the update may take a unique value from another row, or give its own to one.
bool may_exchange_values(const sql::TableDef& table, const BufferedRow& row) {
  for (const sql::IndexDef& index : table.indexes) {
    if (!index.unique) continue;
    for (const sql::IndexDef::Part& part : index.parts) {
      if (table.find_column(part.column) == nullptr) return true;  // an expression
      const std::size_t position = table.position(part.column);
      if ((*row.stored)[position] != (*row.current)[position]) return true;
    }
  }
  return false;
}

}  // namespace

bool add_in_phase(WriteUnit& unit, Phase phase, const WriteUnit::TablePtr& table, const BufferedRow& row) {
  const Phase own = row.stored ? (row.current ? Phase::kUpdate : Phase::kDelete) : (row.current ? Phase::kInsert : Phase::kNone);
  const bool splits = own == Phase::kUpdate && !table->rows_expire() && may_exchange_values(*table, row);
  if (splits && phase == Phase::kDelete) {
    unit.delete_row(table, *row.stored);
  } else if (splits && phase == Phase::kInsert) {
    unit.insert_row(table, *row.current);
  } else if (!splits && own == phase) {
    add_change(unit, table, row);
  } else {
    return false;
  }
  return true;
}

namespace {

/// Sends the transaction's rows chunk by chunk. The first one verifies reads, and the tables become exclusive before it verifies locks.
class ChunkedCommit {
 public:
  ChunkedCommit(asio::any_io_executor executor, RedisClient& redis, int database, WriteOptions options, std::size_t script_rows)
      : journal_(std::move(executor), redis, database), redis_(redis), options_(std::move(options)), script_rows_(script_rows), unit_(options_) {}

  asio::awaitable<void> run(Transaction& transaction, LockDeadline deadline) {
    std::vector<JournaledUnit::TablePtr> tables;
    std::vector<TableChangesPtr> all = transaction.buffer().all_changes();
    // (What the unit has for itself without a row is another table to its foreign keys than the one that they rely on.)
    std::erase_if(all, [](const TableChangesPtr& changes) { return changes->table->is_mapped() || !writes_rows(*changes); });
    for (const TableChangesPtr& changes : all) tables.push_back(changes->table);
    if (tables.empty()) co_return;
    add_exclusive_relatives(tables);
    if (!co_await journal_.begin(std::move(tables), deadline)) throw serialization_failure("change of the table's definition");
    LockSet locks = transaction.locks().take();
    bool held = false;
    try {
      held = co_await release_locks(redis_, locks);
    } catch (...) {  // the transaction's end gives back the rest
      transaction.locks() = std::move(locks);
      throw;
    }
    if (!held) throw lapsed_lock();
    // Locks that other sessions take from now on wait for the end of the unit.
    options_.locks = &transaction.locks();
    unit_ = WriteUnit(options_);
    for (const Phase phase : kPhases) {
      for (const TableChangesPtr& changes : all) {
        TableChanges::Walk walk(*changes);
        if (!unit_.empty() && unit_.tag() != changes->table->tag()) co_await send();
        while (const ChangeLog::VersionPtr changed = walk.next()) {
          if (add_in_phase(unit_, phase, changes->table, changed->row) && unit_.size() >= script_rows_) co_await send();
          if (turn_.is_over()) co_await turn_.yield();
        }
      }
    }
    if (!unit_.empty()) co_await send();
    co_await journal_.flush();
    if (!co_await options_.foreign_keys->verify_written(redis_, options_.settings, nullptr)) {
      throw serialization_failure("change of the table's definition");
    }
    co_await journal_.commit();
  }

  asio::awaitable<void> undo() { return journal_.undo(); }

 private:
  /// Adds the tables that foreign keys over two buckets relate to these: their rows must not change until the unit ends.
  void add_exclusive_relatives(std::vector<JournaledUnit::TablePtr>& tables) {
    const sql::CatalogSnapshot& catalog = *options_.foreign_keys->catalog();
    std::set<sql::Oid> known, added;
    for (const JournaledUnit::TablePtr& table : tables) known.insert(table->oid);
    for (std::size_t index = tables.size(); index > 0; --index) {
      const JournaledUnit::TablePtr table = tables[index - 1];
      std::vector<sql::Oid> relatives = table->referencing;
      for (const sql::ForeignKeyDef& key : table->foreign_keys) relatives.push_back(key.referenced);
      for (const sql::Oid oid : relatives) {
        const JournaledUnit::TablePtr relative = catalog.find_table(oid);
        if (!relative) continue;
        for (const JournaledUnit::TablePtr& stored : sql::stored_tables(relative)) {
          if (stored->tag() == table->tag() || !known.insert(stored->oid).second) continue;
          added.insert(stored->oid);
          tables.push_back(stored);
        }
      }
    }
    options_.foreign_keys->expect_written(std::move(added));
  }

  asio::awaitable<void> send() {
    unit_.set_journal(journal_.step(unit_.tag()));
    auto chunk = std::make_unique<WriteUnit>(std::move(unit_));
    options_.reads = nullptr;
    unit_ = WriteUnit(options_);
    co_await journal_.write(std::move(chunk), {});
  }

  JournaledUnit journal_;
  RedisClient& redis_;
  WriteOptions options_;
  std::size_t script_rows_;
  WriteUnit unit_;
  EventLoopTurn turn_;
};

/// Two rows that expire may exchange a unique value; only one script for all rows could do that.
bool may_exchange_expiring(const Transaction& transaction) {
  return std::ranges::any_of(transaction.buffer().all_changes(), [](const TableChangesPtr& changes) {
    if (changes->table->is_mapped() || !changes->table->rows_expire()) return false;
    return changes->any_row([&](const BufferedRow& row) { return row.stored && row.current && may_exchange_values(*changes->table, row); });
  });
}

}  // namespace

asio::awaitable<void> commit_in_chunks(RedisClient& redis, int database, Transaction& transaction, WriteOptions options, std::size_t script_rows,
                                       LockDeadline deadline) {
  ChunkedCommit commit(co_await asio::this_coro::executor, redis, database, std::move(options), script_rows);
  std::exception_ptr failure;
  bool exchanges = false, is_lost = false;
  try {
    co_await commit.run(transaction, deadline);
  } catch (const WriteConflict&) {
    failure = std::make_exception_ptr(serialization_failure("update"));
  } catch (const LockedByOther&) {
    failure = std::make_exception_ptr(serialization_failure("update"));
  } catch (const sql::SqlError& error) {
    exchanges = error.sqlstate() == sqlstate::kUniqueViolation;
    is_lost = error.sqlstate() == sqlstate::kConnectionFailure;
    failure = is_lost ? std::make_exception_ptr(outcome_unknown(error)) : std::current_exception();
  }
  if (!failure) co_return;
  // Without a connection another process undoes the unit when its lease has run out, unless it was complete.
  if (is_lost) std::rethrow_exception(failure);
  co_await commit.undo();
  if (exchanges && may_exchange_expiring(transaction)) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded,
                        fmt::format("transaction changes unique values of rows that expire, and more than {} rows", script_rows));
  }
  std::rethrow_exception(failure);
}

}  // namespace redquel::executor
