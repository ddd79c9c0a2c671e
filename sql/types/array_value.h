#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/column.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

// Arrays lie in columns and in Redis as PostgreSQL's text form of them, [0:1]={1,"a b"}, with elements in the storage form of their
// type (text_io.h); equal arrays of most types have equal texts. int2vector and oidvector are numbers between blanks, counted from 0.

struct ArrayDimension {
  std::int32_t lower = 1;
  std::int32_t length = 0;
  std::int32_t upper() const { return static_cast<std::int32_t>(std::int64_t{lower} + length - 1); }
  friend bool operator==(const ArrayDimension&, const ArrayDimension&) = default;
};

/// An array taken apart. Elements are views into the text that was read, which outlives this, or into `memory`.
struct ArrayValue {
  std::vector<ArrayDimension> dimensions;                 // outermost first; empty: no elements
  std::vector<std::optional<std::string_view>> elements;  // row by row, in storage form; nullopt: NULL
  std::shared_ptr<Arena> memory;

  /// Appends an element that `memory` keeps.
  void add(std::optional<std::string_view> element);
  /// One dimension, counted from `lower`, over the elements there are.
  void make_vector(std::int32_t lower = 1);
};

inline constexpr std::size_t kMaxArrayDimensions = 6;
/// PostgreSQL allows 134217727; an array is taken apart in memory.
inline constexpr std::int64_t kMaxArrayElements = 8388607;

/// Returns true if these functions read values of the type: an array type, int2vector, oidvector.
bool is_array_type(Oid type);
/// int2vector, oidvector: arrays with a text form of their own.
bool is_vector_type(Oid type);
/// The element type, with the array's modifier; asserts an array type.
Type element_type_of(Type array);
/// The lower bound that a new array of the type has: 0 for int2vector and oidvector, else 1.
std::int32_t first_subscript(Oid array);

/// Takes a text apart as PostgreSQL's array_in does before it reads elements. 22P02 "malformed array literal" with its detail,
/// 2202E, 54000.
ArrayValue read_array(Oid array, std::string_view text);
/// array_out's text; appended.
void append_array(Oid array, const ArrayValue& value, std::string& out);
std::string array_text(Oid array, const ArrayValue& value);

/// Applies the array's modifier to every element of an array in storage form (apply_modifier() of text_io.h).
std::string apply_element_modifier(Type array, std::string_view text, bool explicit_cast);

/// Appends an element in storage form to a column of its type.
void append_element(Column& column, std::optional<std::string_view> element);

/// Appends one element to a text form of one dimension that is being built; begin with an empty text, end with `finish_array_text`.
void append_array_element(std::optional<std::string_view> element, std::string& text);
void finish_array_text(std::string& text);

/// The number of elements. 54000 "array size exceeds the maximum allowed (8388607)", "array lower bound is too large: …".
std::int64_t check_array_size(const std::vector<ArrayDimension>& dimensions);
void check_array_depth(std::size_t dimensions);

}  // namespace redquel::sql
