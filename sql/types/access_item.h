#pragma once

#include <string>
#include <string_view>

namespace redquel::sql {

/// pg_type.aclitem's letters, in the order in which they are printed (manual 5.7).
inline constexpr std::string_view kPrivilegeLetters = "arwdDxtXUCTcsA";

/// postgres=r*w/admin: a grantee (empty: everybody), privileges (`*`: may be granted on), a grantor. Letters in their order. 22P02.
std::string parse_access_item(std::string_view text);

}  // namespace redquel::sql
