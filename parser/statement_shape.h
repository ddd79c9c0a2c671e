#pragma once

#include <string>
#include <string_view>

namespace redquel::parser {

/// Returns a statement's text as pg_stat_statements shows it: $1, $2, … in the order of the text instead of constants and parameters, without
/// white space, comments and semicolons around it. Definitions and settings keep their constants; of those that name a password the
/// string constants are hidden. Takes any text, also one that cannot be parsed.
std::string normalize_statement(std::string_view text);

/// Returns the text with the string constants behind the word PASSWORD hidden, for logs and pg_stat_activity.
std::string hide_secrets(std::string_view text);

}  // namespace redquel::parser
