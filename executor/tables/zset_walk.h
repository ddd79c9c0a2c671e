#pragma once

#include <memory>
#include <optional>
#include <string>

#include "executor/tables/read_scripts.h"
#include "executor/tables/source_operator.h"
#include "planner/access/ordered_source.h"

namespace redquel::executor {

/// Walks a zset, or a range of it, in order and reads the rows of its members, chunk by chunk. Between chunks other clients change
/// the zset: the cursor is the last (score, member) seen, never an offset alone, so that nothing that stays is skipped or doubled.
///
/// Whole zsets of tables whose row keys Redis can make itself are read by SORT_RO … LIMIT offset count GET …, the fastest way to
/// rows; the chunk begins with the last element of the one before, and where it does not, a range by score or member finds the place
/// again. While the caller works on a chunk, Redis reads the next one. Everything else is a range, read with its rows by one script a chunk.
class ZsetWalk {
 public:
  struct Options {
    planner::OrderedSource source;
    bool by_score = false;          // else all scores are equal and members are in order
    ZsetRange range;                // low, high, by, descending
    bool whole = false;             // range is everything
    std::size_t offset = 0;         // elements to leave out at the beginning
    std::optional<std::size_t> wanted;  // about so many rows will be asked for
    std::optional<std::string> null_set;  // its cardinality is read with the first chunk where that is one command
    bool atomic_if_small = false;   // a zset of at most set_members elements is read by one command
  };

  ZsetWalk(Options options, RowReader& reader, ExecutionContext& context, ExecutionCounters* counters);

  bool at_end() const { return at_end_; }
  /// Of `null_set`, after the first chunk; nullopt: not known.
  std::optional<std::int64_t> null_count() const { return null_count_; }
  /// Adds the next chunk's rows to the reader.
  asio::awaitable<void> read_chunk();

 private:
  struct Element {
    std::string member, score;
  };

  std::size_t chunk_rows() const;
  asio::awaitable<void> read_sorted();
  /// The commands of a chunk that is not the only one: its rows, and where it ends.
  CommandBatch chunk_commands() const;
  asio::awaitable<void> read_all_sorted();
  asio::awaitable<void> read_range();
  asio::awaitable<void> find_score();
  void append_sort(CommandBatch& batch, std::size_t offset, std::size_t count) const;
  /// Adds the rows of a SORT_RO reply, from the element `first` on.
  std::size_t add_sorted(std::span<const Reply> values, std::size_t first);
  asio::awaitable<void> add_range(RepliesPtr replies, std::size_t skipped);
  asio::awaitable<RepliesPtr> ask_range(std::size_t offset, std::size_t count);
  RangeRows rows_of(const Replies& replies) const;
  std::string_view row_member(std::string_view member) const;

  Options options_;
  RowReader& reader_;
  ExecutionContext& context_;
  ExecutionCounters* counters_;
  bool sorts_;
  bool first_ = true;
  bool at_end_ = false;
  bool lost_ = false;                // the offset does not fit the cursor any more
  std::size_t offset_ = 0;           // of the next element, for SORT_RO
  std::size_t ties_ = 0;             // elements seen with the last one's score
  std::optional<Element> last_;
  std::unique_ptr<RedisRequest> coming_;  // the next chunk
  std::optional<std::int64_t> null_count_;
};

}  // namespace redquel::executor
