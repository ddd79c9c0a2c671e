#pragma once

#include <string>
#include <string_view>

namespace redquel::sql {

/// Appends a name as SQL must write it: in double quotes unless it is a plain lower-case word that is no keyword.
void append_quoted_identifier(std::string_view name, std::string& out);
std::string quote_identifier(std::string_view name);
/// Appends 'text', with E'' where it holds a backslash.
void append_quoted_literal(std::string_view text, std::string& out);

}  // namespace redquel::sql
