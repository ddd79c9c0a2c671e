#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/operators/operator.h"
#include "executor/operators/row_store.h"

namespace redquel::executor {

/// A temporary file without a name, in TMPDIR: gone with its last user, however that ends.
class SpillFile {
 public:
  struct Block {
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };

  /// Throws 58030 where the directory takes no file.
  SpillFile();
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Throws 53100 where the disk is full, 58030 for other failures.
  Block write(std::string_view bytes);
  std::shared_ptr<const std::string> read(Block block) const;

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// Rows that an operator has no room for: appended, then read in the same order, block by block. Several may share a
/// file. Constant memory: one block.
class SpilledRows {
 public:
  SpilledRows(std::shared_ptr<SpillFile> file, std::span<const sql::Type> types)
      : file_(std::move(file)), types_(types.begin(), types.end()), waiting_(types) {}

  void append(std::span<const sql::ColumnPtr> columns, std::span<const RowNumber> rows);
  void append_all(const sql::Batch& batch);
  /// No more rows will be appended.
  void finish() { write_block(); }
  /// After `finish`: the next rows, or nullopt at the end.
  std::optional<sql::Batch> next();
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

  RowPartitions(std::span<const sql::Type> types, unsigned level);

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
