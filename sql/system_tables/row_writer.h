#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sql/column.h"
#include "sql/system_tables.h"

namespace redquel::sql {

/// NULL, where a row of a system table is written down.
struct Null {};
inline constexpr Null kNull{};

/// A value of any type by its text form; empty: NULL.
struct TextForm {
  std::string_view text;
};

/// Collects the rows of a system table.
class RowWriter {
 public:
  explicit RowWriter(const SystemTable& table);

  /// One row: a value for every column. Numbers and oids fit themselves to the column's type; a char is a "char" or a text of one
  /// letter ('\0': empty); an empty optional is NULL.
  template <class... Values>
  void add(const Values&... values) {
    assert(sizeof...(Values) == columns_.size());
    std::size_t at = 0;
    (put(columns_[at++], values), ...);
    ++rows_;
  }
  /// Adds text forms, each parsed as its column's type.
  void add_texts(std::span<const std::optional<std::string_view>> values);
  Batch finish();

 private:
  template <class T>
  void put(Column& column, const T& value) {
    if constexpr (std::is_same_v<T, Null>) {
      column.append_null();
    } else if constexpr (std::is_same_v<T, TextForm>) {
      if (value.text.empty()) column.append_null();
      else put_text_form(column, value.text);
    } else if constexpr (std::is_same_v<T, bool>) {
      put_boolean(column, value);
    } else if constexpr (std::is_same_v<T, char>) {
      put_text(column, value == '\0' ? std::string_view() : std::string_view(&value, 1));
    } else if constexpr (std::is_integral_v<T>) {
      put_integer(column, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      put_real(column, value);
    } else if constexpr (requires { value.has_value(); }) {
      if (value) {
        put(column, *value);
      } else {
        column.append_null();
      }
    } else {
      put_text(column, std::string_view(value));
    }
  }

  static void put_boolean(Column& column, bool value);
  static void put_integer(Column& column, std::int64_t value);
  static void put_real(Column& column, double value);
  static void put_text(Column& column, std::string_view value);
  static void put_text_form(Column& column, std::string_view value);

  std::vector<Column> columns_;
  std::size_t rows_ = 0;
};

/// A column that has nothing to say where its text is empty.
inline std::optional<std::string_view> null_if_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// The text form of an array or of an int2vector or oidvector.
template <class Numbers>
std::string vector_text(const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}
template <class Numbers>
std::string array_text(const Numbers& numbers) {
  std::string text = "{";
  for (const auto number : numbers) text += (text.size() == 1 ? "" : ",") + std::to_string(number);
  return text + "}";
}

}  // namespace redquel::sql
