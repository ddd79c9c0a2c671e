#pragma once

#include <cstdint>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

// The order and hash of types whose values are kept as text: bytes decide for most of them, also for bit strings, network
// addresses and time with time zone, which lie in memory in their order; for char(n) without its blanks. Arrays, ranges and jsonb
// are compared by what is in them.

/// 42883 where an array's element type has no order.
int compare_text_form(Oid type, std::string_view a, std::string_view b);
bool equal_text_form(Oid type, std::string_view a, std::string_view b);
/// Equal values have equal hashes.
std::uint64_t hash_text_form(Oid type, std::string_view value);
bool compares_as_bytes(Oid type);
/// Returns true if an index can keep the type's values in order: false for jsonb, whose order no prefix of bytes shows, and for arrays of
/// it.
bool has_ordered_form(Type type);

}  // namespace redquel::sql
