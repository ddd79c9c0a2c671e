#pragma once

#include <string>
#include <utility>
#include <vector>

namespace redquel::sql {

/// An expression's text as it stands in the list of an index's columns: in parentheses unless it is a call, `lower(email)`.
std::string index_expression_text(const std::string& written);
/// Returns the names under which an index knows columns of these names: repeated names get a number, `a`, `a1`.
std::vector<std::string> distinct_column_names(const std::vector<std::string>& names);

/// Storage parameters by name.
using IndexOptions = std::vector<std::pair<std::string, std::string>>;
/// Returns the options in the form of IndexDef::definition_suffix, `WITH (fillfactor='80', fastupdate=off)`; empty if there are none.
std::string index_options_text(const IndexOptions& options);
/// The inverse of index_options_text().
IndexOptions read_index_options(const std::string& text);

}  // namespace redquel::sql
