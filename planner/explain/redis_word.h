#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/expressions/expression.h"

namespace redquel::planner {

/// Returns the word for redis-cli: quoted if blanks, quotes or control bytes would be misread.
std::string word(std::string_view text);

/// A value as it stands in a key; `$1` for a parameter, the expression in brackets for anything else.
std::string value_in_key(const sql::Expression& value);
/// The values of a key or an index entry, with colons between them.
std::string entry_text(const std::vector<sql::ExpressionPtr>& values);

}  // namespace redquel::planner
