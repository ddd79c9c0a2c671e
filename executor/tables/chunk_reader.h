#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "executor/memory/table_version.h"
#include "executor/storage/row_buffer.h"
#include "executor/tables/best_rows.h"
#include "executor/tables/memory_filter.h"
#include "executor/tables/memory_key_filter.h"

namespace redquel::executor {

/// A state of a copy that a scan reads.
struct ReadVersion {
  TableVersionPtr version;
  std::int64_t milliseconds = 0;  // of Redis's clock at the fence
  TableChangesPtr changes;        // rows that the statement's transaction has changed, which are not read here; null: none
};

/// Reads the wanted rows of chunks, one chunk after another.
class ChunkReader {
 public:
  /// `scan` and `source` outlive the reader.
  ChunkReader(const planner::MemoryScan& scan, const ReadVersion& source, const sql::EvaluationContext& evaluation)
      : scan_(scan), source_(source), filter_(scan.read, evaluation) {}

  /// Reads only rows that may be among the first ones of the scan.
  void set_first(std::optional<BestRows> first) { first_ = std::move(first); }
  /// From now on rows without one of the keys are left out.
  void leave_out(const ScanKeyFilter& keys);

  /// Returns true if the chunk is not read to its end.
  bool has_more() const { return row_ < rows_.size() || next_unchecked_ < unchecked_.size(); }
  /// Looks at the next chunk. Before: !has_more().
  void begin(const TableVersion::Slice& slice);
  /// Returns some rows; none: ask again as long as there is more. A piece of work of less than a millisecond.
  std::optional<sql::Batch> read();

  /// Rows of all chunks so far that are there, wanted or not.
  std::size_t rows_seen() const { return rows_seen_; }
  /// Chunks without a row that is wanted, by their smallest and largest values.
  std::size_t pruned() const { return pruned_; }

 private:
  /// Checks the next rows whose packed values do not show whether they satisfy the condition.
  void check_rows();
  /// Returns the next rows of `rows_`.
  sql::Selection selection(std::size_t count) const;

  const planner::MemoryScan& scan_;
  const ReadVersion& source_;
  MemoryFilter filter_;
  std::optional<BestRows> first_;
  std::vector<ScanKeyFilter> key_filters_;
  ChunkPtr chunk_;
  std::vector<std::uint32_t> rows_;     // of `chunk_`, that are wanted
  std::size_t row_ = 0;                 // in `rows_`, the next one
  std::vector<std::uint32_t> unchecked_;  // of `chunk_`: the condition is still to be evaluated
  std::size_t next_unchecked_ = 0;
  std::size_t rows_seen_ = 0, pruned_ = 0;
};

}  // namespace redquel::executor
