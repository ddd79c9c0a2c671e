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

  /// Announces so many rows, distinct or not: the table grows at once to the size that they will need if the share of new keys stays as it was.
  void expect(std::size_t rows) { expected_rows_ = rows; }
  /// The number of each row's key; keys that are new are added. Columns are decoded.
  void find_or_add(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers);
  /// The memory that a search needs beside the table. Kept by the caller, so that it is not allocated for each batch.
  struct Search {
    KeyViews stored, views;
    std::vector<std::uint64_t> hashes;
  };
  /// Like the lookup above, but keys that are not in the table have kNoRow. Several threads may search at a time.
  void find(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers, Search& search) const;
  void find(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers) { find(keys, rows, numbers, search_); }

  /// Rows of the last find_or_add whose keys were new; the i-th of them got the number size() - added().size() + i.
  std::span<const RowNumber> added() const { return added_; }
  std::size_t size() const { return keys_.rows(); }
  /// Keys by number, as they first appeared.
  const RowStore& keys() const { return keys_; }
  std::size_t memory() const { return slots_.capacity() * sizeof(Slot) + (direct_.capacity() + coded_numbers_.capacity()) * sizeof(RowNumber) + keys_.memory(); }
  void clear();

 private:
  struct Slot {
    std::uint64_t hash;
    RowNumber number;  // kNoRow: free
  };

  /// Chooses an array over all integers if they are so dense that it takes no more than slots. Extends the range by the batch's keys and
  /// moves the keys to their places.
  void choose_form(std::size_t rows);
  void make_direct();
  void make_slots();
  /// The key as an unsigned number in its order.
  template <class Value>
  static std::uint64_t number_of(Value value) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ std::uint64_t{1} << 63;
  }
  template <class Add>
  void find_direct(std::size_t rows, std::vector<RowNumber>& numbers, Add add);

  /// Numbers rows whose keys are codes of dictionaries: each combination of codes is looked for once. False: they are not, or of too many.
  bool find_coded(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers);
  void start(std::span<const sql::ColumnPtr> keys);
  /// Throws 54000 if so many more keys have no numbers.
  void check_count(std::size_t rows) const;
  /// Returns the number of keys to make room for, if a batch of so many rows comes.
  std::size_t wanted_keys(std::size_t rows) const;
  void make_room(std::size_t rows);
  bool is_null(std::size_t row) const;
  /// Returns true if the key with that number is the batch's row.
  bool equals(RowNumber number, std::size_t row) const;
  /// The slot of the row's key, or the free slot where it belongs.
  Slot& locate(std::size_t row);
  void prefetch(std::size_t row) const;

  std::vector<sql::Type> types_;
  Nulls nulls_;
  bool hash_is_key_;  // one column of integers: equal hashes mean equal keys
  RowStore keys_;
  std::size_t expected_rows_ = 0, rows_seen_ = 0;
  std::vector<Slot> slots_;         // a power of two
  /// In place of slots, where `is_direct_`: the numbers of the integers from `first_` on; kNoRow: no such key.
  std::vector<RowNumber> direct_;
  bool is_direct_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t smallest_ = UINT64_MAX, largest_ = 0;  // of all keys that are integers
  RowNumber null_number_ = kNoRow;  // of the NULL key where hash_is_key_
  std::vector<RowNumber> added_;

  std::vector<const void*> dictionaries_;  // of the last keys that were codes
  std::vector<RowNumber> coded_numbers_;   // by combination of codes

  // For the current batch.
  KeyViews stored_, views_;
  std::vector<std::uint64_t> hashes_;
  bool has_nulls_ = false;
  Search search_;
};

}  // namespace redquel::executor
