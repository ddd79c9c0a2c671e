#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

// Parts of the ordered index forms of types whose values consist of others (index_value.h explains their use). Their memcmp order is the
// order of the values, and no zero byte is among them.

/// The signs before the elements of a value: its end comes before each element, NULL after.
inline constexpr char kOrderedEnd = '\2', kOrderedValue = '\3', kOrderedNull = '\4';

std::string ordered_integer(std::int64_t value);
std::string ordered_float(double value);
/// Returns the bytes of an element in storage form, in order among those of its type.
std::string ordered_element(Type type, std::string_view text);
/// Appends an element's bytes so that no longer element comes before a shorter one.
void append_escaped(std::string_view bytes, std::string& out);

/// Two hexadecimal digits for each byte.
std::string hexadecimal_bytes(std::string_view bytes);

}  // namespace redquel::sql
