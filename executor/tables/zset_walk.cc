#include "executor/tables/zset_walk.h"
#include "executor/scripts/scripts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// A range with at most so many rows is read faster by one script than by a round trip for its ranks and a chunk.
constexpr std::size_t kFewRows = 100;
/// Elements cost Redis a fraction of what rows cost it.
constexpr std::size_t kElementsPerRow = 4;

/// The end of the elements that lie beyond an end of a range of scores.
std::string beyond(const std::string& bound) { return bound.starts_with('(') ? bound.substr(1) : "(" + bound; }

/// 2^53: the first integer whose double stands for another one, too.
constexpr double kInexactScore = 9007199254740992.0;

/// Each window is so many times as large as the one before.
constexpr std::size_t kWindowGrowth = 4;

std::size_t count_of(const Replies& replies, std::size_t index) {
  return static_cast<std::size_t>(std::max<std::int64_t>(0, replies.integer(index)));
}

}  // namespace

void append_score_proof(CommandBatch& batch, std::string_view key) {
  batch.add("ZCOUNT", key, "9007199254740992", "+inf");
  batch.add("ZCOUNT", key, "-inf", "-9007199254740992");
}

bool is_proved(const Replies& replies, std::size_t first) { return replies.integer(first) == 0 && replies.integer(first + 1) == 0; }

ZsetWalk::ZsetWalk(Options options, RowReader& reader, ExecutionContext& context, ExecutionCounters* counters)
    : options_(std::move(options)), reader_(reader), context_(context), counters_(counters), rank_(options_.offset) {
  // While a slot of a cluster moves, SORT_RO gives no values of rows that have moved, and does not say so.
  const bool has_rows = options_.index_only || (reader.keys().sort_get_is_safe() && reader.table().tag().empty());
  // A few rows of a range are read best by the script.
  const bool has_ranks = options_.whole || (options_.by_score && options_.offset == 0 && !options_.wanted);
  ranked_ = has_rows && has_ranks && options_.source.encoding != planner::OrderedSource::Encoding::kMember;
  options_.range.by = options_.by_score ? ZsetRange::By::kScore : ZsetRange::By::kLex;
  width_ = replies_per_element();
}

ZsetWalk::ZsetWalk(const ZsetWalk& walk, RowReader& reader)
    : options_(walk.options_),
      reader_(reader),
      context_(walk.context_),
      counters_(walk.counters_),
      ranked_(walk.ranked_),
      width_(replies_per_element()),
      first_(walk.first_),
      at_end_(walk.at_end_),
      lost_(walk.lost_),
      ranks_(walk.ranks_),
      rank_(walk.rank_),
      ties_(walk.ties_),
      last_(walk.last_),
      null_count_(walk.null_count_),
      windows_(walk.windows_),
      is_exact_(walk.is_exact_) {}

void ZsetWalk::append_proof(CommandBatch& batch) const {
  if (first_ && options_.proves_order) append_score_proof(batch, options_.source.key);
}

void ZsetWalk::take_proof(const Replies& replies) {
  if (first_ && options_.proves_order) is_exact_ = is_proved(replies, replies.size() - 2);
}

void ZsetWalk::check_score(std::string_view score) const {
  if (first_ || !options_.proves_order || std::abs(std::strtod(std::string(score).c_str(), nullptr)) < kInexactScore) return;
  throw sql::SqlError(sqlstate::kSerializationFailure, "could not serialize access due to concurrent inserts");
}

std::size_t ZsetWalk::replies_per_element() const {
  const sql::TableDef& table = reader_.table();
  const bool needs_score = std::ranges::any_of(reader_.read().numbers, [&](std::int16_t n) { return n > 0 && !table.in_primary_key(n); });
  return !options_.index_only ? 1 + reader_.fields().size() : needs_score ? 2 : 1;
}

std::size_t ZsetWalk::chunk_rows() const {
  std::size_t most = context_.limits.chunk_rows * (options_.index_only ? kElementsPerRow : 1);
  if (ranks_) most = std::min(most, std::max(ranks_->end, rank_ + 1) - rank_);
  if (!options_.wanted) return most;
  // Rows that a condition rejects, or that expired, must not cost a round trip each. A row costs a twentieth of a trip.
  std::size_t window = *options_.wanted;
  if (options_.expected) window = *options_.expected;
  else if (reader_.read().condition) window = 4 * window + 16;
  else if (options_.is_open) window += window / 4 + 8;
  for (std::size_t i = 0; i < windows_ && window < most; ++i) window *= kWindowGrowth;
  if (next_window_) window = std::min(window, *next_window_);
  return std::clamp<std::size_t>(window, 1, most);
}

asio::awaitable<void> ZsetWalk::read_chunk() {
  context_.note_read(reader_.table());
  if (!ranked_ || lost_) {
    co_await read_range();
  } else if (first_ && !options_.whole) {
    co_await begin_range();
  } else {
    co_await read_ranked();
  }
  first_ = false;
  ++windows_;
  next_window_.reset();
}

void ZsetWalk::append_ranked(CommandBatch& batch, std::size_t rank, std::size_t count) const {
  bool descending = options_.range.descending;
  if (options_.index_only) {
    batch.begin(3 + width_ + (descending ? 1 : 0)).arg("ZRANGE").arg(options_.source.key).arg(rank).arg(rank + count - 1);
    if (descending) batch.arg("REV");
    if (width_ == 2) batch.arg("WITHSCORES");
    return;
  }
  batch.begin(7 + (descending ? 1 : 0) + reader_.sort_get_words());
  batch.arg("SORT_RO").arg(options_.source.key).arg("BY").arg("nosort");
  if (descending) batch.arg("DESC");
  batch.arg("LIMIT").arg(rank).arg(count);
  reader_.append_sort_get(batch);
}

void ZsetWalk::append_count_before(CommandBatch& batch) const {
  const ZsetRange& range = options_.range;
  if (range.descending) batch.add("ZCOUNT", options_.source.key, beyond(range.high), "+inf");
  else batch.add("ZCOUNT", options_.source.key, "-inf", beyond(range.low));
}

void ZsetWalk::append_count_to_end(CommandBatch& batch) const {
  const ZsetRange& range = options_.range;
  if (range.descending) batch.add("ZCOUNT", options_.source.key, range.low, "+inf");
  else batch.add("ZCOUNT", options_.source.key, "-inf", range.high);
}

void ZsetWalk::add_ranked(std::span<const Reply> values, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    const std::span<const Reply> element = values.subspan(i * width_, width_);
    if (options_.index_only) reader_.add_entry(element[0].text, element.back());
    else reader_.add(element[0].text, element.subspan(1));
  }
}

asio::awaitable<void> ZsetWalk::begin_range() {
  if (options_.index_only) {
    const std::size_t count = chunk_rows();
    CommandBatch batch;
    options_.range.offset = 0;
    options_.range.count = count;
    append_range(batch, options_.source.key, options_.range);
    append_count_before(batch);
    append_proof(batch);
    RepliesPtr replies = co_await context_.ask_atomic(std::move(batch), counters_);
    take_proof(*replies);
    at_end_ = rows_of(*replies).size() < count;
    const std::size_t before = count_of(*replies, 1);
    ranks_ = Ranks{before, SIZE_MAX};
    rank_ = before + count;
    co_await add_range(std::move(replies), 0);
    if (!at_end_) coming_ = context_.start_bulk(chunk_commands(), counters_);
    co_return;
  }
  ZsetRange range = options_.range;
  range.count = kFewRows;
  CommandBatch batch;
  append_range_rows(batch, options_.source.key, range, false, row_arguments(reader_), kFewRows);
  append_proof(batch);
  RepliesPtr replies = co_await context_.ask_script(kRangeRowsScript, std::move(batch), counters_);
  take_proof(*replies);
  const std::optional<RangePlace> place = decode_range_place((*replies)[0]);
  if (!place) {
    at_end_ = true;
    co_await add_range(std::move(replies), 0);
    co_return;
  }
  rank_ = place->rank;
  ranks_ = Ranks{rank_, rank_ + place->size};
  co_await read_ranked();
}

asio::awaitable<void> ZsetWalk::read_ranked() {
  std::size_t overlap = last_ ? 1 : 0, count = chunk_rows();
  bool one_chunk = first_ && options_.wanted && !reader_.read().condition && *options_.wanted <= count;
  bool counts_nulls = first_ && options_.null_rows;
  RepliesPtr replies;
  try {
    if (one_chunk) {
      CommandBatch batch;
      append_ranked(batch, rank_ - overlap, count + overlap);
      if (counts_nulls) batch.add(options_.null_rows->form->count, options_.null_rows->key);
      append_proof(batch);
      replies = co_await context_.ask_atomic(std::move(batch), counters_);
      if (counts_nulls) null_count_ = replies->integer(1);
    } else if (options_.wanted) {  // no further chunk is read ahead
      replies = co_await context_.ask_atomic(chunk_commands(), counters_);
    } else {
      if (!coming_) coming_ = context_.start_bulk(chunk_commands(), counters_);
      const std::unique_ptr<RedisRequest> request = std::move(coming_);
      replies = co_await context_.replies_of(*request);
    }
  } catch (const sql::SqlError& error) {
    if (error.sqlstate() != sqlstate::kInsufficientPrivilege) throw;
  }
  if (!replies) {
    co_await go_on_without_ranks();
    co_return;
  }
  if (is_exact_) take_proof(*replies);
  auto values = replies->array(0);
  const std::size_t elements = values.size() / width_;
  bool is_lost = last_ && (elements == 0 || values[0].text != last_->member);
  std::size_t end = elements;
  if (ranks_) {
    is_lost = is_lost || (!last_ && count_of(*replies, 3) != ranks_->begin);
    ranks_->end = count_of(*replies, 2);
    const std::size_t from = rank_ - overlap;
    end = std::min(elements, std::max(ranks_->end, from) - from);
  }
  if (is_lost) {
    co_await go_on_without_ranks();
    co_return;
  }
  if (first_ && options_.atomic_if_small && !one_chunk && elements == count) {
    const std::size_t total = count_of(*replies, 2);
    if (total > count && total <= context_.limits.set_members) {
      co_await read_all_ranked();
      co_return;
    }
  }
  add_ranked(values, overlap, std::max(overlap, end));
  reader_.keep_alive(replies);
  rank_ += count;
  if (elements < count + overlap || (ranks_ && rank_ >= ranks_->end)) {
    at_end_ = true;
    co_return;
  }
  if (one_chunk) {  // the score is only needed if more is asked for after all and the place is lost
    last_ = Element{std::string(values[(elements - 1) * width_].text), ""};
    co_return;
  }
  auto last = replies->array(1);
  if (last.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of ZRANGE");
  last_ = Element{std::string(last[0].text), std::string(last[1].text)};
  check_score(last_->score);
  ties_ = 1;
  // If the number of wanted rows is known, no further chunk is read ahead.
  first_ = false;
  if (!options_.wanted) coming_ = context_.start_bulk(chunk_commands(), counters_);
}

asio::awaitable<void> ZsetWalk::go_on_without_ranks() {
  lost_ = true;
  ranks_.reset();
  if (!last_) rank_ = options_.offset;
  co_await read_range();
}

CommandBatch ZsetWalk::chunk_commands() const {
  std::size_t overlap = last_ ? 1 : 0, count = chunk_rows(), end = rank_ + count - 1;
  CommandBatch batch;
  append_ranked(batch, rank_ - overlap, count + overlap);
  // Asks for the end of the chunk, and the length of the whole, at the same moment.
  batch.begin(options_.range.descending ? 6 : 5).arg("ZRANGE").arg(options_.source.key).arg(end).arg(end);
  if (options_.range.descending) batch.arg("REV");
  batch.arg("WITHSCORES");
  if (ranks_) append_count_to_end(batch);
  if (ranks_ && !last_) append_count_before(batch);
  if (first_ && options_.atomic_if_small) batch.add("ZCARD", options_.source.key);
  append_proof(batch);
  return batch;
}

asio::awaitable<void> ZsetWalk::read_all_ranked() {
  CommandBatch batch;
  append_ranked(batch, options_.offset, context_.limits.set_members + 1);
  append_proof(batch);
  RepliesPtr replies = co_await context_.ask_bulk(std::move(batch), counters_);
  take_proof(*replies);
  const std::size_t elements = replies->array(0).size() / width_;
  add_ranked(replies->array(0), 0, elements);
  reader_.keep_alive(replies);
  if (elements <= context_.limits.set_members) {
    at_end_ = true;
    co_return;
  }
  throw sql::SqlError(sqlstate::kSerializationFailure, "could not serialize access due to concurrent inserts");
}

asio::awaitable<RepliesPtr> ZsetWalk::ask_range(std::size_t offset, std::size_t count) {
  ZsetRange range = options_.range;
  range.offset = offset;
  range.count = count;
  if (last_) {
    std::string from = options_.by_score ? last_->score : "(" + last_->member;
    (range.descending ? range.high : range.low) = std::move(from);
  }
  CommandBatch batch;
  if (options_.index_only) {
    append_range(batch, options_.source.key, range);
    append_proof(batch);
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters_);
    if (is_exact_) take_proof(*replies);
    co_return replies;
  }
  bool holds_value = options_.source.encoding == planner::OrderedSource::Encoding::kMember;
  append_range_rows(batch, options_.source.key, range, holds_value, row_arguments(reader_));
  append_proof(batch);
  RepliesPtr replies = co_await context_.ask_script(kRangeRowsScript, std::move(batch), counters_);
  if (is_exact_) take_proof(*replies);
  co_return replies;
}

RangeRows ZsetWalk::rows_of(const Replies& replies) const {
  if (options_.index_only) return RangeRows(replies.array(0), options_.range.by);
  return RangeRows(replies[0], reader_.fields().size());
}

asio::awaitable<void> ZsetWalk::find_score() {
  CommandBatch batch;
  batch.add("ZSCORE", options_.source.key, last_->member);
  RepliesPtr replies = co_await context_.ask(std::move(batch), counters_);
  auto score = replies->text(0);
  if (!score) throw sql::SqlError(sqlstate::kSerializationFailure, "could not serialize access due to concurrent delete");
  last_->score = std::string(*score);
  ties_ = 1;
}

asio::awaitable<void> ZsetWalk::read_range() {
  std::size_t count = chunk_rows();
  if (last_ && options_.by_score && last_->score.empty()) co_await find_score();
  if (!last_ || !options_.by_score) {  // members are unique: a lexical cursor needs no care for ties
    RepliesPtr replies = co_await ask_range(last_ ? 0 : rank_, count);
    at_end_ = rows_of(*replies).size() < count;
    co_await add_range(replies, 0);
    co_return;
  }
  // The element that closed the last chunk must stand where it stood among its ties.
  std::size_t before = std::max<std::size_t>(ties_, 1) - 1;
  RepliesPtr replies = co_await ask_range(before, count + 1);
  RangeRows rows = rows_of(*replies);
  if (rows.size() > 0 && rows.member(0) == last_->member && rows.score(0) == last_->score) {
    at_end_ = rows.size() < count + 1;
    co_await add_range(replies, 1);
    co_return;
  }
  // It does not: read its ties again and leave out those up to it.
  std::size_t again = ties_ + count;
  replies = co_await ask_range(0, again);
  rows = rows_of(*replies);
  std::size_t skipped = 0;
  auto is_seen = [&](std::size_t i) {
    if (rows.score(i) != last_->score) return false;
    int order = rows.member(i).compare(last_->member);
    return options_.range.descending ? order >= 0 : order <= 0;
  };
  while (skipped < rows.size() && is_seen(skipped)) ++skipped;
  ties_ = skipped;
  at_end_ = rows.size() < again;
  co_await add_range(replies, skipped);
}

std::string_view ZsetWalk::row_member(std::string_view member) const {
  bool holds_value = options_.source.encoding == planner::OrderedSource::Encoding::kMember;
  return holds_value ? sql::TableKeys::member_of_ordered(member) : member;
}

void ZsetWalk::note_last(const RangeRows& rows, std::size_t first) {
  const std::size_t end = rows.size();
  const std::string_view score = rows.score(end - 1);
  std::size_t ties = 1;
  while (ties < end - first && rows.score(end - 1 - ties) == score) ++ties;
  if (ties == end - first && last_ && last_->score == score) ties += ties_;
  ties_ = ties;
  last_ = Element{std::string(rows.member(end - 1)), std::string(score)};
  if (options_.by_score) check_score(score);
}

asio::awaitable<void> ZsetWalk::add_range(RepliesPtr replies, std::size_t skipped) {
  const RangeRows rows = rows_of(*replies);
  CommandBatch fetches;
  for (std::size_t i = skipped; i < rows.size(); ++i) {
    if (options_.index_only) {
      reader_.add_entry(rows.member(i), rows.value(i));
    } else if (rows.has_fields()) {
      reader_.add(row_member(rows.member(i)), rows.fields(i));
    } else {
      reader_.append_fetch(fetches, row_member(rows.member(i)));
    }
  }
  if (rows.size() > skipped) note_last(rows, skipped);
  reader_.keep_alive(replies);
  if (fetches.empty()) co_return;
  RepliesPtr fetched = co_await context_.ask_atomic(std::move(fetches), counters_);
  for (std::size_t i = skipped; i < rows.size(); ++i) {
    reader_.add(row_member(rows.member(i)), (*fetched)[i - skipped].children());
  }
  reader_.keep_alive(fetched);
}

}  // namespace redquel::executor
