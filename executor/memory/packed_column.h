#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "executor/storage/stored_text.h"
#include "sql/column.h"
#include "sql/types/type.h"

namespace redquel::executor {

/// Integers, dates, timestamps, times, booleans, and numerics of one scale: smallest value + 1, 2, 4 or 8 bytes.
struct PackedIntegers {
  std::int64_t smallest = 0, largest = 0;  // of the values that are not NULL and no exceptions
  std::uint8_t width = 1;
  int scale = 0;  // of numerics
  std::vector<std::uint8_t> bytes;

  std::int64_t value(std::size_t row) const;
};
/// Codes of 1 or 2 bytes; code c is the text between ends[c - 1] and ends[c]. Each text is that of a row. NULL has the
/// last code, and no text.
struct PackedDictionary {
  std::uint8_t width = 1;
  std::vector<std::uint8_t> codes;
  std::vector<std::uint32_t> ends;
  std::string texts;

  std::uint32_t code(std::size_t row) const {
    return width == 1 ? codes[row] : static_cast<std::uint32_t>(codes[row * 2]) | static_cast<std::uint32_t>(codes[row * 2 + 1]) << 8;
  }
  std::uint32_t null_code() const { return static_cast<std::uint32_t>(ends.size() - 1); }
};
/// Row r is the text between ends[r - 1] and ends[r].
struct PackedTexts {
  std::vector<std::uint32_t> ends;
  std::string texts;

  std::string_view text(std::size_t row) const {
    const std::size_t begin = row == 0 ? 0 : ends[row - 1];
    return std::string_view(texts).substr(begin, ends[row] - begin);
  }
};

/// One column of one chunk, immutable. Rows are numbered from 0.
class PackedColumn final : public sql::ColumnSource {
 public:
  using Integers = PackedIntegers;
  using Dictionary = PackedDictionary;
  using Texts = PackedTexts;
  using Values = std::variant<Integers, Dictionary, Texts, std::vector<float>, std::vector<double>, std::vector<sql::Interval>, std::vector<sql::Uuid>>;
  /// A stored text that is a value of the type, but not as redquel writes it (007), and its row.
  using Exception = std::pair<std::uint32_t, std::string>;

  PackedColumn(sql::Type type, std::size_t size, Values values, std::vector<std::uint64_t> nulls, std::vector<Exception> exceptions);

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return bytes_; }
  const Values& values() const { return values_; }
  bool has_nulls() const { return !nulls_.empty(); }
  bool is_null(std::size_t row) const { return !nulls_.empty() && (nulls_[row / 64] >> (row % 64) & 1) != 0; }

  /// Returns the smallest and largest value as the type's integers, for pruning. None if there is no such order, no value, or an exception.
  std::optional<std::pair<std::int64_t, std::int64_t>> range() const;
  /// Returns the values of these rows. Encoded if one of them is an exception, or if texts are not the type's storage.
  sql::Column gather(std::span<const std::uint32_t> rows) const override;
  bool is_lasting() const override { return true; }
  /// The copy counts its bytes.
  std::size_t memory() const override { return 0; }
  /// Returns the values of codes of the dictionary. The texts view into this column.
  sql::Column dictionary_values(std::span<const std::uint32_t> codes) const;
  /// Returns the text as the row's hash holds it. None: NULL.
  std::optional<std::string> text(std::size_t row) const;

 private:
  const std::string* exception(std::size_t row) const;
  std::string_view view(std::size_t row) const;
  void append_text(std::size_t row, std::string& out) const;
  sql::Column gather_encoded(std::span<const std::uint32_t> rows) const;

  std::size_t size_;
  Values values_;
  std::vector<std::uint64_t> nulls_;  // a bit per row; empty: no NULLs
  std::vector<Exception> exceptions_;  // by row
  std::size_t bytes_;
};
using PackedColumnPtr = std::shared_ptr<const PackedColumn>;

/// Collects the texts of one column, row by row, and packs them.
class ColumnPacker {
 public:
  /// `as_text`: texts are kept as they are, for any type.
  explicit ColumnPacker(sql::Type type, bool as_text = false);

  /// Takes any bytes as texts from now on: names of rows need not be UTF-8.
  void take_any_text() { check_ = nullptr; }
  /// Adds the next row. Throws SqlError if the text is not a value of the type.
  void append(std::optional<std::string_view> text);
  /// Adds row `row` of a column of the same type.
  void append(const sql::Column& column, std::size_t row);
  std::size_t size() const { return size_; }
  /// Returns the column. The packer is empty afterwards.
  PackedColumnPtr finish();

 private:
  enum class Form : std::uint8_t { kIntegers, kFixed, kTexts };

  void append_null();
  void check(std::string_view text) const;
  void append_text(std::string_view text);
  bool append_canonical(std::string_view text);
  void append_parsed(std::string_view text);
  void turn_into_texts();
  PackedColumn::Values pack_integers();
  PackedColumn::Values pack_texts();

  sql::Type type_;
  Form form_;
  bool is_numeric_;
  StoredTextCheck check_;
  std::size_t size_ = 0;
  std::optional<int> scale_;  // of numerics so far
  std::vector<std::int64_t> integers_;
  PackedColumn::Values fixed_;
  PackedColumn::Texts texts_;
  std::vector<std::uint64_t> nulls_;
  bool has_nulls_ = false;
  std::vector<PackedColumn::Exception> exceptions_;
};

}  // namespace redquel::executor
