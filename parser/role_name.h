#pragma once

#include <string_view>

namespace redquel::parser {

// Keywords where a role's name is expected. No name has a NUL, so the quoted name "current_user" is another text.

/// CURRENT_USER, CURRENT_ROLE and USER.
inline constexpr std::string_view kCurrentUser{"\0current_user", 13};
inline constexpr std::string_view kSessionUser{"\0session_user", 13};

}  // namespace redquel::parser
