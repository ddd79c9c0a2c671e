#pragma once

#include <string>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

// The index forms of types whose values consist of others (index_value.h explains their use).

/// The text with every element in its canonical text.
std::string canonical_structured_text(Oid type, std::string_view value);

/// Bytes whose memcmp order is compare_structured()'s; no zero byte is among them.
std::string ordered_structured_bytes(Oid type, std::string_view value);

}  // namespace redquel::sql
