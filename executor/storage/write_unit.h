#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/catalog_store.h"
#include "executor/storage/foreign_key_checks.h"
#include "executor/storage/known_keys.h"
#include "executor/storage/locks.h"
#include "executor/storage/read_checks.h"
#include "executor/storage/row_buffer.h"
#include "executor/storage/row_image.h"
#include "executor/storage/write_answer.h"
#include "executor/storage/write_program.h"
#include "sql/catalog/catalog.h"
#include "sql/datum.h"
#include "sql/error.h"
#include "sql/session_settings.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// A chunk of a journaled unit writes tables that are exclusive, and its undo with them.
struct JournalStep {
  enum class Kind : std::uint8_t { kDo, kUndo } kind;
  std::string owner;  // the exclusive tables' version
  std::string key;    // LIST of the chunks' undo
};

class MappedWriteCall;

/// The record of a commit in Redis, so that its outcome can be found if the connection was lost meanwhile (transaction/commit_fence.h).
struct CommitToken {
  std::string key, slot, number;  // the key without the tag of a bucket
};

struct WriteOptions {
  /// More rows in one unit are 54000: the script stops Redis for about 20 µs a row.
  std::size_t max_rows = 100'000;
  /// The settings that print values in the details of errors.
  sql::SessionSettings settings;
  /// The changes of an open transaction so far. With it the unit is checked against Redis and these changes together, without being
  /// applied, and `absorb_into` hands the changes over.
  const RowBuffer* buffer = nullptr;
  /// Locks of the transaction. With a buffer the unit takes those that it needs and notes them here; without, it commits: they must
  /// still be held, and are given back.
  LockSet* locks = nullptr;
  /// The reads of a stricter transaction that must still hold, or the unit is kConflict.
  const ReadChecks* reads = nullptr;
  /// Definitions that change together with the rows.
  std::optional<CatalogCommit> catalog;
  /// Changes of mapped tables that are made together with the rows. Null: none.
  std::shared_ptr<const MappedWriteCall> mapped;
  std::optional<CommitToken> token;
  /// The unit is one chunk of a journaled unit (journaled_unit.h), or undoes one.
  std::optional<JournalStep> journal;
  /// The foreign keys that the changes must keep; a chunk of a journaled unit only records its rows. Null: no checks.
  std::shared_ptr<ForeignKeyChecks> foreign_keys;
  /// Returns true if unique values of these columns are checked at commit. Null: none are.
  std::function<bool(const sql::TableDef&, std::span<const std::int16_t>)> defers_unique;
  /// The rows' tables are at places that only their transaction knows (TransactionCatalog::claim): no definition there to compare, no locks.
  bool ahead_of_commit = false;
  /// The tag of the bucket where the unit may have no row but locks or reads. Nullopt: that of its tables.
  std::optional<std::string> tag;
  /// Nothing is to be applied.
  bool verify_only = false;
  ShowProgram show_program = {};
  /// Number of the first change among the statement's rows, for RowError.
  std::size_t first_row = 0;
  /// Members that the statement has updated or deleted in earlier chunks, and does now.
  std::shared_ptr<KnownKeys> changed_rows;
};

/// The behaviour of an insert when a row with the same key or unique value exists.
struct InsertConflict {
  bool skip = false;  // ON CONFLICT DO NOTHING
  /// Instead of skipping, the unit ends in kConflict: the row came after the statement had looked for it (ON CONFLICT DO UPDATE).
  bool run_again = false;
  /// Skips only because of this unique key (or primary key); other violations stay errors. Absent: any.
  std::optional<std::vector<std::int16_t>> columns;
};

class WriteEncoding;
struct UnitPart;

/// The expectation of a field that must exist, with any value.
inline constexpr std::string_view kAnyValue("\0+", 2);

/// Integers beyond this are not added to as increments: the script computes with doubles.
inline constexpr std::int64_t kIncrementBound = std::int64_t{1} << 50;

/// The row changes of one statement: collected, then applied by one script with all their index entries, or not at all.
///
/// Uniqueness is checked against the state after the whole unit. So UPDATE t SET id = id + 1 succeeds, where PostgreSQL, which
/// looks row by row, depends on the order of rows. A row may be changed once in a unit; later changes of it are ignored, as
/// PostgreSQL does when an UPDATE … FROM meets a row twice.
///
/// A row is a span of values parallel to the table's columns, followed by the hidden key where the table has one. NOT NULL and
/// CHECK are the caller's.
class WriteUnit {
 public:
  using TablePtr = std::shared_ptr<const sql::TableDef>;

  explicit WriteUnit(WriteOptions options = {});
  ~WriteUnit();
  WriteUnit(WriteUnit&&) = default;
  WriteUnit& operator=(WriteUnit&&) = default;
  WriteUnit(const WriteUnit&) = delete;
  WriteUnit& operator=(const WriteUnit&) = delete;

  // A row of a table in several buckets is a row of one of its parts. An update that gives it another bucket is a deletion and an insertion.

  /// Gives the row's ordinal in the unit, under which `was_skipped` answers. Throws SqlError 54000.
  std::size_t insert_row(const TablePtr& table, std::span<const sql::Datum> row, const InsertConflict& conflict = {});
  /// `relied`: per column, whether the statement's result depends on its old value (WHERE, SET expressions, RETURNING); empty: all.
  /// Columns whose index entries change are always compared. Returns false if the row was changed before in this unit. `increments`: the
  /// only columns that differ, integers without index entries; the difference is added to the current value (kConflict if it is NULL or
  /// leaves the type's range). With a buffer the row is neither verified nor locked.
  bool update_row(const TablePtr& table, std::span<const sql::Datum> old_row, std::span<const sql::Datum> new_row,
                  const std::vector<bool>& relied = {}, const std::vector<std::size_t>& increments = {});
  bool delete_row(const TablePtr& table, std::span<const sql::Datum> old_row, const std::vector<bool>& relied = {});
  /// Adds the row's entries in some structures only: for an index that is being built. `index_name` is what a violation reports.
  void index_row(const TablePtr& table, const std::vector<sql::Structure>& structures, std::span<const sql::Datum> row,
                 const std::string& index_name);

  /// The row of the last change expires at that time, a timestamptz. Nullopt: as the definition says.
  void set_expiry(std::optional<std::int64_t> time) { changes_.back().expires_at = time; }

  const WriteOptions& options() const { return options_; }
  /// Returns the tag of the bucket of its tables; of a unit without rows that of the home bucket.
  std::string_view tag() const {
    if (options_.tag) return *options_.tag;
    return tables_.empty() ? sql::home_tag() : tables_.front().encoder.table().tag();
  }
  /// Makes the unit a chunk of a journaled one.
  void set_journal(JournalStep step) { options_.journal = std::move(step); }

  // For chunks of a journaled unit whose rows exchange keys: first the rows of all chunks go, then they come again.
  void turn_updates_into_deletes();
  void turn_deletes_into_inserts();

  bool empty() const { return changes_.empty() && records_.empty(); }
  std::size_t size() const { return changes_.size(); }
  std::vector<sql::Oid> table_oids() const;
  /// Returns the buckets of its rows, and of their unique values that lie by value.
  std::set<int> buckets() const;
  /// Returns true if there are several. Then the unit is only verified, or its rows are not visible yet: execute() sends it bucket by bucket. With
  /// `tag` it is the part of a commit in one of them.
  bool spans_buckets() const { return buckets().size() > 1; }

  /// Returns true if, on a cluster, the commit of a transaction without locks may be the first to verify the rows: none of them yields to others,
  /// and they do not meet each other.
  bool may_wait_for_commit();
  /// One script call; more where an insert meets existing rows or leftovers of vanished ones, and where much is only verified and locked. After kApplied the unit is done, after
  /// anything else nothing has changed. Throws RowError 23505 for the first violation in the order of rows (its
  /// number: that of the change), and Redis's errors.
  asio::awaitable<WriteStatus> execute(RedisClient& client, ExecutionCounters* counters = nullptr);
  /// After kLocked.
  const LockConflict& blocker() const { return blocker_; }
  /// After kApplied: returns true if the insert with this ordinal yielded to an existing row.
  bool was_skipped(std::size_t ordinal) const { return changes_[ordinal].skipped; }
  /// After kApplied of a unit with a buffer: its changes become the transaction's.
  void absorb_into(RowBuffer& buffer) const;

 private:
  friend class WriteEncoding;
  friend class UnseenRows;

  enum class Kind : std::uint8_t { kInsert, kUpdate, kDelete, kIndex };
  /// The change of one row.
  struct Change {
    Kind kind;
    bool skip_if_exists = false, run_again_if_exists = false, skipped = false;
    bool revives = false;  // the insert of a row that the transaction has deleted
    std::uint32_t table = 0;
    std::uint32_t shape = 0;     // of the checks: which fields are compared
    std::uint32_t expected = 0;  // in words_: parallel to the shape's fields
    std::uint32_t conflict = 0;  // in conflicts_
    std::vector<std::size_t> increments = {};
    std::optional<std::int64_t> expires_at = {};  // a timestamptz
    RowImage old_image, new_image;
  };
  /// The columns of a table that are compared, and their hash fields.
  struct Shape {
    std::vector<bool> columns;
    std::vector<std::string> fields;
    std::vector<std::size_t> field_columns;  // position in table.columns; the marker of NULL follows its column
    std::size_t presence = 0;                // in `fields`
  };
  struct Table {
    std::shared_ptr<const RowEncoder> kept;
    const RowEncoder& encoder = *kept;
    std::string index_name;  // kIndex only
    std::vector<Shape> shapes;
    std::map<std::vector<bool>, std::uint32_t> shape_numbers;
    std::set<std::string, std::less<>> changed_members;
  };
  /// An unindexed row whose state a take-over of a unique value relies on.
  struct Guard {
    std::string key;
    std::vector<std::string> fields;
    std::vector<std::optional<std::string>> values;
  };
  struct Violation {
    std::size_t change;
    sql::Oid constraint;  // order of the checks within a row
    std::optional<std::size_t> structure;  // nullopt: the primary key
  };
  struct Encoded;

  std::uint32_t table_number(const TablePtr& table, const std::vector<sql::Structure>* structures, const std::string& index_name);
  std::uint32_t shape_number(Table& table, std::vector<bool> columns);
  void set_expected(Change& change, const std::vector<bool>& columns);
  void check_size() const;
  bool mark_changed(Table& table, const RowImage& image);
  void buffer_change(const TablePtr& table, std::span<const sql::Datum> old_row, const RowImage& old_image,
                     std::optional<std::span<const sql::Datum>> new_row, const std::vector<std::size_t>& increments = {});
  void buffer_insert(Change& change, std::span<const sql::Datum> row);
  bool is_taken_in_buffer(const Change& change) const;
  /// Looks for another owner of the value that the change gives in the structure of that number.
  bool is_taken_in_buffer(const Change& change, std::size_t structure) const;
  std::vector<sql::Datum> new_row(const Change& change, std::span<const std::size_t> positions) const;
  sql::SqlError violation_error(const Violation& violation) const;
  /// Throws a violation as an error of its row; for a deferrable constraint, which PostgreSQL checks after the last row, without a row.
  [[noreturn]] void throw_violation(const Violation& violation);
  bool is_expected(const Change& change, const Violation& violation) const;
  bool may_skip(const Change& change, const Violation& violation) const;
  Violation violation_of(std::size_t change, std::optional<std::size_t> structure) const;

  /// Deletes a row of one bucket. `new_row`: what it becomes in another part of `whole`; empty: nothing.
  bool remove_row(const TablePtr& table, std::span<const sql::Datum> old_row, const std::vector<bool>& relied, const TablePtr& whole,
                  std::span<const sql::Datum> new_row);
  std::size_t add_insert(const TablePtr& table, std::span<const sql::Datum> row, const InsertConflict& conflict);
  void note_foreign_keys(const TablePtr& table, std::span<const sql::Datum> before, std::span<const sql::Datum> after,
                         bool may_give_way = false);
  /// The row that was inserted last expires when the row would have whose key it had.
  void keep_expiry(const sql::TableDef& table, const RowImage& old_image);
  void set_expiry_of(std::size_t row, std::int64_t time);
  /// Reads when the rows expire that got another key. False: another session is changing one of them.
  asio::awaitable<bool> read_expiries(RedisClient& client, ExecutionCounters* counters);
  /// The state of rows that seem to refer to a deleted one: gone, existing, or unknown to the statement.
  enum class ReferenceState { kGone, kThere, kNew };
  asio::awaitable<ReferenceState> examine_references(RedisClient& client, const ForeignKeyDemands::Children& children,
                                                     ExecutionCounters* counters);
  struct Findings;
  /// Returns the parts of a unit that looks at several buckets, and is only verified or writes rows that are not visible yet; none: one call
  /// is enough.
  std::vector<UnitPart> parts() const;
  asio::awaitable<WriteStatus> execute_part(RedisClient& client, std::optional<UnitPart> part, ExecutionCounters* counters);
  /// Applies commits over several buckets that are decided, and may bring or take rows of any part of the table.
  asio::awaitable<void> finish_commits_of(RedisClient& client, const sql::TableDef& part) const;
  /// Applies commits over several buckets that are decided, and may bring rows which refer to those that go.
  asio::awaitable<void> finish_references(RedisClient& client) const;
  void note(WriteFinding finding, Findings& findings) const;
  asio::awaitable<WriteStatus> send(RedisClient& client, const WriteEncoding& encoding, Findings& findings, ExecutionCounters* counters);
  WriteStatus skip_or_throw(std::vector<Violation> violations);
  asio::awaitable<void> skip_existing(RedisClient& client, ExecutionCounters* counters);
  asio::awaitable<void> refuse_strange_keys(RedisClient& client, std::vector<std::size_t> changes, ExecutionCounters* counters);
  asio::awaitable<bool> reread_old_rows(RedisClient& client, std::span<const std::size_t> changes, ExecutionCounters* counters);
  asio::awaitable<std::vector<Violation>> examine_owners(RedisClient& client, const std::vector<TakenValue>& failures,
                                                         ExecutionCounters* counters);

  WriteOptions options_;
  Words words_;
  std::deque<Table> tables_;  // encoders are referred to
  std::map<std::pair<sql::Oid, std::string>, std::uint32_t> table_numbers_;
  std::vector<Change> changes_;
  std::vector<InsertConflict> conflicts_;
  std::vector<Guard> guards_;
  /// The effects of the changes on the transaction's buffer.
  struct Record {
    std::uint32_t table;
    std::optional<std::size_t> change;  // without effect if it was skipped; nullopt: nothing to check in Redis
    std::string member;
    BufferedRow row;
  };
  std::vector<Record> records_;
  /// An inserted row that keeps the time to live of a row in Redis.
  struct KeptExpiry {
    std::size_t row;  // of records_ with a buffer, else of changes_
    std::string key;  // in Redis
  };
  std::vector<KeptExpiry> kept_expiries_;
  LockConflict blocker_;
  std::pair<std::size_t, sql::Oid> violated_;  // the change and the constraint of the last error
  /// Members of sets of references whose rows are gone.
  std::map<std::string, std::set<std::string>> lost_references_;
  /// Owners that a unique value may have although no change of the unit releases it: (table, structure, field).
  std::map<std::tuple<std::uint32_t, std::size_t, std::string>, std::string> allowed_owners_;
};

}  // namespace redquel::executor
