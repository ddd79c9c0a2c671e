#pragma once

#include <cstdint>
#include <string_view>

#include "sql/types/type_oids.h"

namespace redquel::sql {

// Order and equality of types whose values are made of values of other types. Values come as they lie in columns: text forms.

/// Arrays, composite types, enums, ranges: the order is not that of their texts.
bool is_structured(Oid type);
/// Equal values of the type have equal storage forms: no number, interval, char(n) or jsonb is in them.
bool has_textual_equality(Oid type);

/// Compares two values of one structured type. 42883 if an element type has no order.
int compare_structured(Oid type, std::string_view a, std::string_view b);
/// Equal values have equal hashes.
std::uint64_t hash_structured(Oid type, std::string_view value);

/// Two values of any one type in storage form, as they stand in an array or a row.
int compare_elements(Oid type, std::string_view a, std::string_view b);
bool equal_elements(Oid type, std::string_view a, std::string_view b);

}  // namespace redquel::sql
