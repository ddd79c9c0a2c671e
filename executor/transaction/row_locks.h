#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/locks.h"
#include "executor/storage/row_buffer.h"
#include "executor/storage/row_image.h"
#include "planner/tree/logical_plan.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Rows that a query has read and wants to lock (SELECT … FOR UPDATE). A group is what one row of the query was made of. Rows of one bucket
/// are locked by one call of one script: a group as a whole or not at all. Rows of several buckets are locked bucket by bucket, in ascending
/// order; if a group's row in a later bucket is not locked, its rows in earlier ones stay locked, as in PostgreSQL.
class RowLockRequest {
 public:
  /// One table of the query.
  struct Table {
    PlacedTable table;  // of a table in several buckets each row names its part
    planner::RowLock lock;
    std::vector<std::string> fields;  // hash fields that are compared, the one that shows the row's existence first
    bool is_counted = false;          // its locks are (LockSet::count_kept)
  };

  RowLockRequest(std::vector<Table> tables, std::string token) : tables_(std::move(tables)), token_(std::move(token)) {}

  /// Adds the next row of the current group; the groups' rows come in the tables' order. `expected` is parallel to the fields; empty: the
  /// row is not read, because other sessions cannot have changed it.
  void add_row(std::string_view member, std::string_view key, std::vector<std::string> expected) { add_row(member, key, std::move(expected), next_table()); }
  /// Like above, for a row of a part of a table in several buckets.
  void add_row(std::string_view member, std::string_view key, std::vector<std::string> expected, const PlacedTable& part);
  /// Locks as a statement that writes does, and reads what it has locked: the rows' fields come with the answer.
  void read_to_write() { writes_ = true; }
  std::size_t groups() const { return tables_.empty() ? 0 : keys_.size() / tables_.size(); }

  /// The expected value of a field.
  static std::string holds(std::string_view text) { return "=" + std::string(text); }
  static std::string holds_or_is_absent(std::string_view text) { return "?" + std::string(text); }
  static std::string is_absent() { return "-"; }
  static std::string is_there() { return "+"; }

  struct Answer {
    /// By group, as far as they were looked at: 'l' is locked, 's' was skipped, 'c' is locked but is not any more what was read, 'g' is gone.
    std::string states;
    std::optional<LockConflict> conflict;           // a lock of another owner blocks the next group, or a table is exclusive
    std::optional<std::size_t> not_waited_for;      // … and this table's clause says NOWAIT
    RepliesPtr replies;                              // what Redis said

    /// After `read_to_write`: the fields of the row with this number among those that are locked.
    std::span<const Reply> row(std::size_t number) const;
  };
  /// Locks groups in their order until `wanted` of them are locked. Notes what is locked in `held` (null: nothing stays locked).
  asio::awaitable<Answer> execute(RedisClient& redis, std::optional<std::size_t> wanted, LockSet* held, ExecutionCounters* counters);

 private:
  const PlacedTable& next_table() const { return tables_[keys_.size() % tables_.size()].table; }
  bool is_in_one_bucket() const;
  /// Rows of the same tables in one bucket.
  struct Step {
    int bucket;
    std::vector<std::size_t> tables;
    friend auto operator<=>(const Step&, const Step&) = default;
  };
  /// Returns the groups of each step, in the order in which they are locked.
  std::map<Step, std::vector<std::size_t>> steps(std::size_t first, std::size_t count) const;
  asio::awaitable<Answer> execute_in_bucket(RedisClient& redis, std::optional<std::size_t> wanted, LockSet* held, ExecutionCounters* counters);
  asio::awaitable<Answer> execute_over_buckets(RedisClient& redis, std::optional<std::size_t> wanted, LockSet* held, ExecutionCounters* counters);
  /// Locks the groups [first, first + count) and appends their states to the answer.
  asio::awaitable<void> lock_over_buckets(RedisClient& redis, std::size_t first, std::size_t count, LockSet* held, Answer& all, ExecutionCounters* counters);
  /// Returns the rows of some tables in these groups.
  RowLockRequest part(const std::vector<std::size_t>& tables, const std::vector<std::size_t>& groups) const;
  asio::awaitable<RepliesPtr> lock_free_row(RedisClient& redis, ExecutionCounters* counters);
  asio::awaitable<RepliesPtr> lock_groups(RedisClient& redis, std::optional<std::size_t> wanted, bool keeps, ExecutionCounters* counters);

  std::vector<Table> tables_;
  std::string token_;
  bool writes_ = false;
  std::vector<std::string> keys_, members_;
  std::vector<std::vector<std::string>> expected_;
  std::vector<PlacedTable> places_;
};

/// Makes requests for rows of one table, of which some columns have been read.
class LockedTable {
 public:
  /// `numbers`: the columns that must still be what was read, the key among them; 0 is the hidden key.
  LockedTable(std::shared_ptr<const sql::TableDef> table, const planner::RowLock& lock, const std::vector<std::int16_t>& numbers);

  const sql::TableDef& table() const { return *table_; }
  RowLockRequest::Table request() const { return {*table_, lock_, fields_, table_->is_mapped()}; }
  /// `values`: parallel to the numbers. Rows that are in `buffer` are not looked at: the transaction has them already.
  void add_row(RowLockRequest& request, const std::vector<sql::Datum>& values, const RowBuffer* buffer) const;

 private:
  void add_expected(std::vector<std::string>& expected, std::size_t position, std::string_view text) const;

  std::shared_ptr<const sql::TableDef> table_;
  planner::RowLock lock_;
  RowEncoder encoder_;  // of one of its parts
  std::vector<std::string> fields_;
  std::vector<std::size_t> places_;    // in a whole row, parallel to the numbers
  std::vector<std::size_t> compared_;  // in a whole row: those that have a field
};

}  // namespace redquel::executor
