#pragma once

#include <deque>

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "executor/operators/spill_file.h"
#include "executor/storage/journaled_unit.h"
#include "executor/storage/mapped_unit.h"
#include "executor/storage/seen_commits.h"
#include "executor/storage/unseen_rows.h"
#include "executor/storage/write_unit.h"
#include "executor/writes/referential_actions.h"
#include "executor/writes/returned_rows.h"
#include "executor/writes/row_recheck.h"
#include "executor/writes/statement_triggers.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// The common course of writing statements: collect, apply, return rows. Up to `max_written_rows` rows are one script; more are a
/// journaled unit. Its source is read to the end before its first chunk goes out, so that the statement does not meet its own rows; what
/// of it is more than a few chunks waits in a temporary file.
class WriteOperator : public Operator {
 public:
  asio::awaitable<std::optional<sql::Batch>> next() final;
  /// Returns the checks of the foreign keys that do not wait for the commit.
  static std::shared_ptr<ForeignKeyChecks> checks_of(const ExecutionContext& context);

 protected:
  /// `rows`: in place of the plan's source; they do not come from Redis.
  WriteOperator(const planner::PhysicalNode& node, std::shared_ptr<const sql::TableDef> table, const planner::PhysicalPlan& source,
                ExecutionContext& context, OperatorPtr rows = nullptr);

  /// Adds the changes of one batch of the source to the unit, checks included.
  virtual asio::awaitable<void> collect(const sql::Batch& source) = 0;
  /// A change of the statement's table; false: the row was changed before.
  /// `increments`: as WriteUnit::update_row; a row on which others depend is written as a whole.
  bool update_row(std::span<const sql::Datum> old_row, std::span<const sql::Datum> new_row, const std::vector<std::size_t>& increments = {});
  bool delete_row(std::span<const sql::Datum> old_row);
  /// Puts the hidden keys behind new versions of rows, if the table has them: a row keeps its own, unless it goes to another partition.
  asio::awaitable<void> give_hidden_keys(const std::vector<std::vector<sql::Datum>>& old_rows, std::vector<std::vector<sql::Datum>>& new_rows);
  /// Adds a new row, which an action of the same statement may change.
  void insert_row(std::span<const sql::Datum> new_row, const InsertConflict& conflict = {});
  /// Adds a new row of a managed table that no action of the statement may change.
  void add_to_unit(std::span<const sql::Datum> new_row, const InsertConflict& conflict);
  /// A new row of a mapped table; false: the table is managed.
  bool insert_mapped_row(std::span<const sql::Datum> new_row, const InsertConflict& conflict = {});
  /// Records the old rows' columns in the source: a transaction reads the missing ones of a mapped table.
  void note_read_columns(const std::vector<std::size_t>& positions);
  /// Returns the ordinal of the next change, and whether the insert of an ordinal yielded to an existing row.
  std::size_t next_ordinal() const;
  bool was_skipped(const WriteUnit& unit, std::size_t ordinal) const;
  /// The work after the unit with all collected changes is applied: RETURNING rows, in order, and the number of counted rows.
  using Finish = std::function<void(const WriteUnit& applied)>;
  virtual Finish take_collected() = 0;

  /// Rows that others have changed meanwhile are looked at again, instead of the whole statement. `old_row`: positions
  /// in the source.
  void recheck_rows(const planner::RecheckSource& recheck, const std::vector<std::size_t>& old_row);
  /// Keys or unique values of rows may become those of other rows: of a journaled unit all rows go before the first comes again.
  void may_exchange_keys() { exchanges_keys_ = true; }
  /// Rows of others may refer to keys that one row of the statement gives up and another takes.
  void may_pass_on_references() { passes_on_references_ = !table_->referencing.empty(); }
  /// For statements that add many rows and do nothing else: they go to Redis before the transaction's commit, invisible to other sessions.
  void write_ahead_if_possible();

  /// Returns true if triggers BEFORE … FOR EACH ROW look at rows that the event changes.
  bool has_before(sql::TriggerDef::Event event) const;
  /// Fires them. Returns the numbers of the rows that are to be written. `new_rows`: the table's columns; the columns of rows that triggers
  /// have changed are replaced, and the others gathered. `old_rows`: none for INSERT.
  asio::awaitable<std::vector<std::uint32_t>> fire_before(sql::TriggerDef::Event event, sql::Batch& new_rows,
                                                          const std::vector<std::vector<sql::Datum>>& old_rows);
  /// Like fire_before(), for rows that are deleted.
  asio::awaitable<std::vector<std::uint32_t>> fire_before_delete(const std::vector<std::vector<sql::Datum>>& old_rows);
  /// Notes a new row for triggers AFTER, which insert_row() and add_to_unit() do not: a row with a conflict may yield.
  void note_inserted(std::span<const sql::Datum> new_row);

  /// Puts the generated columns into new rows. `batch` is what they are bound over; its first columns are the table's.
  void compute_generated(const sql::TableDef& table, const std::vector<planner::Assignment>& generated, sql::Batch& batch);
  /// NOT NULL and CHECK of new rows. `rows` are parallel to the batch over which the checks are bound.
  /// `policies`: those of new rows are checked before, over the new row and the columns of `source`.
  void check_rows(const sql::TableDef& table, const std::vector<planner::BoundCheck>& checks, const sql::Batch& batch,
                  const std::vector<std::vector<sql::Datum>>& rows, const std::vector<planner::PolicyCheck>& policies, const sql::Batch& source);
  /// The policies' checks of rows that are there: 42501.
  void check_existing(const sql::TableDef& table, const std::vector<planner::PolicyCheck>& policies, const sql::Batch& source);
  sql::Batch evaluate_returning(const std::vector<sql::ExpressionPtr>& returning, const sql::Batch& batch);

  ExecutionCounters* counters() { return counters_.get(); }

  ExecutionContext& context_;
  OperatorPtr source_;
  WriteUnit unit_;
  ReturnedRows returned_{context_.temporary_space};

 private:
  /// Collects and writes; what RETURNING made of the rows is left.
  asio::awaitable<void> run();
  /// Reads the source to its end.
  asio::awaitable<void> collect_all();
  /// Reads the source, which lies in several buckets. Throws WriteConflict if it may have seen a commit over these in some of them only.
  asio::awaitable<void> collect_whole_commits();
  /// In parts that fit a chunk.
  asio::awaitable<void> collect_in_chunks(const sql::Batch& batch, std::size_t limit);
  /// Puts what was collected into the transaction's buffer, so that triggers see it.
  asio::awaitable<void> show_collected();
  /// The unit is full: it becomes a chunk of a journaled one.
  asio::awaitable<void> put_aside();
  /// Returns true if rows of the source may wait in a file, while their changes are made chunk by chunk.
  bool may_spill() const { return !streams_ && !actions_ && !mapped_; }
  /// The chunks, and those that are made of the rows in the file.
  asio::awaitable<void> write_spilled(std::size_t limit);
  /// For rows that may exchange keys: first all of them go, then they come again.
  enum class Exchange { kNone, kLeave, kArrive };
  asio::awaitable<void> write_chunks_as(Exchange step);
  /// Adds the effects of the changes on other tables, and all of it, to the unit.
  asio::awaitable<void> take_actions(std::size_t limit);
  asio::awaitable<void> collect_actions(const std::vector<TableChangesPtr>& changes, std::size_t limit);
  static WriteOptions options_of_leaving(const WriteOptions& options);
  /// All that was collected as one unit: into Redis, or into the transaction's buffer.
  asio::awaitable<void> write_at_once();
  /// Like write_at_once(). If others have changed rows of the source, their new versions are collected in their place.
  asio::awaitable<void> write_newest_rows();
  asio::awaitable<void> collect_again();
  /// Keeps rows of the source, in case that they are to be collected again.
  void keep(const sql::Batch& source);
  /// Returns false if another part of the statement has changed the row of the mapped table.
  bool is_first_change(std::span<const sql::Datum> old_row);
  asio::awaitable<void> write_mapped();
  asio::awaitable<void> buffer_mapped(MappedUnit& unit, bool bad_is_null);
  asio::awaitable<void> lock_mapped_rows(const MappedUnit& unit);
  asio::awaitable<void> begin_journal();
  /// Claims the place. Throws StaleCatalog if changed definitions of other sessions have to be followed first.
  asio::awaitable<void> claim_place_ahead();
  asio::awaitable<void> write_ahead(WriteUnit unit, Finish finish);
  asio::awaitable<void> write_chunks();
  /// Chunk after chunk is verified and locked in Redis, and part of the transaction's buffer then; all of them or none.
  asio::awaitable<void> buffer_chunks();
  asio::awaitable<void> execute(WriteUnit& unit);
  bool is_buffered() const { return context_.transaction() && !is_ahead_; }
  /// Rows that one script may write, verify or lock.
  std::size_t chunk_rows() const;

  struct Chunk {
    std::shared_ptr<WriteUnit> unit;
    Finish finish;
  };
  NodeCounters counters_;
  std::optional<ReferentialActions> actions_;
  std::shared_ptr<const sql::TableDef> table_;
  std::shared_ptr<StatementTriggers> triggers_;  // null: none fires
  std::vector<planner::WriteEvent> events_;      // of its triggers
  bool row_by_row_ = false;                      // a trigger sees what the statement has changed before
  std::shared_ptr<MappedUnit> mapped_;  // in place of the unit; null: the table is managed
  bool streams_;                        // chunks are written while the source still gives rows
  SeenCommits source_commits_;          // over the buckets that the source reads
  bool reads_source_once_ = false, walks_source_ = false;
  bool knows_ttl_ = true;               // of the old rows of a mapped table
  bool is_ahead_ = false;               // of the transaction's commit
  bool exchanges_keys_ = false, passes_on_references_ = false;
  std::optional<std::size_t> buffer_mark_;  // before the first chunk
  std::deque<Chunk> chunks_;  // not sent yet
  std::optional<SpilledRows> spilled_;  // rows of the source that are not collected yet
  Exchange step_ = Exchange::kNone;     // of what is written while it is collected
  std::optional<RowRecheck> recheck_;   // none: the statement runs again
  std::vector<sql::Batch> kept_;        // for it: what the source gave
  std::size_t kept_rows_ = 0;
  std::unique_ptr<JournaledUnit> journaled_;
  std::optional<UnseenRows> unseen_;  // of what is ahead of the commit
  std::size_t written_rows_ = 0;  // in chunks
  std::size_t checked_rows_ = 0;
  bool applied_ = false;
};

/// A column of the old rows; NULLs for planner::kNotRead.
sql::ColumnPtr old_column(const sql::Batch& source, std::size_t position, sql::Type type);
/// The rows of some columns of a batch, value by value; NULL for planner::kNotRead.
std::vector<std::vector<sql::Datum>> rows_of(const sql::Batch& batch, const std::vector<std::size_t>& positions);

}  // namespace redquel::executor
