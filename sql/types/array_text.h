#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type.h"

namespace redquel::sql {

// Arrays are kept as PostgreSQL's text form of them, {1,2,NULL,"a b"}, with elements in the text form of their type. One dimension,
// counted from 1; int2vector and oidvector are numbers between blanks, counted from 0.

/// nullopt: a NULL element.
using ArrayElements = std::vector<std::optional<std::string>>;

/// Has values that these functions read: an array type, int2vector, oidvector.
bool is_array_type(Oid type);

/// The elements of a value of array type `array`. 22P02 "malformed array literal", 0A000 for several dimensions or other bounds.
ArrayElements array_elements(Oid array, std::string_view text);
/// The text form of such an array.
std::string array_text(const ArrayElements& elements);
/// Appends one element to a text form that is being built; begin with an empty text, end with `finish_array_text`.
void append_array_element(std::optional<std::string_view> element, std::string& text);
void finish_array_text(std::string& text);

}  // namespace redquel::sql
