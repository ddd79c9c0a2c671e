#pragma once

#include <cstdint>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

// The order and hash of types whose values are kept as text: bytes decide for most of them, also for char(n) without its
// blanks, but not for jsonb.

int compare_text_form(Oid type, std::string_view a, std::string_view b);
std::uint64_t hash_text_form(Oid type, std::string_view value);
bool compares_as_bytes(Oid type);
/// Whether an index can keep its values in order: not of jsonb, whose order no prefix of bytes shows.
bool has_ordered_form(Type type);

}  // namespace redquel::sql
