#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sql/datum.h"
#include "sql/types/postgres_hash.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

// Order and equality of types whose values are made of values of other types. Values come as they lie in columns: text forms.

/// Arrays, composite types, enums, ranges: the order is not that of their texts.
bool is_structured(Oid type);
/// Equal values of the type have equal storage forms: no number, interval, char(n) or jsonb is in them.
bool has_textual_equality(Oid type);

/// Two values of any one type in storage form, as they stand in an array or a row.
int compare_elements(Oid type, std::string_view a, std::string_view b);
bool equal_elements(Oid type, std::string_view a, std::string_view b);
/// Equal values have equal hashes.
std::uint64_t hash_element(Oid type, std::string_view text);

/// PostgreSQL's hash of a value that is not NULL. 42883 for a type without one.
std::uint64_t postgres_hash_of(Type type, const Datum& value, HashSeed seed);
/// Like postgres_hash_of() for a value in storage form; 0 for NULL.
std::uint64_t postgres_hash_of_stored(Type type, std::optional<std::string_view> text, HashSeed seed);

}  // namespace redquel::sql
