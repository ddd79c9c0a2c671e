#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "executor/operators/key_view.h"
#include "executor/runtime/row_store.h"
#include "sql/column.h"

namespace redquel::executor {

/// The distinct keys among rows, numbered from 0 in order of their first appearance: a hash table with open addressing
/// over columns. Joins, aggregates, DISTINCT, set operations and memos are made of it.
class KeyTable {
 public:
  enum class Nulls : std::uint8_t {
    kEqual,       // as GROUP BY and DISTINCT see them
    kNeverMatch,  // as = sees them: a key with a NULL has no number
  };
  KeyTable(std::span<const sql::Type> types, Nulls nulls);

  /// The number of each row's key; keys that are new are added. Columns are decoded.
  void find_or_add(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers);
  /// The same, but keys that are not in the table have kNoRow.
  void find(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers);

  /// Rows of the last find_or_add whose keys were new; the i-th of them got the number size() - added().size() + i.
  std::span<const RowNumber> added() const { return added_; }
  std::size_t size() const { return keys_.rows(); }
  /// Keys by number, as they first appeared.
  const RowStore& keys() const { return keys_; }
  std::size_t memory() const { return slots_.capacity() * sizeof(Slot) + keys_.memory(); }
  void clear();

 private:
  struct Slot {
    std::uint64_t hash;
    RowNumber number;  // kNoRow: free
  };

  void start(std::span<const sql::ColumnPtr> keys, std::size_t rows);
  void make_room(std::size_t rows);
  bool is_null(std::size_t row) const;
  /// Whether the key with that number is the batch's row.
  bool equals(RowNumber number, std::size_t row) const;
  /// The slot of the row's key, or the free slot where it belongs.
  Slot& locate(std::size_t row);
  void prefetch(std::size_t row) const;

  std::vector<sql::Type> types_;
  Nulls nulls_;
  bool hash_is_key_;  // one column of integers: equal hashes mean equal keys
  RowStore keys_;
  std::vector<Slot> slots_;         // a power of two
  RowNumber null_number_ = kNoRow;  // of the NULL key where hash_is_key_
  std::vector<RowNumber> added_;

  // Of the batch that is looked at.
  KeyViews stored_, views_;
  std::vector<std::uint64_t> hashes_;
  bool has_nulls_ = false;
};

}  // namespace redquel::executor
