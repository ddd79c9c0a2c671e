#include "executor/tables/zset_walk.h"

#include <algorithm>

namespace redquel::executor {

ZsetWalk::ZsetWalk(Options options, RowReader& reader, ExecutionContext& context, ExecutionCounters* counters)
    : options_(std::move(options)), reader_(reader), context_(context), counters_(counters), offset_(options_.offset) {
  sorts_ = options_.whole && options_.source.encoding != planner::OrderedSource::Encoding::kMember && reader.keys().sort_get_is_safe();
  options_.range.by = options_.by_score ? ZsetRange::By::kScore : ZsetRange::By::kLex;
}

std::size_t ZsetWalk::chunk_rows() const {
  std::size_t most = context_.limits.chunk_rows;
  if (!options_.wanted) return most;
  // What a condition rejects, or what expired, must not cost a round trip each.
  std::size_t slack = reader_.read().condition ? 100 : 0;
  return std::clamp<std::size_t>(*options_.wanted + slack, 1, most);
}

asio::awaitable<void> ZsetWalk::read_chunk() {
  context_.note_read(reader_.table());
  if (sorts_ && !lost_) {
    co_await read_sorted();
  } else {
    co_await read_range();
  }
  first_ = false;
}

void ZsetWalk::append_sort(CommandBatch& batch, std::size_t offset, std::size_t count) const {
  bool descending = options_.range.descending;
  batch.begin(7 + (descending ? 1 : 0) + reader_.sort_get_words());
  batch.arg("SORT_RO").arg(options_.source.key).arg("BY").arg("nosort");
  if (descending) batch.arg("DESC");
  batch.arg("LIMIT").arg(offset).arg(count);
  reader_.append_sort_get(batch);
}

std::size_t ZsetWalk::add_sorted(std::span<const Reply> values, std::size_t first) {
  std::size_t width = 1 + reader_.fields().size(), elements = values.size() / width;
  for (std::size_t i = first; i < elements; ++i) {
    reader_.add(values[i * width].text, values.subspan(i * width + 1, width - 1));
  }
  return elements;
}

asio::awaitable<void> ZsetWalk::read_sorted() {
  std::size_t overlap = last_ ? 1 : 0, count = chunk_rows();
  bool one_chunk = first_ && options_.wanted && !reader_.read().condition && *options_.wanted <= count;
  bool counts_nulls = first_ && options_.null_set;
  RepliesPtr replies;
  if (one_chunk) {
    CommandBatch batch;
    append_sort(batch, offset_ - overlap, count + overlap);
    if (counts_nulls) batch.add("SCARD", *options_.null_set);
    replies = co_await context_.ask_atomic(std::move(batch), counters_);
    if (counts_nulls) null_count_ = replies->integer(1);
  } else {
    if (!coming_) coming_ = context_.start_bulk(chunk_commands(), counters_);
    const std::unique_ptr<RedisRequest> request = std::move(coming_);
    replies = co_await context_.replies_of(*request);
  }
  auto values = replies->array(0);
  std::size_t width = 1 + reader_.fields().size();
  if (last_ && (values.size() < width || values[0].text != last_->member)) {
    lost_ = true;
    co_await read_range();
    co_return;
  }
  if (first_ && options_.atomic_if_small && !one_chunk && values.size() / width == count) {
    std::size_t total = static_cast<std::size_t>(std::max<std::int64_t>(0, replies->integer(2)));
    if (total > count && total <= context_.limits.set_members) {
      co_await read_all_sorted();
      co_return;
    }
  }
  std::size_t elements = add_sorted(values, overlap);
  reader_.keep_alive(replies);
  if (elements < count + overlap) {
    at_end_ = true;
    co_return;
  }
  offset_ += count;
  if (one_chunk) {  // the score is only needed if more is asked for after all and the place is lost
    last_ = Element{std::string(values[(elements - 1) * width].text), ""};
    co_return;
  }
  auto end = replies->array(1);
  if (end.size() != 2) throw sql::SqlError("XX000", "unexpected reply of ZRANGE");
  last_ = Element{std::string(end[0].text), std::string(end[1].text)};
  ties_ = 1;
  // Who knows how many rows are wanted gets no more.
  first_ = false;
  if (!options_.wanted) coming_ = context_.start_bulk(chunk_commands(), counters_);
}

CommandBatch ZsetWalk::chunk_commands() const {
  std::size_t overlap = last_ ? 1 : 0, count = chunk_rows(), end = offset_ + count - 1;
  CommandBatch batch;
  append_sort(batch, offset_ - overlap, count + overlap);
  // Where the chunk ends, and how long the whole is, as of the same moment.
  batch.begin(options_.range.descending ? 6 : 5).arg("ZRANGE").arg(options_.source.key).arg(end).arg(end);
  if (options_.range.descending) batch.arg("REV");
  batch.arg("WITHSCORES");
  if (first_ && options_.atomic_if_small) batch.add("ZCARD", options_.source.key);
  return batch;
}

asio::awaitable<void> ZsetWalk::read_all_sorted() {
  CommandBatch batch;
  append_sort(batch, options_.offset, context_.limits.set_members + 1);
  RepliesPtr replies = co_await context_.ask_bulk(std::move(batch), false, counters_);
  std::size_t elements = add_sorted(replies->array(0), 0);
  reader_.keep_alive(replies);
  if (elements <= context_.limits.set_members) {
    at_end_ = true;
    co_return;
  }
  throw sql::SqlError("40001", "could not serialize access due to concurrent inserts");
}

asio::awaitable<RepliesPtr> ZsetWalk::ask_range(std::size_t offset, std::size_t count) {
  ZsetRange range = options_.range;
  range.offset = offset;
  range.count = count;
  if (last_) {
    std::string from = options_.by_score ? last_->score : "(" + last_->member;
    (range.descending ? range.high : range.low) = std::move(from);
  }
  bool holds_value = options_.source.encoding == planner::OrderedSource::Encoding::kMember;
  CommandBatch batch;
  append_range_rows(batch, options_.source.key, range, holds_value, row_arguments(reader_));
  co_return co_await context_.ask_script(ReadScripts::range_rows(), std::move(batch), counters_);
}

RangeRows ZsetWalk::rows_of(const Replies& replies) const { return {replies[0], reader_.fields().size()}; }

asio::awaitable<void> ZsetWalk::find_score() {
  CommandBatch batch;
  batch.add("ZSCORE", options_.source.key, last_->member);
  RepliesPtr replies = co_await context_.ask(std::move(batch), counters_);
  auto score = replies->text(0);
  if (!score) throw sql::SqlError("40001", "could not serialize access due to concurrent delete");
  last_->score = std::string(*score);
  ties_ = 1;
}

asio::awaitable<void> ZsetWalk::read_range() {
  std::size_t count = chunk_rows();
  if (last_ && options_.by_score && last_->score.empty()) co_await find_score();
  if (!last_ || !options_.by_score) {  // members are unique: a lexical cursor needs no care for ties
    RepliesPtr replies = co_await ask_range(last_ ? 0 : offset_, count);
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

asio::awaitable<void> ZsetWalk::add_range(RepliesPtr replies, std::size_t skipped) {
  const RangeRows rows = rows_of(*replies);
  CommandBatch fetches;
  for (std::size_t i = skipped; i < rows.size(); ++i) {
    if (rows.has_fields()) {
      reader_.add(row_member(rows.member(i)), rows.fields(i));
    } else {
      reader_.append_fetch(fetches, row_member(rows.member(i)));
    }
    bool tie = last_ && last_->score == rows.score(i);
    ties_ = tie ? ties_ + 1 : 1;
    if (!tie || i + 1 == rows.size()) last_ = Element{std::string(rows.member(i)), std::string(rows.score(i))};
  }
  reader_.keep_alive(replies);
  if (fetches.empty()) co_return;
  RepliesPtr fetched = co_await context_.ask_atomic(std::move(fetches), counters_);
  for (std::size_t i = skipped; i < rows.size(); ++i) {
    reader_.add(row_member(rows.member(i)), (*fetched)[i - skipped].children());
  }
  reader_.keep_alive(fetched);
}

}  // namespace redquel::executor
