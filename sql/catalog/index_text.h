#pragma once

#include <string>
#include <vector>

namespace redquel::sql {

/// An expression's text as it stands in the list of an index's columns: in parentheses unless it is a call, `lower(email)`.
std::string index_expression_text(const std::string& written);
/// What an index calls columns of these names: one that was there before gets a number, `a`, `a1`.
std::vector<std::string> distinct_column_names(const std::vector<std::string>& names);

}  // namespace redquel::sql
