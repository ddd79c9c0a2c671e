#include "executor/tables/chunk_reader.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "executor/memory/protocol_part.h"

namespace redquel::executor {

void ChunkReader::leave_out(const ScanKeyFilter& keys) {
  key_filters_.push_back(keys);
  if (!chunk_) return;
  for (const auto& [rows, next] : {std::pair(&rows_, &row_), std::pair(&unchecked_, &next_unchecked_)}) {
    rows->erase(rows->begin(), rows->begin() + static_cast<std::ptrdiff_t>(std::min(*next, rows->size())));
    *next = 0;
    key_filters_.back().apply(*chunk_, *rows);
  }
}

void ChunkReader::begin(const TableVersion::Slice& slice) {
  rows_.clear();
  unchecked_.clear();
  row_ = next_unchecked_ = 0;
  if (!slice.chunk || slice.chunk->rows == 0) return;
  chunk_ = slice.chunk;
  const auto may_have_keys = [&](const ScanKeyFilter& keys) { return keys.may_match(*chunk_); };
  if (!filter_.may_match(*chunk_) || (first_ && !first_->may_have(*chunk_)) || !std::ranges::all_of(key_filters_, may_have_keys)) {
    ++pruned_;
    return;
  }
  rows_.resize(chunk_->rows);
  std::iota(rows_.begin(), rows_.end(), 0);
  // A row lives to the end of its millisecond, as Redis has it.
  const auto has_expired = [&](std::uint32_t row) { return chunk_->expiries[row] != 0 && chunk_->expiries[row] < source_.milliseconds; };
  if (slice.gone) std::erase_if(rows_, [&](std::uint32_t row) { return slice.is_gone(row); });
  if (!chunk_->expiries.empty() && !is_left_out("expiry")) std::erase_if(rows_, has_expired);
  if (source_.changes) std::erase_if(rows_, [&](std::uint32_t row) { return source_.changes->contains(*chunk_->members->text(row)); });
  rows_seen_ += rows_.size();
  const bool is_checked = filter_.filter(chunk_, rows_);
  for (ScanKeyFilter& keys : key_filters_) keys.apply(*chunk_, rows_);
  if (first_) first_->prune(*chunk_, rows_);
  if (!is_checked) std::swap(rows_, unchecked_);
  else if (first_) first_->take(*chunk_, rows_);
}

std::optional<sql::Batch> ChunkReader::read() {
  if (row_ == rows_.size()) check_rows();
  const std::size_t count = std::min(sql::kBatchRows, rows_.size() - row_);
  if (count == 0) return std::nullopt;
  const sql::Selection rows = selection(count);
  row_ += count;
  sql::Batch batch;
  batch.rows = count;
  for (const std::int16_t number : scan_.read.numbers) {
    batch.columns.push_back(std::make_shared<const sql::Column>(sql::Column::selected(chunk_->columns.at(number), rows)));
  }
  return batch;
}

sql::Selection ChunkReader::selection(std::size_t count) const {
  // Whole chunks need no selections of their own.
  static const std::vector<sql::Selection> batches = [] {
    std::vector<sql::Selection> all;
    for (std::size_t first = 0; first < kChunkRows; first += sql::kBatchRows) {
      std::vector<std::uint32_t> rows(sql::kBatchRows);
      std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first));
      all.push_back(std::make_shared<const std::vector<std::uint32_t>>(std::move(rows)));
    }
    return all;
  }();
  if (rows_.size() == chunk_->rows && count == sql::kBatchRows) return batches[row_ / sql::kBatchRows];
  const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(row_);
  return std::make_shared<const std::vector<std::uint32_t>>(first, first + static_cast<std::ptrdiff_t>(count));
}

void ChunkReader::check_rows() {
  constexpr std::size_t kCheckedRows = 4 * sql::kBatchRows;
  const std::size_t count = std::min(kCheckedRows, unchecked_.size() - next_unchecked_);
  if (count == 0) return;
  const auto first = unchecked_.begin() + static_cast<std::ptrdiff_t>(next_unchecked_);
  next_unchecked_ += count;
  rows_ = filter_.evaluate(chunk_, {first, count});
  row_ = 0;
  if (first_) first_->take(*chunk_, rows_);
}

}  // namespace redquel::executor
