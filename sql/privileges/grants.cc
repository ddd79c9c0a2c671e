#include "sql/privileges/grants.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "sql/error.h"
#include "sql/privileges/held_rights.h"
#include "sql/sqlstate.h"

namespace redquel::sql {

namespace {

AclItem& find_or_add(Acl& acl, Oid grantee, Oid grantor) {
  const auto found = std::ranges::find_if(acl, [&](const AclItem& item) { return item.grantee == grantee && item.grantor == grantor; });
  return found != acl.end() ? *found : acl.emplace_back(AclItem{grantee, grantor, 0, 0});
}

void drop_empty_items(Acl& acl) {
  std::erase_if(acl, [](const AclItem& item) { return (item.rights | item.grantable) == 0; });
}

/// Grant options of the role for any kind of object.
Rights grant_options(const Acl& acl, Oid role, const AclOwner& owner) {
  if (owner.roles.has_privileges_of(role, owner.owner, owner.database)) return ~Rights{0};
  return held_grant_options(acl, AclKind::kTable, owner.owner, role, owner.roles, owner.database);
}

void remove(Acl& acl, const AclItem& change, bool cascade, const AclOwner& owner);

/// Removes what the role granted by grant options that it has lost: `lost`, unless it has them from another grantor, too.
void remove_dependent(Acl& acl, Oid role, Rights lost, bool cascade, const AclOwner& owner) {
  if (role == owner.owner) return;
  lost &= ~grant_options(acl, role, owner);
  while (lost != 0) {
    const auto dependent = std::ranges::find_if(acl, [&](const AclItem& item) { return item.grantor == role && (item.rights & lost) != 0; });
    if (dependent == acl.end()) return;
    if (!cascade) throw SqlError(sqlstate::kDependentObjectsStillExist, "dependent privileges exist").hint("Use CASCADE to revoke them too.");
    remove(acl, {dependent->grantee, role, lost, lost}, cascade, owner);
  }
}

void remove(Acl& acl, const AclItem& change, bool cascade, const AclOwner& owner) {
  Rights lost = 0;
  for (AclItem& item : acl) {  // a damaged list may have the pair twice
    if (item.grantee != change.grantee || item.grantor != change.grantor) continue;
    lost |= item.grantable & change.grantable;
    item.rights &= ~change.rights;
    item.grantable &= ~change.grantable;
  }
  drop_empty_items(acl);
  if (lost != 0) remove_dependent(acl, change.grantee, lost, cascade, owner);
}

/// Throws 0LP01 if the grantor has the options only by way of the grantee.
void check_circularity(Acl acl, Oid grantee, Oid grantor, Rights options, const AclOwner& owner) {
  if (grantor == owner.owner) return;
  for (;;) {
    const auto item = std::ranges::find_if(acl, [&](const AclItem& each) { return each.grantee == grantee && each.grantable != 0; });
    if (item == acl.end()) break;
    remove(acl, AclItem(*item), true, owner);
  }
  if ((options & ~grant_options(acl, grantor, owner)) != 0) {
    throw SqlError(sqlstate::kInvalidGrantOperation, "grant options cannot be granted back to your own grantor");
  }
}

void add(Acl& acl, const AclItem& change, const AclOwner& owner) {
  if (change.grantable != 0) check_circularity(acl, change.grantee, change.grantor, change.grantable, owner);
  AclItem& item = find_or_add(acl, change.grantee, change.grantor);
  item.rights |= change.rights;
  item.grantable |= change.grantable;
  drop_empty_items(acl);
}

}  // namespace

Acl grant(Acl acl, std::span<const Oid> grantees, Oid grantor, Rights rights, bool with_grant_option, const AclOwner& owner) {
  for (const Oid grantee : grantees) {
    if (with_grant_option && grantee == kPublic) {
      throw SqlError(sqlstate::kInvalidGrantOperation, "grant options can only be granted to roles");
    }
    add(acl, {grantee, grantor, rights, with_grant_option ? rights : 0}, owner);
  }
  return acl;
}

Acl revoke(Acl acl, std::span<const Oid> grantees, Oid grantor, Rights rights, bool only_grant_option, bool cascade, const AclOwner& owner) {
  for (const Oid grantee : grantees) remove(acl, {grantee, grantor, only_grant_option ? 0 : rights, rights}, cascade, owner);
  return acl;
}

Grantor select_best_grantor(const Acl& acl, Oid role, Rights rights, const AclOwner& owner) {
  if (role == owner.owner || owner.roles.is_superuser(role)) return {owner.owner, rights};
  Grantor best{role, 0};
  for (const Oid candidate : owner.roles.memberships_of(role, owner.database)) {
    if (!owner.roles.has_privileges_of(role, candidate, owner.database)) continue;  // a membership without INHERIT
    Rights grantable = candidate == owner.owner ? rights : 0;
    for (const AclItem& item : acl) {
      if (item.grantee == candidate) grantable |= item.grantable & rights;
    }
    if (grantable == rights) return {candidate, grantable};
    if (std::popcount(grantable) > std::popcount(best.grantable)) best = {candidate, grantable};
  }
  return best;
}

Acl change_owner(const Acl& acl, Oid from, Oid to) {
  const auto renamed = [&](Oid role) { return role == from ? to : role; };
  Acl changed;
  for (const AclItem& item : acl) {
    AclItem& merged = find_or_add(changed, renamed(item.grantee), renamed(item.grantor));
    merged.rights |= item.rights;
    merged.grantable |= item.grantable;
  }
  return changed;
}

bool has_same_items(Acl a, Acl b) {
  const auto key = [](const AclItem& item) { return std::tuple(item.grantee, item.grantor, item.rights, item.grantable); };
  std::ranges::sort(a, {}, key);
  std::ranges::sort(b, {}, key);
  return a == b;
}

OptionalAcl merge_defaults(AclKind kind, const Acl* global, const Acl* in_schema, const AclOwner& owner) {
  if (global == nullptr && in_schema == nullptr) return std::nullopt;
  const Acl built_in = default_acl(kind, owner.owner);
  Acl merged = global != nullptr ? *global : built_in;
  if (in_schema != nullptr) {
    for (const AclItem& item : *in_schema) add(merged, item, owner);
  }
  if (has_same_items(merged, built_in)) return std::nullopt;
  // PostgreSQL keeps the merged list in this order.
  std::ranges::sort(merged, {}, [](const AclItem& item) { return std::pair(item.grantee, item.grantor); });
  return merged;
}

}  // namespace redquel::sql
