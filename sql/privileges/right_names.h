#pragma once

#include <optional>
#include <string_view>

#include "sql/privileges/acl.h"

namespace redquel::sql {

/// The letters of rights in the order of their bits.
inline constexpr std::string_view kRightLetters = "arwdDxtXUCTcsA";

/// Returns the name of one right in capital letters: "SELECT", "ALTER SYSTEM".
std::string_view right_name(Rights right);
/// Returns the right of that name, in any letter case; TEMP is TEMPORARY. RULE gives none (0): it means nothing any more. nullopt: no right
/// has the name.
std::optional<Rights> find_right(std::string_view name);

}  // namespace redquel::sql
