#pragma once

#include <string>
#include <string_view>

namespace redquel::sql {

/// Appends the text with plain letters in place of accented letters, ligatures and the like. Returns false if nothing differs.
bool append_without_accents(std::string_view text, std::string& out);

}  // namespace redquel::sql
