#pragma once

#include <optional>
#include <string>

#include "parser/ast.h"

namespace redquel::parser {

// The value of a generic option, in any of its written forms.

/// Words and numbers as they are written, flags as `true` and `false`, FORCE_QUOTE's star. nullopt: no value, or a list.
std::optional<std::string> option_text(const ast::Option& option);
/// 0 or 1; true, false, on or off in any case; without a value true. nullopt: anything else.
std::optional<bool> option_flag(const ast::Option& option);

}  // namespace redquel::parser
