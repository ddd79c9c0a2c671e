#include "executor/tables/memory_fill.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>

#include "executor/memory/protocol_part.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/tables/memory_foreign.h"
#include "executor/tables/memory_pieces.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Bytes that a value takes on average, before anything is known of it.
constexpr std::size_t kGuessedValue = 6, kGuessedRow = 12;

/// Members that one command of a walk gives: about a millisecond of Redis.
constexpr std::size_t kWalkedMembers = 8000;

/// Rows that one MULTI of a fill reads: Redis keeps the commands in a processor's cache until EXEC runs them.
constexpr std::size_t kFilledRows = 250;

/// A walk along the zset of all rows.
class MemberWalk {
 public:
  explicit MemberWalk(const TableCopy& copy) : key_(copy.keys().all_rows()), by_score_(copy.table().has_hidden_key() || is_integer_key(copy)) {}

  /// Redis takes longer to print a score than to find a member: only the last member comes with its score.
  void append_next(CommandBatch& batch) const {
    if (!by_score_) {
      batch.add("ZRANGE", key_, start_, "+", "BYLEX", "LIMIT", "0", kWalkedMembers);
      return;
    }
    batch.add("ZRANGE", key_, start_, "+inf", "BYSCORE", "LIMIT", "0", kWalkedMembers);
    batch.add("ZRANGE", key_, start_, "+inf", "BYSCORE", "LIMIT", kWalkedMembers - 1, "1", "WITHSCORES");
  }

  /// Takes the members of a step. `first`: of its replies. False: so many of them share a score that the walk cannot go on.
  bool take(const Replies& replies, std::size_t first, std::vector<std::string>& members) {
    std::span<const Reply> found = replies.array(first);
    at_end_ = found.size() < kWalkedMembers;
    // A step by score begins with the members that have the score of the last one: mostly with that one alone. Others are read again.
    if (by_score_ && !last_.empty() && !found.empty() && found.front().text == last_) found = found.subspan(1);
    for (const Reply& member : found) members.emplace_back(member.text);
    if (at_end_) return true;
    if (found.empty() || found.back().text == last_) return false;
    last_ = members.back();
    if (!by_score_) {
      start_ = "(" + last_;
      return true;
    }
    const std::span<const Reply> end = replies.array(first + 1);
    if (end.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of ZRANGE");
    start_ = end[1].text;
    return true;
  }
  bool at_end() const { return at_end_; }

 private:
  static bool is_integer_key(const TableCopy& copy) {
    if (copy.keys().key_size() != 1) return false;
    const sql::Oid type = copy.keys().key_type(0).oid;
    return type == sql::oid::kInt2 || type == sql::oid::kInt4 || type == sql::oid::kInt8;
  }

  std::string key_;
  bool by_score_;
  std::string start_ = by_score_ ? "-inf" : "-";
  std::string last_;  // member of the step before
  bool at_end_ = false;
};

CommandBatch fenced_batch(const Keeper& keeper) {
  CommandBatch batch;
  batch.add("GET", keeper.fence_key());
  return batch;
}

bool is_same_database(const Replies& replies, const Keeper& keeper) { return replies.text(0) == keeper.fence_value() || is_left_out("fill"); }

/// Runs the steps; the rows are dropped where they fail.
template <class Steps>
asio::awaitable<std::string> keep_or_drop(TableCopy& copy, Steps steps) {
  std::string reason;
  try {
    co_await steps();
    co_return "";
  } catch (const NotNow& ended) {
    copy.rest(ended.reason, std::chrono::seconds(1));
    co_return ended.reason;
  } catch (const NotKept& ended) {
    reason = ended.reason;
  } catch (const sql::SqlError& error) {
    if (error.sqlstate() == sqlstate::kQueryCanceled) throw;
    reason = error.message();
  }
  copy.drop(reason, std::chrono::seconds(10));
  co_return reason;
}

void append_row(CommandBatch& batch, const TableCopy& copy, std::string_view member, const std::vector<std::string>& fields) {
  const std::string key = copy.keys().row_of_member(member);
  batch.add("HMGET", key, fields);
  batch.add("PEXPIRETIME", key);
}

/// The reads of a fill: several of them are on their way, so that Redis reads while redquel packs.
class RowReads {
 public:
  RowReads(const TableCopy& copy, const Keeper& keeper, const std::vector<std::string>& fields, ExecutionContext& context)
      : copy_(copy), keeper_(keeper), fields_(fields), context_(context), walk_(copy) {}

  /// Rows of some members: `replies` has an answer of HMGET and one of PEXPIRETIME for each, from the second on.
  struct Rows {
    std::vector<std::string> members;
    RepliesPtr replies;
  };

  /// Asks for the first members. `batch` begins with GET of the fence's key.
  void append_first(CommandBatch& batch) const { walk_.append_next(batch); }
  void take_members(const Replies& replies, std::size_t first) {
    is_walking_ = false;
    std::vector<std::string> members;
    if (!walk_.take(replies, first, members)) throw NotKept{"too many rows have one score"};
    waiting_.insert(waiting_.end(), std::make_move_iterator(members.begin()), std::make_move_iterator(members.end()));
  }

  /// Returns the next rows once Redis has given them; none at the end.
  asio::awaitable<std::optional<Rows>> next() {
    ask();
    if (asked_.empty()) co_return std::nullopt;
    Asked first = std::move(asked_.front());
    asked_.pop_front();
    const RepliesPtr replies = co_await context_.replies_of(*first.request);
    if (!is_same_database(*replies, keeper_)) throw NotKept{kSwappedDatabase};
    if (first.walks) take_members(*replies, 1 + 2 * first.members.size());
    ask();
    co_return Rows{std::move(first.members), replies};
  }

 private:
  struct Asked {
    std::vector<std::string> members;
    bool walks = false;  // the next members come last
    std::unique_ptr<RedisRequest> request;
  };

  static constexpr std::size_t kReadsOnTheirWay = 4;

  void ask() {
    while (asked_.size() < kReadsOnTheirWay && (!waiting_.empty() || (!walk_.at_end() && !is_walking_))) {
      Asked piece;
      CommandBatch batch = fenced_batch(keeper_);
      while (!waiting_.empty() && piece.members.size() < kFilledRows) {
        append_row(batch, copy_, waiting_.front(), fields_);
        piece.members.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
      }
      piece.walks = !walk_.at_end() && !is_walking_ && waiting_.size() < kWalkedMembers / 2;
      if (piece.walks) walk_.append_next(batch);
      is_walking_ = is_walking_ || piece.walks;
      piece.request = context_.start_bulk(std::move(batch), nullptr);
      asked_.push_back(std::move(piece));
    }
  }

  const TableCopy& copy_;
  const Keeper& keeper_;
  const std::vector<std::string>& fields_;
  ExecutionContext& context_;
  MemberWalk walk_;
  bool is_walking_ = true;  // members have been asked for
  std::deque<std::string> waiting_;
  std::deque<Asked> asked_;
};

asio::awaitable<void> fill(TableCopyPtr copy, std::vector<std::int16_t> numbers, TableMemory& memory, const Keeper& keeper, ExecutionContext& context) {
  copy->begin_fill(numbers);
  ChunkPacker packer(copy->table(), numbers);
  RowReads reads(*copy, keeper, packer.fields().fields, context);
  {
    CommandBatch batch = fenced_batch(keeper);
    batch.add("GET", copy->keys().changes());
    batch.add("ZCARD", copy->keys().all_rows());
    reads.append_first(batch);
    const std::unique_ptr<RedisRequest> request = context.start_bulk(std::move(batch), nullptr);
    const RepliesPtr replies = co_await context.replies_of(*request);
    if (!is_same_database(*replies, keeper)) throw NotKept{kSwappedDatabase};
    copy->set_counter(std::string(replies->text(1).value_or("")));
    const auto rows = static_cast<std::size_t>(replies->integer(2));
    copy->set_known_rows(rows);
    if (copy->table().cache != "on" && rows < memory.options().least_rows) throw NotKept{"the table is small"};
    if (!memory.make_room(copy, rows * (kGuessedRow + numbers.size() * kGuessedValue))) throw NotKept{"cache.memory has no room for it"};
    reads.take_members(*replies, 3);
  }
  copy->reserve(copy->known_rows());
  std::size_t bytes = 0;
  EventLoopTurn turn;
  while (const std::optional<RowReads::Rows> rows = co_await reads.next()) {
    for (std::size_t i = 0; i < rows->members.size(); ++i) {
      const std::span<const Reply> values = (*rows->replies)[1 + 2 * i].children();
      const bool has_row = values.size() >= packer.fields().fields.size() && values[packer.fields().presence].is_text();
      if (has_row) packer.add(rows->members[i], values, rows->replies->integer(2 + 2 * i));
      else copy->add_ghost(rows->members[i]);
      if (i % 256 == 0 && turn.is_over()) co_await turn.yield();
    }
    if (packer.rows() > kChunkRows - kPieceRows) co_await add_chunk(copy, packer, memory, bytes, turn);
  }
  co_await add_chunk(copy, packer, memory, bytes, turn);
  copy->publish();
  if (!memory.make_room(copy, copy->bytes())) throw NotKept{"cache.memory has no room for it"};
}

asio::awaitable<void> fill_more(TableCopyPtr copy, std::vector<std::int16_t> numbers, TableMemory& memory, const Keeper& keeper, ExecutionContext& context) {
  EventLoopTurn turn;
  co_await tidy(copy, turn);
  std::vector<std::int16_t> all = copy->columns();
  all.insert(all.end(), numbers.begin(), numbers.end());
  std::ranges::sort(all);
  std::vector<ChunkPtr> chunks;
  std::size_t bytes = copy->bytes();
  for (const TableVersion::Slice& slice : copy->slices()) {
    if (!slice.chunk) {
      chunks.emplace_back();
      continue;
    }
    ChunkPacker packer(copy->table(), numbers);
    const std::vector<std::string> fields = packer.fields().fields;
    const std::vector<Reply> none(fields.size());
    for (std::size_t first = 0; first < slice.chunk->rows; first += kPieceRows) {
      const std::size_t end = std::min(slice.chunk->rows, first + kPieceRows);
      CommandBatch batch = fenced_batch(keeper);
      std::vector<std::string> members;
      for (std::size_t row = first; row < end; ++row) {
        members.push_back(*slice.chunk->members->text(row));
        if (!slice.is_gone(row)) batch.add("HMGET", copy->keys().row_of_member(members.back()), fields);
      }
      const std::unique_ptr<RedisRequest> request = context.start_bulk(std::move(batch), nullptr);
      const RepliesPtr replies = co_await context.replies_of(*request);
      if (!is_same_database(*replies, keeper)) throw NotKept{kSwappedDatabase};
      std::size_t next = 1;
      for (std::size_t row = first; row < end; ++row) {
        const std::span<const Reply> values = slice.is_gone(row) ? std::span<const Reply>(none) : (*replies)[next++].children();
        packer.add(members[row - first], values.size() < fields.size() ? std::span<const Reply>(none) : values, 0);
      }
      if (turn.is_over()) co_await turn.yield();
    }
    const ChunkPtr more = co_await pack(packer, turn);
    auto chunk = std::make_shared<Chunk>(*slice.chunk);
    for (const auto& [number, column] : more->columns) chunk->columns[number] = column == more->members ? chunk->members : column;
    bytes += more->bytes() - more->members->bytes();
    if (!memory.make_room(copy, bytes)) throw NotKept{"cache.memory has no room for it"};
    chunks.push_back(std::move(chunk));
  }
  for (std::size_t slot = 0; slot < chunks.size(); ++slot) {
    if (chunks[slot]) copy->replace_chunk(slot, std::move(chunks[slot]));
  }
  copy->publish();
  copy->set_columns(std::move(all));  // once readers can have them
}

asio::awaitable<void> read_again(TableCopyPtr copy, const Keeper& keeper, ExecutionContext& context, std::size_t& read) {
  const std::vector<std::int16_t> numbers = copy->columns();
  const std::string members_key = copy->keys().all_rows();
  EventLoopTurn turn;
  co_await tidy(copy, turn);
  while (copy->is_filled()) {
    const std::vector<std::string> members = copy->take_changes(kPieceRows);
    if (members.empty()) co_return;
    ChunkPacker packer(copy->table(), numbers);
    CommandBatch batch = fenced_batch(keeper);
    for (const std::string& member : members) {
      append_row(batch, *copy, member, packer.fields().fields);
      batch.add("ZSCORE", members_key, member);
    }
    const std::unique_ptr<RedisRequest> request = context.start_bulk(std::move(batch), nullptr);
    const RepliesPtr replies = co_await context.replies_of(*request);
    if (!is_same_database(*replies, keeper)) throw NotKept{kSwappedDatabase};
    std::vector<TableCopy::Changed> changes;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::span<const Reply> values = (*replies)[1 + 3 * i].children();
      const bool has_key = values.size() >= packer.fields().fields.size() && values[packer.fields().presence].is_text();
      const bool is_member = (*replies)[3 + 3 * i].is_text();
      TableCopy::Changed change{members[i], is_member, is_member && has_key, !is_member && has_key};
      if (change.has_row) packer.add(change.member, values, replies->integer(2 + 3 * i));
      changes.push_back(std::move(change));
      if (turn.is_over()) co_await turn.yield();
    }
    std::vector<ChunkPtr> chunks;
    ChunkPtr packed = co_await pack(packer, turn);
    chunks.push_back(std::move(packed));
    co_await apply_changes(copy, changes, std::move(chunks), turn);
    read += members.size();
    co_await tidy(copy, turn);
  }
}

}  // namespace

asio::awaitable<std::string> fill_copy(TableCopyPtr copy, std::vector<std::int16_t> numbers, TableMemory& memory, const Keeper& keeper,
                                       ExecutionContext& context) {
  co_return co_await keep_or_drop(*copy, [&] {
    const sql::Overloaded fill_storage{
        [&](const sql::ManagedRows&) { return fill(copy, std::move(numbers), memory, keeper, context); },
        [&](const sql::MappedRows&) { return fill_foreign(copy, std::move(numbers), memory, keeper, context); },
    };
    return std::visit(fill_storage, copy->table().storage);
  });
}

asio::awaitable<std::string> fill_columns(TableCopyPtr copy, std::vector<std::int16_t> numbers, TableMemory& memory, const Keeper& keeper,
                                          ExecutionContext& context) {
  co_return co_await keep_or_drop(*copy, [&] { return fill_more(copy, std::move(numbers), memory, keeper, context); });
}

asio::awaitable<std::string> read_changes(TableCopyPtr copy, const Keeper& keeper, ExecutionContext& context, std::size_t& read) {
  co_return co_await keep_or_drop(*copy, [&] {
    const sql::Overloaded read_storage{
        [&](const sql::ManagedRows&) { return read_again(copy, keeper, context, read); },
        [&](const sql::MappedRows&) { return read_foreign_again(copy, keeper, context, read); },
    };
    return std::visit(read_storage, copy->table().storage);
  });
}

}  // namespace redquel::executor
