#include "executor/operators/sort_buffer.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace redquel::executor {

namespace {

/// Rows of a run: about a millisecond to sort. Fewer where the keys are compared, too.
constexpr std::size_t kRunRows = 8192, kComparedRunRows = 2048;
/// Above so many wanted rows a whole sort is no slower.
constexpr std::uint64_t kMostTopRows = 16384;
/// Rows beyond the wanted ones that wait for the next cut.
constexpr std::size_t kTopSlack = 4096;

}  // namespace

int compare_sort_keys(std::span<const SortDirection> directions, const KeyViews& a, std::size_t row_a,
                      const KeyViews& b, std::size_t row_b, std::size_t first) {
  for (std::size_t i = first; i < directions.size(); ++i) {
    const bool null_a = a[i].is_null(row_a), null_b = b[i].is_null(row_b);
    if (null_a && null_b) continue;
    if (null_a || null_b) return null_a == directions[i].nulls_first ? -1 : 1;
    const int order = compare_values(a[i], row_a, b[i], row_b);
    if (order != 0) return directions[i].descending ? -order : order;
  }
  return 0;
}

SortBuffer::SortBuffer(std::vector<sql::Type> key_types, std::vector<SortDirection> directions,
                       std::vector<sql::Type> row_types, std::optional<std::uint64_t> wanted)
    : directions_(std::move(directions)),
      wanted_(wanted),
      is_top_(wanted && *wanted <= kMostTopRows),
      bits_exact_(!key_types.empty() && order_bits_are_exact(KeyView::kind_of(key_types[0]))),
      compares_keys_(!(key_types.size() == 1 && bits_exact_)),
      keys_(key_types),
      rows_(row_types) {
  assert(directions_.size() == key_types.size() && !key_types.empty());
}

SortBuffer::Entry SortBuffer::entry_of(const KeyView& first_key, std::size_t batch_row, RowNumber row) const {
  const SortDirection& direction = directions_[0];
  if (first_key.is_null(batch_row)) return {0, row, direction.nulls_first ? 0U : 2U};
  const std::uint64_t bits = order_bits(first_key, batch_row);
  return {direction.descending ? ~bits : bits, row, 1};
}

bool SortBuffer::is_before(const Entry& a, const Entry& b) const {
  if (a.rank != b.rank) return a.rank < b.rank;
  if (a.bits != b.bits) return a.bits < b.bits;
  if (compares_keys_) {
    const int order = compare_keys(key_views_, a.row, key_views_, b.row);
    if (order != 0) return order < 0;
  }
  return a.row < b.row;
}

void SortBuffer::refresh_views() {
  key_views_.clear();
  if (!compares_keys_) return;
  for (const sql::Column& column : keys_.columns()) key_views_.emplace_back(column);
}

void SortBuffer::add(std::span<const sql::ColumnPtr> keys, std::span<const sql::ColumnPtr> columns,
                     std::span<const RowNumber> rows) {
  const KeyViews views = views_of(keys);
  std::vector<RowNumber> kept;
  if (worst_) {
    drop_beyond_worst(views, rows, kept);
    rows = kept;
  }
  if (rows.empty()) return;
  for (const RowNumber row : rows) {
    entries_.push_back(entry_of(views[0], row, static_cast<RowNumber>(entries_.size())));
  }
  keys_.append(keys, rows);
  rows_.append(columns, rows);
  refresh_views();
  if (is_top_) {
    if (entries_.size() >= 2 * *wanted_ + kTopSlack) keep_best();
  } else {
    const std::size_t run_rows = compares_keys_ ? kComparedRunRows : kRunRows;
    while (entries_.size() - sorted_ >= run_rows) sort_run(sorted_, sorted_ + run_rows);
  }
}

void SortBuffer::drop_beyond_worst(const KeyViews& views, std::span<const RowNumber> rows,
                                   std::vector<RowNumber>& kept) const {
  kept.reserve(rows.size());
  for (const RowNumber row : rows) {
    const Entry entry = entry_of(views[0], row, 0);
    bool before = false;  // a row that equals the worst comes after it
    if (entry.rank != worst_->rank) {
      before = entry.rank < worst_->rank;
    } else if (entry.bits != worst_->bits) {
      before = entry.bits < worst_->bits;
    } else if (compares_keys_) {
      before = compare_keys(views, row, key_views_, worst_->row) < 0;
    }
    if (before) kept.push_back(row);
  }
}

void SortBuffer::keep_best() {
  const auto wanted = static_cast<std::ptrdiff_t>(*wanted_);
  if (wanted == 0) {
    entries_.clear();
  } else if (entries_.size() > *wanted_) {
    std::nth_element(entries_.begin(), entries_.begin() + (wanted - 1), entries_.end(),
                     [this](const Entry& a, const Entry& b) { return is_before(a, b); });
    entries_.resize(*wanted_);
  }
  const std::size_t worst = entries_.empty() ? 0 : entries_.back().row;
  // In the order they were added, so that equal rows stay in it.
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.row < b.row; });
  std::vector<RowNumber> rows;
  rows.reserve(entries_.size());
  for (Entry& entry : entries_) {
    const bool is_worst = entry.row == worst;
    rows.push_back(entry.row);
    entry.row = static_cast<RowNumber>(rows.size() - 1);
    if (is_worst) worst_ = entry;
  }
  keys_.keep(rows);
  rows_.keep(rows);
  refresh_views();
}

void SortBuffer::sort_run(std::size_t begin, std::size_t end) {
  const auto first = entries_.begin();
  std::sort(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end),
            [this](const Entry& a, const Entry& b) { return is_before(a, b); });
  runs_.push_back({begin, end});
  sorted_ = end;
}

void SortBuffer::finish() {
  if (is_top_ && entries_.size() > *wanted_) keep_best();
  rows_.finish();
  if (sorted_ < entries_.size()) sort_run(sorted_, entries_.size());
  std::make_heap(runs_.begin(), runs_.end(),
                 [this](const Run& a, const Run& b) { return is_before(entries_[b.next], entries_[a.next]); });
}

sql::Batch SortBuffer::next_with_keys(std::size_t limit) {
  const std::vector<RowNumber> rows = next_rows(limit);
  sql::Batch batch = rows_.gather(rows);
  sql::Batch keys = keys_.gather(rows);
  std::move(keys.columns.begin(), keys.columns.end(), std::back_inserter(batch.columns));
  return batch;
}

std::vector<RowNumber> SortBuffer::next_rows(std::size_t limit) {
  if (wanted_) limit = static_cast<std::size_t>(std::min<std::uint64_t>(limit, *wanted_ - given_));
  std::vector<RowNumber> rows;
  rows.reserve(limit);
  const auto later = [this](const Run& a, const Run& b) { return is_before(entries_[b.next], entries_[a.next]); };
  while (rows.size() < limit && !runs_.empty()) {
    if (runs_.size() == 1) {
      Run& run = runs_.front();
      while (rows.size() < limit && run.next < run.end) rows.push_back(entries_[run.next++].row);
      if (run.next == run.end) runs_.clear();
      continue;
    }
    std::pop_heap(runs_.begin(), runs_.end(), later);
    Run& run = runs_.back();
    rows.push_back(entries_[run.next++].row);
    if (run.next == run.end) {
      runs_.pop_back();
    } else {
      std::push_heap(runs_.begin(), runs_.end(), later);
    }
  }
  given_ += rows.size();
  return rows;
}

}  // namespace redquel::executor
