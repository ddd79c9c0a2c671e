#pragma once

#include <optional>
#include <string_view>

namespace redquel::executor {

/// Checks the format number of a database's data (sql::kFormatKey; nullopt: none). Data of an older format is opened: each
/// definition says which form its keys have, and the next change of definitions writes the number. Throws SqlError 0A000 if the format is newer than
/// sql::kStoredFormat, XX001 if the text is no number.
void check_stored_format(std::optional<std::string_view> stored);

}  // namespace redquel::executor
