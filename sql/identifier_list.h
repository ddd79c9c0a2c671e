#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::sql {

/// Returns the identifiers of `a, "B c", public`, unquoted and folded; nullopt where it is no such list.
std::optional<std::vector<std::string>> split_identifier_list(std::string_view text);

}  // namespace redquel::sql
