#pragma once

#include "sql/functions/resolve.h"

namespace redquel::sql {

/// f(…, VARIADIC array): the function called with the array's elements as its last arguments. The function of the result takes the
/// array itself; `types` are those of the arguments as written, `array_offset` is where the array stands. 42883 where no variadic function fits, 42804 "VARIADIC argument must be
/// an array".
ResolvedFunction resolve_variadic_call(std::string_view name, std::span<const Type> types, std::optional<std::uint32_t> offset,
                                       std::optional<std::uint32_t> array_offset);

}  // namespace redquel::sql
