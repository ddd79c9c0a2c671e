#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/context/operator.h"
#include "executor/runtime/row_store.h"
#include "executor/runtime/temporary_file.h"

namespace redquel::executor {

/// Rows that an operator has no room for: appended, then read in the same order, block by block. Several may share a
/// file. Constant memory: one block.
class SpilledRows {
 public:
  SpilledRows(std::shared_ptr<SpillFile> file, std::span<const sql::Type> types)
      : file_(std::move(file)), types_(types.begin(), types.end()), waiting_(types) {}

  void append(std::span<const sql::ColumnPtr> columns, std::span<const RowNumber> rows);
  void append_all(const sql::Batch& batch);
  /// No more rows will be appended, or what comes is to be a block of its own.
  void finish() { write_block(); }
  /// After `finish`: the rows of one block.
  sql::Batch block(std::size_t number) const;
  /// After `finish`: the next rows, or nullopt at the end.
  std::optional<sql::Batch> next();
  /// From the first row again.
  void rewind() { next_ = 0; }
  std::size_t rows() const { return rows_; }

 private:
  void write_block();

  std::shared_ptr<SpillFile> file_;
  std::vector<sql::Type> types_;
  RowStore waiting_;  // for the next block
  std::vector<SpillFile::Block> blocks_;
  std::size_t next_ = 0, rows_ = 0;
};

/// Rows divided by the hash of their keys, so that each part can be worked on alone: rows with equal keys are in the
/// same part. A part that is still too large is divided again, by other bits: one `level` deeper.
class RowPartitions {
 public:
  static constexpr std::size_t kCount = 16;
  /// Beyond this many divisions the keys must be equal: dividing does not help.
  static constexpr unsigned kMostLevels = 6;

  RowPartitions(std::span<const sql::Type> types, unsigned level, TemporarySpacePtr space);

  /// `keys` are decoded and parallel to the columns.
  void add(std::span<const sql::ColumnPtr> keys, std::span<const sql::ColumnPtr> columns, std::span<const RowNumber> rows);
  void add_all(std::span<const sql::ColumnPtr> keys, const sql::Batch& batch);
  std::size_t rows(std::size_t part) const { return parts_[part].rows(); }
  /// The part's rows as an operator's input. Once for each part, after the last row was added.
  OperatorPtr take(std::size_t part);

 private:
  unsigned level_;
  std::vector<SpilledRows> parts_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::vector<RowNumber>> chosen_;  // rows of the batch by part
};

}  // namespace redquel::executor
