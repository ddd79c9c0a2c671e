#include "executor/operators/external_sort.h"

#include <algorithm>

#include "executor/operators/batch_pieces.h"

namespace redquel::executor {

namespace {

/// Runs that are merged at once: each needs a block in memory.
constexpr std::size_t kMergeWidth = 32;

}  // namespace

/// Merges runs: a heap of their next rows. Of equal rows that of the earlier run comes first.
class ExternalSort::Merge {
 public:
  Merge(std::vector<SpilledRows> runs, const std::vector<SortDirection>& directions, std::span<const sql::Type> types,
        std::size_t key_count, std::optional<std::uint64_t> wanted)
      : directions_(directions), first_key_(types.size() - key_count), wanted_(wanted), out_(types) {
    for (SpilledRows& run : runs) {
      cursors_.push_back({std::move(run), {}, {}, 0});
      if (load(cursors_.back())) heap_.push_back(cursors_.size() - 1);
    }
    std::make_heap(heap_.begin(), heap_.end(), Later{*this});
  }

  sql::Batch next(std::size_t limit) {
    const Later later{*this};
    if (wanted_) limit = static_cast<std::size_t>(std::min<std::uint64_t>(limit, *wanted_ - given_));
    std::size_t count = 0;
    for (; count < limit && !heap_.empty() && out_.memory() < kStepBytes; ++count) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const std::size_t from = heap_.back();
      Cursor& cursor = cursors_[from];
      if (from != picked_from_) flush();
      picked_from_ = from;
      picked_.push_back(static_cast<RowNumber>(cursor.row++));
      if (cursor.row == cursor.batch.rows) {
        flush();
        if (!load(cursor)) {
          heap_.pop_back();
          continue;
        }
      }
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
    flush();
    given_ += count;
    return out_.take();
  }

 private:
  struct Cursor {
    SpilledRows rows;
    sql::Batch batch;
    KeyViews keys;
    std::size_t row;
  };

  /// Returns true if the row of cursor `a` comes after that of `b`.
  struct Later {
    const Merge& merge;
    bool operator()(std::size_t a, std::size_t b) const {
      const Cursor &first = merge.cursors_[a], &second = merge.cursors_[b];
      const int order = compare_sort_keys(merge.directions_, first.keys, first.row, second.keys, second.row);
      return order != 0 ? order > 0 : a > b;
    }
  };

  bool load(Cursor& cursor) {
    std::optional<sql::Batch> batch = cursor.rows.next();
    if (!batch) return false;
    cursor.batch = std::move(*batch);
    cursor.keys = views_of(std::span<const sql::ColumnPtr>(cursor.batch.columns).subspan(first_key_));
    cursor.row = 0;
    return true;
  }

  void flush() {
    if (picked_.empty()) return;
    out_.append(cursors_[picked_from_].batch.columns, picked_);
    picked_.clear();
  }

  std::vector<SortDirection> directions_;
  std::size_t first_key_;
  std::optional<std::uint64_t> wanted_;
  std::uint64_t given_ = 0;
  std::vector<Cursor> cursors_;
  std::vector<std::size_t> heap_;  // of cursors that have a row
  std::vector<RowNumber> picked_;  // rows of one cursor that go out next
  std::size_t picked_from_ = 0;
  RowStore out_;
};

ExternalSort::ExternalSort(std::vector<sql::Type> key_types, std::vector<SortDirection> directions,
                           std::vector<sql::Type> row_types, std::optional<std::uint64_t> wanted, MemoryLimit limit)
    : key_types_(std::move(key_types)),
      directions_(std::move(directions)),
      row_types_(std::move(row_types)),
      run_types_(row_types_),
      wanted_(wanted),
      limit_(limit) {
  run_types_.insert(run_types_.end(), key_types_.begin(), key_types_.end());
  start_buffer();
}

ExternalSort::~ExternalSort() = default;
ExternalSort::ExternalSort(ExternalSort&&) noexcept = default;
ExternalSort& ExternalSort::operator=(ExternalSort&&) noexcept = default;

void ExternalSort::start_buffer() {
  buffer_.emplace(key_types_, directions_, row_types_, wanted_);
  limit_.release();
}

void ExternalSort::finish_buffer() {
  buffer_->finish();
  rows_of_step_ = rows_of_step(buffer_->size(), buffer_->memory());
}

asio::awaitable<void> ExternalSort::spill(EventLoopTurn& turn) {
  finish_buffer();
  Run run{SpilledRows(std::make_shared<SpillFile>(limit_.temporary_space()), run_types_)};
  while (true) {
    const sql::Batch batch = buffer_->next_with_keys(rows_of_step_);
    if (batch.rows == 0) break;
    run.rows.append_all(batch);
    if (turn.is_over()) co_await turn.yield();
  }
  run.rows.finish();
  runs_.push_back(std::move(run));
  start_buffer();
  // Runs of a level are neighbours, the higher levels before them.
  while (runs_.size() >= kMergeWidth && runs_[runs_.size() - kMergeWidth].level == runs_.back().level) {
    co_await merge_last(kMergeWidth, turn);
  }
}

asio::awaitable<void> ExternalSort::merge_last(std::size_t count, EventLoopTurn& turn) {
  std::vector<SpilledRows> inputs;
  for (std::size_t i = runs_.size() - count; i < runs_.size(); ++i) inputs.push_back(std::move(runs_[i].rows));
  const unsigned level = runs_.back().level + 1;
  runs_.erase(runs_.end() - static_cast<std::ptrdiff_t>(count), runs_.end());
  Merge merge(std::move(inputs), directions_, run_types_, key_types_.size(), wanted_);
  Run merged{SpilledRows(std::make_shared<SpillFile>(limit_.temporary_space()), run_types_), level};
  while (true) {
    const sql::Batch batch = merge.next(sql::kBatchRows);
    if (batch.rows == 0) break;
    merged.rows.append_all(batch);
    if (turn.is_over()) co_await turn.yield();
  }
  merged.rows.finish();
  runs_.push_back(std::move(merged));
}

asio::awaitable<void> ExternalSort::finish(EventLoopTurn& turn) {
  if (runs_.empty()) {
    finish_buffer();
    co_return;
  }
  co_await spill(turn);
  while (runs_.size() > kMergeWidth) co_await merge_last(std::min(kMergeWidth, runs_.size()), turn);
  std::vector<SpilledRows> inputs;
  for (Run& run : runs_) inputs.push_back(std::move(run.rows));
  runs_.clear();
  merge_ = std::make_unique<Merge>(std::move(inputs), directions_, run_types_, key_types_.size(), wanted_);
}

sql::Batch ExternalSort::next(std::size_t limit) {
  if (!merge_) return buffer_->next(std::min(limit, rows_of_step_));
  sql::Batch batch = merge_->next(limit);
  batch.columns.resize(row_types_.size());
  return batch;
}

}  // namespace redquel::executor
