#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql/privileges/acl.h"

namespace redquel::sql {

// The type aclitem: "alice=r*w/postgres", a grantee (empty: PUBLIC), rights (`*`: WITH GRANT OPTION) and a grantor. Values have this text,
// spelled in one way: equal ones have equal texts.

/// Reads what a user writes. 22P02; 42704 for a name that no role has.
AclItem read_acl_item(std::string_view text);
/// Names in quotes where they need them; digits for a role that does not exist.
std::string acl_item_text(const AclItem& item);
/// Reads a text that acl_item_text() has made.
AclItem decode_acl_item_text(std::string_view text);

/// The text of an array of items: {postgres=arwdDxt/postgres,=r/postgres}.
std::string acl_text(const Acl& acl);
/// nullopt: NULL.
std::optional<std::string> acl_text(const OptionalAcl& acl);
/// Reads an array that acl_text() has made. 22004 for an element that is NULL, 2202E for several dimensions.
Acl decode_acl_text(std::string_view text);

}  // namespace redquel::sql
