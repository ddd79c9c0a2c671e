#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "sql/column.h"

namespace redquel::executor {

/// A decoded column as raw memory, for loops that hash and compare rows: no virtual call and no variant per row.
/// Equality and order are those of the type's = and < (sql/types/compare.h). The column outlives the view and does not
/// change.
class KeyView {
 public:
  enum class Kind : std::uint8_t {
    kByte,
    kInt2,
    kInt4,
    kUnsigned4,
    kInt8,
    kFloat4,
    kFloat8,
    kNumeric,
    kText,
    kPaddedText,
    kInterval,
    kUuid,
    kTypedText,  // text that only its type can compare: jsonb, arrays, ranges
  };

  explicit KeyView(const sql::Column& column);
  static Kind kind_of(sql::Type type);
  /// The value is an integer of at most 64 bits, and equal values have equal bits.
  static bool is_integer(Kind kind) { return kind <= Kind::kInt8; }

  Kind kind() const { return kind_; }
  sql::Oid type() const { return type_; }
  bool has_nulls() const { return nulls_ != nullptr; }
  bool is_null(std::size_t row) const { return nulls_ != nullptr && nulls_[row * stride_] != 0; }
  template <class T>
  const T& value(std::size_t row) const {
    return static_cast<const T*>(values_)[row * stride_];
  }

 private:
  Kind kind_;
  sql::Oid type_;
  std::size_t stride_;
  const void* values_;
  const std::uint8_t* nulls_;
};

using KeyViews = std::vector<KeyView>;
KeyViews views_of(std::span<const sql::ColumnPtr> columns);

/// Two values that are not NULL, of columns of one type.
bool equal_values(const KeyView& a, std::size_t row_a, const KeyView& b, std::size_t row_b);
int compare_values(const KeyView& a, std::size_t row_a, const KeyView& b, std::size_t row_b);

/// Rows of several columns; NULL equals NULL.
inline bool equal_rows(const KeyViews& a, std::size_t row_a, const KeyViews& b, std::size_t row_b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool null_a = a[i].is_null(row_a), null_b = b[i].is_null(row_b);
    if (null_a || null_b ? null_a != null_b : !equal_values(a[i], row_a, b[i], row_b)) return false;
  }
  return true;
}

/// One hash per row over all columns. Of a single integer column without NULLs the hash is one-to-one: equal hashes
/// mean equal keys.
void hash_rows(const KeyViews& keys, std::size_t rows, std::vector<std::uint64_t>& hashes);

/// Bits whose unsigned order is the values' order, weakly: different values may share them unless `is_exact`.
std::uint64_t order_bits(const KeyView& key, std::size_t row);
bool order_bits_are_exact(KeyView::Kind kind);

}  // namespace redquel::executor
