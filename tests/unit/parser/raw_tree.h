#pragma once

#include <string>

namespace redquel::parser {

/// libpg_query's own tree of a statement as JSON, without what may differ between two spellings of the same thing:
/// locations, and whether a function was called in SQL's own syntax. Empty if it does not parse.
std::string raw_tree(const std::string& sql);

}  // namespace redquel::parser
