#pragma once

#include <span>

#include "sql/types/type_oids.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {

// The rows of all built-in types. Array types need no row: they follow from TypeInfo::array of their element type.

std::span<const TypeRow> bit_string_types();
std::span<const TypeRow> datetime_types();
std::span<const TypeRow> geometric_types();
std::span<const TypeRow> json_types();
std::span<const TypeRow> money_types();
std::span<const TypeRow> network_types();
std::span<const TypeRow> number_types();
std::span<const TypeRow> pseudo_types();
std::span<const TypeRow> range_types();
std::span<const TypeRow> row_types();
std::span<const TypeRow> system_types();
std::span<const TypeRow> text_search_types();
std::span<const TypeRow> text_types();
std::span<const TypeRow> vector_types();

// The operations of types that other types and catalogs make.

extern const TypeOperations kArrayOperations;
extern const TypeOperations kVectorOperations;
extern const TypeOperations kEnumOperations;
extern const TypeOperations kCompositeOperations;
extern const TypeOperations kRangeOperations;
extern const TypeOperations kMultirangeOperations;

/// All families.
std::span<const std::span<const TypeRow>> type_families();

}  // namespace redquel::sql
