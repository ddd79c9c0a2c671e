#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "sql/types/interval.h"
#include "sql/types/numeric.h"
#include "sql/types/type.h"
#include "sql/types/uuid.h"

namespace redquel::sql {

/// One value outside of a column: a constant, a parameter, a key. The alternative is the type's Storage; monostate is
/// NULL. The type itself is known from where the value stands.
using Datum = std::variant<std::monostate, bool, std::int16_t, std::int32_t, std::int64_t, float, double, Numeric,
                           std::string, Interval, Uuid>;

inline bool is_null(const Datum& datum) { return std::holds_alternative<std::monostate>(datum); }

}  // namespace redquel::sql
