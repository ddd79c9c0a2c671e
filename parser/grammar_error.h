#pragma once

#include <string>
#include <string_view>

#include "sql/error.h"

namespace redquel::parser {

/// An error of PostgreSQL's scanner or grammar, which libpg_query hands over without SQLSTATE, detail and hint: they
/// are found again by the message and the function that raised it. `cursor` is a position in characters from 1, 0 for
/// none; the SqlError has it in bytes of `text`.
sql::SqlError grammar_error(std::string_view text, const std::string& message, std::string_view function, int cursor);

}  // namespace redquel::parser
