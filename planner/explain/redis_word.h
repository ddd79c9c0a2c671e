#pragma once

#include <string>
#include <string_view>

namespace redquel::planner {

/// Returns the word for redis-cli: quoted if blanks, quotes or control bytes would be misread.
std::string word(std::string_view text);

}  // namespace redquel::planner
