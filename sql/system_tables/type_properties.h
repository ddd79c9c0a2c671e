#pragma once

#include <optional>
#include <string_view>

#include "sql/types/type_operations.h"

namespace redquel::sql {

/// Returns the numbers by which information_schema describes a built-in type; none for other types.
TypeProperties type_properties(Type type);

/// Returns the name of a collation for information_schema; nullopt for the database's.
std::optional<std::string_view> shown_collation(Oid collation);

}  // namespace redquel::sql
