#pragma once

#include <string_view>

namespace redquel::parser {

// Options of ast::AlterRole beside those of the grammar ("superuser", "password", …). ALTER ROLE … SET, ALTER DATABASE … SET and ALTER
// DATABASE … WITH are AlterRole statements, too; the role's name is empty for ALL and for databases.

/// Name space of SET: the option's name is the parameter, its value the words of SET. Action kDrop: RESET (an empty name: RESET ALL);
/// kAdd: FROM CURRENT.
inline constexpr std::string_view kSettingSpace = "setting";
inline constexpr std::string_view kInDatabase = "in_database";        // IN DATABASE name
inline constexpr std::string_view kAlterDatabase = "alter_database";  // the statement is ALTER DATABASE name
inline constexpr std::string_view kDropMembers = "drop_members";      // ALTER GROUP … DROP USER

}  // namespace redquel::parser
