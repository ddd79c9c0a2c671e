#pragma once

#include <optional>
#include <string_view>

namespace redquel::executor {

/// Checks the format number of a database's data (sql::kFormatKey; nullopt: none). Data of an older format is opened: formats 0 and 1 have
/// the same keys and values, and the next change of definitions writes the number. Throws SqlError 0A000 if the format is newer than
/// sql::kStoredFormat, XX001 if the text is no number.
void check_stored_format(std::optional<std::string_view> stored);

}  // namespace redquel::executor
