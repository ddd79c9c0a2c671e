#pragma once

#include <string_view>

namespace redquel::parser {

// Options of ast::AlterRole beside those of the grammar ("superuser", "password", …). ALTER ROLE … SET, ALTER DATABASE … SET, ALTER
// DATABASE … WITH, DROP OWNED and REASSIGN OWNED are AlterRole statements, too; the role's name is empty for ALL, for databases and for DROP
// OWNED.

/// Name space of SET: the option's name is the parameter, its value the words of SET. Action kDrop: RESET (an empty name: RESET ALL);
/// kAdd: FROM CURRENT.
inline constexpr std::string_view kSettingSpace = "setting";
inline constexpr std::string_view kInDatabase = "in_database";        // IN DATABASE name
inline constexpr std::string_view kAlterDatabase = "alter_database";  // the statement is ALTER DATABASE name
inline constexpr std::string_view kDropMembers = "drop_members";      // ALTER GROUP … DROP USER
/// DROP OWNED BY and REASSIGN OWNED BY: the value is the list of roles. Of REASSIGN OWNED the statement's role is the new owner.
inline constexpr std::string_view kDropOwned = "drop_owned", kReassignOwned = "reassign_owned";
inline constexpr std::string_view kCascade = "cascade";  // DROP OWNED … CASCADE

}  // namespace redquel::parser
