#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace redquel::sql {

/// A pattern of LIKE as one of SCAN MATCH, which matches at least the same keys: `_` is a character there, `?` a byte here.
/// nullopt: the pattern ends in the middle of an escape, which LIKE refuses.
std::optional<std::string> glob_of_like(std::string_view pattern);
/// A pattern that matches this text alone.
std::string glob_of_text(std::string_view text);

}  // namespace redquel::sql
