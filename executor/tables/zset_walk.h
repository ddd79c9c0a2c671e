#pragma once

#include <memory>
#include <optional>
#include <string>

#include "executor/tables/read_scripts.h"
#include "executor/tables/source_operator.h"
#include "planner/access/ordered_source.h"
#include "sql/catalog/structure_kind.h"

namespace redquel::executor {

/// The key that has the rows whose column is NULL: a set, or the zset of a value.
struct NullRows {
  std::string key;
  const sql::ElementForm* form = &sql::kSetForm;
};

/// Walks a zset, or a range of it, in order and reads the rows of its members, chunk by chunk. Other clients change the zset between
/// chunks. The cursor is the last (score, member) seen, never an offset alone, so that rows that stay are neither skipped nor doubled.
///
/// If Redis can make the row keys itself, a chunk is SORT_RO … LIMIT rank count GET …, the fastest way to rows. The rank of a range of
/// scores is asked first (a range of few rows comes at once, by a script); each chunk also reads the current end. A chunk begins with the
/// last element of the one before, the first one with a count of the elements before it. If these have changed, a range by score or member
/// finds the place again. While the caller works on a chunk, Redis reads the next one. All other cases are a range, read with its rows by
/// one script a chunk.
///
/// If elements have all requested columns, no row is read: ZRANGE replaces SORT_RO and the script.
class ZsetWalk {
 public:
  struct Options {
    planner::OrderedSource source;
    bool by_score = false;          // else all scores are equal and members are in order
    ZsetRange range;                // low, high, by, descending
    bool whole = false;             // range is everything
    std::size_t offset = 0;         // elements to leave out at the beginning
    std::optional<std::size_t> wanted;  // about so many rows will be asked for
    std::optional<std::size_t> expected = {};  // … first: so many rows are likely to give those that are wanted
    bool is_open = false;           // … first: nodes above may leave rows out, and ask for more
    bool proves_order = false;      // scores order the rows exactly unless one is beyond 2^53: the first chunk looks
    std::optional<NullRows> null_rows;  // their number is read with the first chunk where that is one command
    bool atomic_if_small = false;   // a zset of at most set_members elements is read by one command
    bool index_only = false;        // see planner::OrderedScan
  };

  ZsetWalk(Options options, RowReader& reader, ExecutionContext& context, ExecutionCounters* counters);
  /// Goes on where `walk` is, for another reader of the same table.
  ZsetWalk(const ZsetWalk& walk, RowReader& reader);

  bool at_end() const { return at_end_; }
  /// Returns the number of `null_rows`, after the first chunk; nullopt: not known.
  std::optional<std::int64_t> null_count() const { return null_count_; }
  /// Returns false if a score is beyond 2^53: rows of one score may not be in order. Known after the first chunk, where that is to be proved.
  bool is_exact() const { return is_exact_; }
  /// Adds the next chunk's rows to the reader. Throws 40001 if a score beyond 2^53 comes after the first chunk.
  asio::awaitable<void> read_chunk();
  /// So many rows are likely to give what is still wanted: the next chunk has no more.
  void expect(std::size_t rows) { next_window_ = rows; }

 private:
  struct Element {
    std::string member, score;
  };
  /// The ranks of a range of scores: the first one at the start, the one behind the last as of the last chunk.
  struct Ranks {
    std::size_t begin, end;
  };

  std::size_t replies_per_element() const;
  std::size_t chunk_rows() const;
  /// Adds the commands that look for scores beyond 2^53, if they are still to be looked for; takes their answers, the last of the replies.
  void append_proof(CommandBatch& batch) const;
  void take_proof(const Replies& replies);
  void check_score(std::string_view score) const;
  /// The first rows of a range of scores, or its ranks where there are more than a few.
  asio::awaitable<void> begin_range();
  asio::awaitable<void> read_ranked();
  /// The commands of a chunk that is not the only one: its rows, and where it ends.
  CommandBatch chunk_commands() const;
  asio::awaitable<void> read_all_ranked();
  asio::awaitable<void> read_range();
  /// Reads from where the walk is by score or member, as all that follows.
  asio::awaitable<void> go_on_without_ranks();
  asio::awaitable<void> find_score();
  void append_ranked(CommandBatch& batch, std::size_t rank, std::size_t count) const;
  /// Add the ZCOUNTs of the elements before the range, and of those up to its end.
  void append_count_before(CommandBatch& batch) const;
  void append_count_to_end(CommandBatch& batch) const;
  /// Adds the rows of a chunk's elements from `first` on, before `end`.
  void add_ranked(std::span<const Reply> values, std::size_t first, std::size_t end);
  asio::awaitable<void> add_range(RepliesPtr replies, std::size_t skipped);
  /// The last of the elements, and how many tie with it; those before `first` were seen before.
  void note_last(const RangeRows& rows, std::size_t first);
  asio::awaitable<RepliesPtr> ask_range(std::size_t offset, std::size_t count);
  RangeRows rows_of(const Replies& replies) const;
  std::string_view row_member(std::string_view member) const;

  Options options_;
  RowReader& reader_;
  ExecutionContext& context_;
  ExecutionCounters* counters_;
  bool ranked_;
  std::size_t width_;                // replies for each element of a ranked chunk
  bool first_ = true;
  bool at_end_ = false;
  bool lost_ = false;                // ranks do not fit the cursor any more
  std::optional<Ranks> ranks_;       // of a range of scores, when they are known
  std::size_t rank_ = 0;             // of the next element; else the offset in the range
  std::size_t ties_ = 0;             // elements seen with the last one's score
  std::optional<Element> last_;
  std::unique_ptr<RedisRequest> coming_;  // the next chunk
  std::optional<std::int64_t> null_count_;
  std::size_t windows_ = 0;  // that were read
  std::optional<std::size_t> next_window_;
  bool is_exact_ = true;
};

/// Adds the commands that count the scores of a zset beyond 2^53, from which on doubles may stand for several integers.
void append_score_proof(CommandBatch& batch, std::string_view key);
/// Returns true if there are none, by the answers from `first` on.
bool is_proved(const Replies& replies, std::size_t first);

}  // namespace redquel::executor
