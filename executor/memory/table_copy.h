#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "executor/memory/keeper.h"
#include "executor/memory/member_set.h"
#include "executor/memory/position_map.h"
#include "executor/memory/table_version.h"
#include "executor/redis/reply.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/mapping.h"
#include "sql/catalog/row_fields.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

/// Returns what all keys of a foreign table begin with; empty: they have no common beginning, and cannot be observed.
std::string observed_prefix(const sql::Mapping& mapping);

/// Rows as Redis has given them, on their way into a chunk.
class ChunkPacker {
 public:
  /// `numbers`: the columns to keep.
  ChunkPacker(const sql::TableDef& table, std::span<const std::int16_t> numbers);

  const sql::RowFields& fields() const { return fields_; }
  std::size_t rows() const { return members_.size(); }
  /// Adds a row. `values`: the answers of `fields()`; `expiry`: of PEXPIRETIME. Throws SqlError if a text is not a value of its column.
  void add(std::string_view member, std::span<const Reply> values, std::int64_t expiry);
  /// Adds a row of a foreign table. `rows`: the columns to keep; `expiry`: of its key, 0: none.
  void add(std::string_view member, const sql::Batch& rows, std::size_t row, std::int64_t expiry);
  /// Adds row `row` of a chunk that has these columns.
  void add(const Chunk& chunk, std::size_t row);
  /// The rows so far. The packer is empty afterwards.
  ChunkPtr finish();
  /// Like finish(), in steps: packs the next column. Null: more columns follow.
  ChunkPtr finish_next_column();

 private:
  const sql::TableDef& table_;
  sql::TableKeys keys_;
  std::vector<std::int16_t> numbers_;
  sql::RowFields fields_;
  std::vector<std::optional<ColumnPacker>> columns_;  // none: the member itself
  bool needs_key_parts_ = false;
  ColumnPacker members_;
  std::vector<std::int64_t> expiries_;
  bool any_expires_ = false;
  std::shared_ptr<Chunk> finished_;  // with the columns that are packed already
  std::size_t next_column_ = 0;
};

/// The copy of one table under one definition. Shared by the threads: what observers and readers need is behind a mutex; what changes the
/// chunks belongs to the one coroutine that has the maintenance lock.
class TableCopy final : public KeyObserver, public std::enable_shared_from_this<TableCopy> {
 public:
  using Clock = std::chrono::steady_clock;
  explicit TableCopy(std::shared_ptr<const sql::TableDef> table);

  const sql::TableDef& table() const { return *table_; }
  const std::shared_ptr<const sql::TableDef>& definition() const { return table_; }
  const sql::TableKeys& keys() const { return keys_; }
  /// Returns the prefix that the keeper observes: `emp:`; the common beginning of a foreign table's keys.
  std::string prefix() const;
  FencedTable fenced() const;

  void key_changed(std::string_view key) override;
  void lost(std::string_view reason) override;

  // ---- for readers ----
  /// Returns whether the copy holds the columns now, or could after a fill: the columns that it lacks.
  std::vector<std::int16_t> missing(std::span<const std::int16_t> numbers) const;
  bool has_changes() const;
  /// The copy before a fence.
  struct Seen {
    TableVersionPtr version;
    std::uint64_t told = 0;  // changes of the zset so far
  };
  Seen seen() const;
  /// Takes what a fence has shown that began after `seen`. Returns the state of the table at the fence; null: rows must be read again, or
  /// all of them.
  TableVersionPtr judge(const FencedState& fenced, const Seen& seen);
  /// Returns the reason why the copy does not serve; empty: it may.
  std::string refusal() const;

  // ---- with the maintenance lock ----
  class Maintenance {
   public:
    explicit Maintenance(TableCopy& copy) : copy_(copy.shared_from_this()) {}
    ~Maintenance() { copy_->unlock(); }
    Maintenance(const Maintenance&) = delete;
    Maintenance& operator=(const Maintenance&) = delete;

   private:
    std::shared_ptr<TableCopy> copy_;
  };
  /// Waits until no other coroutine changes the copy.
  asio::awaitable<std::unique_ptr<Maintenance>> lock();

  bool is_filled() const;
  bool is_observed() const;
  void set_observed();
  /// Forgets all rows and begins a fill: changes from now on are noted.
  void begin_fill(std::vector<std::int16_t> numbers);
  /// The table's counter of changes as it was when the fill began.
  void set_counter(std::string counter);
  void add_chunk(ChunkPtr chunk);
  /// Like add_chunk(), in steps: adds a chunk, then enters its rows in pieces, first to last.
  std::size_t begin_chunk(ChunkPtr chunk);
  void place(std::size_t slot, std::size_t first, std::size_t end);
  void end_chunk(std::size_t slot);
  /// Makes room for the positions of so many rows.
  void reserve(std::size_t rows);
  /// A member of the zset that has no row.
  void add_ghost(std::string member);
  /// Makes the rows so far those of readers.
  void publish();
  /// The columns that the chunks have.
  std::vector<std::int16_t> columns() const;
  const std::vector<TableVersion::Slice>& slices() const { return working_; }
  /// Replaces a chunk by one with more columns.
  void replace_chunk(std::size_t slot, ChunkPtr chunk);
  void set_columns(std::vector<std::int16_t> numbers);

  /// Takes the keys that have changed as members, at most so many. They must be applied, or all is dropped.
  std::vector<std::string> take_changes(std::size_t most);
  /// A row as it is now. `is_member`: the zset has it; `row`: in the packer's rows, none: there is no such row.
  struct Changed {
    std::string member;
    bool is_member = false;
    bool has_row = false;
    bool is_stray = false;  // the row's key is there, but the zset does not have the member
  };
  /// Begins to put rows that were read again in the place of the older ones: chunks of them follow, then end_changes(). Interrupted, all is
  /// dropped.
  void begin_changes(const std::vector<Changed>& changes);
  /// Publishes the table with the changes; those with a row are in the chunks that were added.
  void end_changes(const std::vector<Changed>& changes);
  /// Packs small chunks together, and chunks with many gone rows anew: a piece of that work, for about a millisecond. False: nothing is left
  /// to do. Must be finished before rows change or columns are added.
  bool tidy();
  /// Keeps the rows, but no statement reads the copy for a while.
  void rest(std::string_view reason, std::chrono::milliseconds pause);
  /// Forgets all rows, from any thread.
  void evict();
  /// Forgets all rows. The next fill waits for `pause`.
  void drop(std::string_view reason, std::chrono::milliseconds pause = {});

  // ---- numbers for cached_tables() and the budget ----
  struct Statistics {
    std::uint64_t hits = 0, misses = 0, rounds = 0, rows_read_again = 0;
    std::size_t rows = 0, bytes = 0, changes = 0;
    std::vector<std::int16_t> columns;
    std::string state;
    double worth = 0;
  };
  Statistics statistics() const;
  void count_hit();
  void count_miss();
  /// Adds a scan to the worth; returns how many scans there have been lately.
  std::size_t note_scan(double rows);
  std::size_t bytes() const { return bytes_; }
  double worth() const;
  /// Adds rows that a scan of a part of the table has read from Redis, and forgets them with the next fill.
  void note_part(std::size_t rows);
  std::size_t part_rows() const { return part_rows_; }
  std::size_t known_rows() const { return known_rows_; }
  void set_known_rows(std::size_t rows) { known_rows_ = rows; }

 private:
  friend class Maintenance;
  void unlock();
  void lose(std::string_view reason);  // with the mutex
  /// Adds a changed key to `changes_` as its rows' member. False: nothing is kept any more.
  bool note_change(std::optional<std::string_view> member);
  std::optional<std::string> member_of_key(std::string_view key) const;
  void place_runs(std::size_t slot, std::size_t first, std::size_t end);
  void forget_runs(std::span<const std::size_t> slots);
  void mark_gone(std::uint32_t position);
  void forget(const std::string& member);
  bool begin_rewrite();
  bool is_at(std::uint32_t position, std::string_view member) const;
  std::string member_at(std::uint32_t position) const;
  std::size_t take_slot(ChunkPtr chunk);
  void clear_rows();
  double decayed_worth(Clock::time_point now) const;

  const std::shared_ptr<const sql::TableDef> table_;
  const sql::TableKeys keys_;
  const bool has_runs_;  // a key has many rows

  mutable std::mutex mutex_;
  MemberSet changes_;  // members of rows whose keys have changed
  bool observed_ = false;
  std::string lost_;               // why the rows are worthless
  std::vector<std::string> taken_;  // changes that are being read again
  bool filling_ = false;           // a fill has begun and is not published
  bool tracking_ = false;          // changes are noted
  std::uint64_t told_ = 0, explained_ = 0;
  bool doubts_halves_ = false;     // the zset has changed: `ghosts_` and `strays_` are to be read again
  std::string counter_;            // up to which changes of the zset are explained
  TableVersionPtr version_;        // null: not filled
  std::vector<std::int16_t> columns_;
  std::string reason_ = "not read yet";
  Clock::time_point not_before_;
  bool locked_ = false;
  std::list<std::function<void()>> waiters_;
  std::uint64_t hits_ = 0, misses_ = 0, rounds_ = 0, rows_read_again_ = 0;
  double worth_ = 0;
  Clock::time_point worth_at_ = Clock::now();
  std::size_t scans_ = 0;

  // Belongs to the lock's owner.
  std::vector<TableVersion::Slice> working_;
  struct Slot {
    std::shared_ptr<GoneRows> gone;  // that of `working_`; null: none, or readers have it
    std::size_t gone_rows = 0;
  };
  std::vector<Slot> slots_;            // parallel to `working_`
  std::vector<std::size_t> small_;     // slots of small chunks, larger ones first
  PositionMap positions_;
  /// Rows of one key of a foreign table, side by side in a chunk.
  struct Run {
    std::uint32_t first, rows;
  };
  std::unordered_map<std::string, std::vector<Run>> runs_;  // by key, where keys have many rows; else `positions_`
  // Half rows: another program has written the one half, and may be about to write the other. The zset's message does not name its members.
  std::unordered_set<std::string> ghosts_;  // members of the zset without a row
  std::unordered_set<std::string> strays_;  // rows that are no members
  /// Chunks that are being packed into one.
  struct Rewrite {
    Rewrite(const sql::TableDef& table, std::vector<std::int16_t> numbers, std::vector<std::size_t> old) : slots(std::move(old)), packer(table, numbers) {}
    std::vector<std::size_t> slots;
    ChunkPacker packer;
    std::size_t next_slot = 0, next_row = 0;  // to be packed
    ChunkPtr chunk;                           // once all are packed
    std::size_t slot = 0, placed = 0;         // its own, and rows that have their place in it
  };
  std::optional<Rewrite> rewrite_;
  std::size_t rows_ = 0;
  std::atomic<std::size_t> bytes_ = 0, known_rows_ = 0, part_rows_ = 0;
};
using TableCopyPtr = std::shared_ptr<TableCopy>;

}  // namespace redquel::executor
