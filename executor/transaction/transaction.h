#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "executor/redis/redis_user.h"
#include "executor/storage/locks.h"
#include "executor/storage/read_checks.h"
#include "executor/storage/row_buffer.h"
#include "executor/transaction/constraint_times.h"
#include "executor/transaction/transaction_catalog.h"

namespace redquel::executor {

/// One open transaction of a session: what it has changed, and its savepoints. Statements that run in it keep it alive.
class Transaction {
 public:
  /// `generation`: of the Redis it began with.
  explicit Transaction(std::uint64_t generation) : generation_(generation) {}

  std::uint64_t generation() const { return generation_; }
  RowBuffer& buffer() { return buffer_; }
  const RowBuffer& buffer() const { return buffer_; }
  /// Returns true if it has changed rows or definitions.
  bool has_changed() const { return catalog_ != nullptr || !buffer_.empty() || buffer_.has_increments(); }
  /// Tables whose rows in Redis are not what the transaction sees.
  std::set<sql::Oid> changed_tables() const { return buffer_.changed_tables(); }

  /// The transaction's reads, at the stricter levels.
  ReadChecks& reads() { return reads_; }
  const ReadChecks& reads() const { return reads_; }
  ReadMoment& read_moment() { return read_moment_; }
  /// SERIALIZABLE: the reads must still hold at commit.
  bool keeps_reads() const { return keeps_reads_; }
  void set_keeps_reads(bool keeps) { keeps_reads_ = keeps; }
  /// The transaction's locks. Without a token it has none.
  LockSet& locks() { return locks_; }
  const LockSet& locks() const { return locks_; }

  ConstraintTimes& constraint_times() { return constraint_times_; }
  const ConstraintTimes& constraint_times() const { return constraint_times_; }

  /// Its own definitions; null until it changes some.
  TransactionCatalog* catalog() { return catalog_.get(); }
  const TransactionCatalog* catalog() const { return catalog_.get(); }
  void set_catalog(std::unique_ptr<TransactionCatalog> catalog) { catalog_ = std::move(catalog); }
  /// After a definition statement: buffered rows take the form of the new definitions. Throws what the rows do not allow.
  void follow_definitions(const sql::SessionSettings& settings);

  /// Returns true if rows of this table may go to Redis before the commit: no other session sees them there, and no ROLLBACK TO could undo
  /// them alone.
  bool may_write_ahead(const sql::TableDef& table) const;
  /// Returns true if the transaction has claimed a place for such rows.
  bool writes_ahead() const { return catalog_ && !catalog_->claims().empty(); }

  /// Notes the Redis user as whom the commit writes a foreign table; null: redquel's own login. 0A000 if it is another one than before.
  void write_as(sql::Oid table, RedisUserPtr user);
  /// Null: redquel's own login.
  RedisUserPtr writer_of(sql::Oid table) const;

  /// Savepoints are numbered from 0, the oldest; a later one lies within the earlier ones.
  void set_savepoint();
  std::size_t savepoint_count() const { return savepoints_.size(); }
  void release_savepoint(std::size_t number) { savepoints_.resize(number); }
  /// The savepoint itself stays.
  void roll_back_to(std::size_t number);

 private:
  struct Savepoint {
    std::size_t buffer_mark = 0;
    ConstraintTimes constraint_times;
    TransactionCatalog::State catalog;  // without a draft: there was none
  };

  std::uint64_t generation_;
  RowBuffer buffer_;
  LockSet locks_;
  ConstraintTimes constraint_times_;
  ReadChecks reads_;
  ReadMoment read_moment_;
  bool keeps_reads_ = true;
  std::unique_ptr<TransactionCatalog> catalog_;
  std::map<sql::Oid, RedisUserPtr> writers_;  // by foreign table
  std::vector<Savepoint> savepoints_;
};

}  // namespace redquel::executor
