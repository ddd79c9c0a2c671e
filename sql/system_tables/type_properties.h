#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

/// The names by which SQL speaks of the properties of a type (information_schema.columns).
struct TypeProperties {
  std::optional<std::int32_t> maximum_length, octet_length, precision, radix, scale, datetime_precision;
  std::optional<std::string> interval_type;
  std::optional<std::string_view> collation;  // nullopt: none, or the database's
};
TypeProperties type_properties(Type type);

/// Returns the name of a collation for information_schema; nullopt for the database's.
std::optional<std::string_view> shown_collation(Oid collation);

}  // namespace redquel::sql
