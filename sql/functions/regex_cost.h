#pragma once

#include <string_view>

#include "sql/functions/regular_expression.h"

namespace redquel::sql {

/// Throws SqlError 2201B "regular expression is too complex" where the engine would compile a pattern for seconds. Nothing interrupts
/// the engine, and its time grows with the third power of captures and optional pieces.
void check_compile_time(std::string_view pattern, RegexFlags::Syntax syntax);

}  // namespace redquel::sql
