#pragma once

#include <string>

namespace redquel::sql {

/// An expression's text as it stands in the list of an index's columns: in parentheses unless it is a call, `lower(email)`.
std::string index_expression_text(const std::string& written);

}  // namespace redquel::sql
