#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type.h"

namespace redquel::sql {

// Access control lists as PostgreSQL has them: what has been granted on one object, to which role, by which role.

/// A set of rights, one bit each, in the order in which PostgreSQL prints them: "arwdDxtXUCTcsA".
using Rights = std::uint32_t;

namespace right {

inline constexpr Rights kInsert = 1U << 0, kSelect = 1U << 1, kUpdate = 1U << 2, kDelete = 1U << 3, kTruncate = 1U << 4,
                        kReferences = 1U << 5, kTrigger = 1U << 6, kExecute = 1U << 7, kUsage = 1U << 8, kCreate = 1U << 9,
                        kTemporary = 1U << 10, kConnect = 1U << 11, kSet = 1U << 12, kAlterSystem = 1U << 13;

}  // namespace right

/// Kinds of objects that have a list.
enum class AclKind : std::uint8_t {
  kTable, kColumn, kSequence, kDatabase, kFunction, kLanguage, kLargeObject, kSchema, kTablespace, kForeignDataWrapper, kForeignServer, kType,
  kParameter,
};

inline constexpr Oid kPublic = 0;

/// One grant of a role to another one.
struct AclItem {
  Oid grantee = kPublic;
  Oid grantor = 0;
  Rights rights = 0;
  Rights grantable = 0;  // WITH GRANT OPTION: a part of `rights`

  friend bool operator==(const AclItem&, const AclItem&) = default;
};
/// At most one item for each pair of grantee and grantor. In the order in which they were granted.
using Acl = std::vector<AclItem>;
/// The list of an object; nullopt: nothing has been granted or revoked, default_acl() holds.
using OptionalAcl = std::optional<Acl>;

/// The rights that objects of the kind can have.
Rights all_rights(AclKind kind);
/// PostgreSQL's acldefault(): the owner's rights and those of PUBLIC.
Acl default_acl(AclKind kind, Oid owner);

/// The text that the catalog in Redis has, by oids: "16385=ar*w/10", PUBLIC is 0.
std::string encode(const AclItem& item);
/// nullopt: the text is none.
std::optional<AclItem> decode_acl_item(std::string_view text);

}  // namespace redquel::sql
