#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "executor/runtime/row_store.h"
#include "sql/column.h"

namespace redquel::executor {

/// Bytes that an operator computes or copies in one step: some tenths of a millisecond.
inline constexpr std::size_t kStepBytes = std::size_t{256} << 10;

/// Returns the rows of a batch that takes about so many bytes; at most kBatchRows. `rows` of its kind take `bytes`.
inline std::size_t rows_of_step(std::size_t rows, std::size_t bytes) {
  return bytes <= kStepBytes ? sql::kBatchRows : std::clamp<std::size_t>(rows * kStepBytes / bytes, 1, sql::kBatchRows);
}

/// Divides batches into pieces, so that the values computed of one piece take few bytes: an operator's step stays short, and its memory small,
/// however wide the rows that it makes. Begins with small pieces, and follows the width of the rows.
class BatchPieces {
 public:
  /// Takes a batch. The pieces of the one before have been given.
  void begin(sql::Batch batch) {
    batch_ = std::move(batch);
    next_ = 0;
  }
  bool is_empty() const { return next_ == batch_.rows; }
  /// Returns the first row of the next piece.
  std::size_t position() const { return next_; }
  sql::Batch next() {
    given_ = std::min(rows_, batch_.rows - next_);
    const std::size_t first = std::exchange(next_, next_ + given_);
    if (given_ == batch_.rows) return batch_;
    return batch_.gather(row_range(first, given_));
  }
  /// Notes the bytes of the values that were computed of the last piece.
  void note(std::size_t bytes) {
    if (bytes > kStepBytes) rows_ = std::max<std::size_t>(1, given_ * kStepBytes / bytes);
    else if (given_ == rows_ && bytes * kGrowth <= kStepBytes) rows_ = std::min(rows_ * kGrowth, kMostRows);
  }

 private:
  static constexpr std::size_t kFirstRows = 16, kGrowth = 4, kMostRows = std::size_t{1} << 20;

  sql::Batch batch_;
  std::size_t next_ = 0, given_ = 0, rows_ = kFirstRows;
};

}  // namespace redquel::executor
