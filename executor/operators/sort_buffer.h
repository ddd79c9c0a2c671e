#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor/operators/key_view.h"
#include "executor/runtime/kept_rows.h"
#include "executor/runtime/row_store.h"

namespace redquel::executor {

struct SortDirection {
  bool descending = false, nulls_first = false;
};

/// Order of two rows by sort keys, from the key `first` on.
int compare_sort_keys(std::span<const SortDirection> directions, const KeyViews& a, std::size_t row_a,
                      const KeyViews& b, std::size_t row_b, std::size_t first = 0);

/// Sorts rows: `add` batches, `finish`, then take the rows in order with `next`. Stable. Rows are sorted in runs as
/// they come and merged as they go, so that no call takes long. With `wanted` only so many rows of the beginning are
/// kept (top-N).
class SortBuffer {
 public:
  SortBuffer(std::vector<sql::Type> key_types, std::vector<SortDirection> directions, std::vector<sql::Type> row_types,
             std::optional<std::uint64_t> wanted = {});

  /// The given rows of a batch; keys are decoded and parallel to the columns.
  void add(std::span<const sql::ColumnPtr> keys, std::span<const sql::ColumnPtr> columns,
           std::span<const RowNumber> rows);
  /// No more rows will be added.
  void finish();
  /// After `finish`: at most `limit` rows; an empty batch is the end.
  sql::Batch next(std::size_t limit) { return rows_.gather(next_rows(limit)); }
  /// Like next(), with the keys behind the columns.
  sql::Batch next_with_keys(std::size_t limit);

  bool empty() const { return entries_.empty(); }
  /// Returns the number of rows, given or not.
  std::size_t size() const { return entries_.size(); }
  std::size_t memory() const { return entries_.capacity() * sizeof(Entry) + keys_.memory() + rows_.memory(); }

 private:
  /// A row by what decides most comparisons: whether its first key is NULL, and the leading bits of that key.
  struct Entry {
    std::uint64_t bits;
    RowNumber row;
    std::uint32_t rank;
  };
  /// Sorted entries that have not been given.
  struct Run {
    std::size_t next, end;
  };

  Entry entry_of(const KeyView& first_key, std::size_t batch_row, RowNumber row) const;
  /// Further keys of rows whose entries say nothing.
  int compare_keys(const KeyViews& a, std::size_t row_a, const KeyViews& b, std::size_t row_b) const {
    return compare_sort_keys(directions_, a, row_a, b, row_b, bits_exact_ ? 1 : 0);
  }
  /// Order of stored rows; rows that are equal in all keys come as they were added.
  bool is_before(const Entry& a, const Entry& b) const;
  void drop_beyond_worst(const KeyViews& views, std::span<const RowNumber> rows, std::vector<RowNumber>& kept) const;
  void keep_best();
  void sort_run(std::size_t begin, std::size_t end);
  void refresh_views();
  std::vector<RowNumber> next_rows(std::size_t limit);

  std::vector<SortDirection> directions_;
  std::optional<std::uint64_t> wanted_;
  bool is_top_;       // few rows are wanted: the others are dropped again and again
  bool bits_exact_;   // bits decide the first key
  bool compares_keys_;  // false: bits say all there is
  RowStore keys_;
  KeptRows rows_;
  KeyViews key_views_;
  std::vector<Entry> entries_;
  std::size_t sorted_ = 0;      // entries before are in runs
  std::optional<Entry> worst_;  // of the rows kept by the last keep_best
  std::vector<Run> runs_;       // a heap after `finish`: the one with the first row in front
  std::uint64_t given_ = 0;
};

}  // namespace redquel::executor
