#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redquel::sql {

/// pg_type.aclitem's letters, in the order in which they are printed (manual 5.7).
inline constexpr std::string_view kPrivilegeLetters = "arwdDxtXUCTcsA";

/// Which privileges one role has given to another: bit i of the sets is letter i.
struct AccessItem {
  std::string grantee;  // empty: everybody
  std::string grantor;
  std::uint32_t privileges = 0, grantable = 0;
};

/// postgres=r*w/admin: a grantee (empty: everybody), privileges (`*`: may be granted on), a grantor. 22P02.
AccessItem read_access_item(std::string_view text);
/// Letters in their order, names in quotes where they need them.
std::string access_item_text(const AccessItem& item);

}  // namespace redquel::sql
