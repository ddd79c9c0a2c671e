#include <gtest/gtest.h>

#include "sql/error.h"
#include "sql/privileges/acl.h"
#include "sql/privileges/grants.h"
#include "sql/privileges/held_rights.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/right_names.h"
#include "sql/system_tables.h"

namespace redquel::sql {
namespace {

constexpr Oid kOwner = 16384, kAlice = 16385, kBob = 16386, kCarol = 16387, kStaff = 16388, kStrict = 16389;

/// alice and strict are members of staff, strict without INHERIT.
RoleSet roles_of_tests() {
  RoleSet roles;
  for (const Oid oid : {kOwner, kAlice, kBob, kCarol, kStaff, kStrict}) {
    RoleDef role;
    role.oid = oid;
    role.name = "r" + std::to_string(oid);
    role.inherit = oid != kStrict;
    roles.put(std::move(role));
  }
  roles.put(RoleMembership{kStaff, kAlice, kPostgresRole, false});
  roles.put(RoleMembership{kStaff, kStrict, kPostgresRole, false});
  return roles;
}

std::string text_of(const Acl& acl) {
  std::string text;
  for (const AclItem& item : acl) text += (text.empty() ? "" : " ") + encode(item);
  return text;
}

/// A list of texts like "16385=r/16384".
Acl read(std::initializer_list<std::string_view> items) {
  Acl acl;
  for (const std::string_view item : items) acl.push_back(decode_acl_item(item).value());
  return acl;
}

std::string sqlstate_of(const auto& action) {
  try {
    action();
  } catch (const SqlError& error) {
    return std::string(error.sqlstate()) + " " + error.what();
  }
  return "";
}

class Privileges : public testing::Test {
 protected:
  const RoleSet roles = roles_of_tests();
  const AclOwner owner{kOwner, roles, "shop"};

  Rights held(const Acl& acl, Oid role, AclKind kind = AclKind::kTable) const { return held_rights(acl, kind, kOwner, role, roles, "shop"); }
  Acl give(Acl acl, Oid grantee, Oid grantor, Rights rights, bool with_option = false) const {
    return grant(std::move(acl), std::vector{grantee}, grantor, rights, with_option, owner);
  }
  Acl take(Acl acl, Oid grantee, Oid grantor, Rights rights, bool cascade = false, bool only_option = false) const {
    return revoke(std::move(acl), std::vector{grantee}, grantor, rights, only_option, cascade, owner);
  }
};

TEST_F(Privileges, AreHeldByPublicMembershipAndSuperusers) {
  const Acl acl = read({"16384=arwdDxt/16384", "0=r/16384", "16388=aw*/16384"});
  EXPECT_EQ(held(acl, kOwner), all_rights(AclKind::kTable));
  EXPECT_EQ(held(acl, kAlice), right::kSelect | right::kInsert | right::kUpdate);
  EXPECT_EQ(held(acl, kStrict), right::kSelect);
  EXPECT_EQ(held(acl, kBob), right::kSelect);
  EXPECT_EQ(held(acl, kPublic), right::kSelect);
  EXPECT_EQ(held({}, kPostgresRole), all_rights(AclKind::kTable));
  EXPECT_EQ(held_grant_options(acl, AclKind::kTable, kOwner, kAlice, roles, "shop"), right::kUpdate);
  EXPECT_EQ(held_grant_options(acl, AclKind::kTable, kOwner, kBob, roles, "shop"), 0U);
  EXPECT_EQ(held_grant_options({}, AclKind::kTable, kOwner, kOwner, roles, "shop"), all_rights(AclKind::kTable));
}

TEST_F(Privileges, OfTheOwnerCanBeRevokedButForItsGrantOptions) {
  const Acl acl = take(default_acl(AclKind::kTable, kOwner), kOwner, kOwner, right::kSelect);
  EXPECT_EQ(text_of(acl), "16384=awdDxt/16384");
  EXPECT_EQ(held(acl, kOwner) & right::kSelect, 0U);
  EXPECT_EQ(held_grant_options(acl, AclKind::kTable, kOwner, kOwner, roles, "shop"), all_rights(AclKind::kTable));
}

TEST_F(Privileges, OfPredefinedRolesHoldWithoutAGrant) {
  RoleSet with_readers = roles;
  with_readers.put(RoleMembership{kReadAllDataRole, kAlice, kPostgresRole, false});
  with_readers.put(RoleMembership{kWriteAllDataRole, kBob, kPostgresRole, false});
  const auto rights = [&](AclKind kind, Oid role) { return held_rights({}, kind, kOwner, role, with_readers, "shop"); };
  EXPECT_EQ(rights(AclKind::kTable, kAlice), right::kSelect);
  EXPECT_EQ(rights(AclKind::kSequence, kAlice), right::kSelect);
  EXPECT_EQ(rights(AclKind::kSchema, kAlice), right::kUsage);
  EXPECT_EQ(rights(AclKind::kFunction, kAlice), 0U);
  EXPECT_EQ(rights(AclKind::kTable, kBob), right::kInsert | right::kUpdate | right::kDelete);
  EXPECT_EQ(rights(AclKind::kSequence, kBob), right::kUpdate);
  EXPECT_EQ(rights(AclKind::kSchema, kBob), right::kUsage);
}

TEST_F(Privileges, OfTheDatabaseOwnerRoleDependOnTheDatabase) {
  RoleSet with_owner = roles;
  with_owner.put("shop", DatabaseFacts{kBob, -1});
  const Acl acl = read({"6171=UC/6171", "0=U/6171"});
  EXPECT_EQ(held_rights(acl, AclKind::kSchema, kDatabaseOwnerRole, kBob, with_owner, "shop"), right::kUsage | right::kCreate);
  EXPECT_EQ(held_rights(acl, AclKind::kSchema, kDatabaseOwnerRole, kBob, with_owner, "other"), right::kUsage);
}

TEST_F(Privileges, MergeByGranteeAndGrantor) {
  Acl acl = give(default_acl(AclKind::kTable, kOwner), kAlice, kOwner, right::kSelect);
  acl = give(std::move(acl), kAlice, kOwner, right::kInsert, true);
  acl = give(std::move(acl), kPublic, kOwner, right::kSelect);
  EXPECT_EQ(text_of(acl), "16384=arwdDxt/16384 16385=a*r/16384 0=r/16384");
  acl = take(std::move(acl), kAlice, kOwner, right::kInsert, false, true);
  EXPECT_EQ(text_of(acl), "16384=arwdDxt/16384 16385=ar/16384 0=r/16384");
  acl = take(std::move(acl), kAlice, kOwner, right::kInsert | right::kSelect);
  EXPECT_EQ(text_of(acl), "16384=arwdDxt/16384 0=r/16384");
}

TEST_F(Privileges, GrantedByALostGrantOptionNeedCascade) {
  Acl acl = give({}, kAlice, kOwner, right::kSelect | right::kInsert, true);
  acl = give(std::move(acl), kBob, kAlice, right::kSelect | right::kInsert, true);
  acl = give(std::move(acl), kCarol, kBob, right::kSelect);
  EXPECT_EQ(sqlstate_of([&] { take(acl, kAlice, kOwner, right::kSelect); }), "2BP01 dependent privileges exist");
  EXPECT_EQ(sqlstate_of([&] { take(acl, kAlice, kOwner, right::kSelect, false, true); }), "2BP01 dependent privileges exist");
  EXPECT_EQ(text_of(take(acl, kAlice, kOwner, right::kSelect, true)), "16385=a*/16384 16386=a*/16385");
  EXPECT_EQ(text_of(take(acl, kAlice, kOwner, right::kSelect, true, true)), "16385=a*r/16384 16386=a*/16385");
}

TEST_F(Privileges, StayWhileAnotherGrantorGivesTheOption) {
  Acl acl = give({}, kAlice, kOwner, right::kSelect, true);
  acl = give(std::move(acl), kBob, kOwner, right::kSelect, true);
  acl = give(std::move(acl), kCarol, kAlice, right::kSelect, true);
  acl = give(std::move(acl), kCarol, kBob, right::kSelect, true);
  acl = give(std::move(acl), kStaff, kCarol, right::kSelect);
  EXPECT_EQ(text_of(take(acl, kAlice, kOwner, right::kSelect, true)), "16386=r*/16384 16387=r*/16386 16388=r/16387");
}

TEST_F(Privileges, OfADamagedListAreRevokedToo) {
  const Acl acl = read({"16385=r/16384", "16385=r*/16384", "16386=r/16385", "16386=r*/16385"});
  EXPECT_EQ(text_of(take(acl, kAlice, kOwner, right::kSelect, true)), "");
  EXPECT_EQ(sqlstate_of([&] { give(acl, kAlice, kBob, right::kSelect, true); }),
            "0LP01 grant options cannot be granted back to your own grantor");
}

TEST_F(Privileges, RefuseGrantOptionsInCirclesAndToPublic) {
  Acl acl = give({}, kAlice, kOwner, right::kSelect, true);
  acl = give(std::move(acl), kBob, kAlice, right::kSelect, true);
  EXPECT_EQ(sqlstate_of([&] { give(acl, kAlice, kBob, right::kSelect, true); }),
            "0LP01 grant options cannot be granted back to your own grantor");
  EXPECT_EQ(text_of(give(acl, kAlice, kBob, right::kSelect)), "16385=r*/16384 16386=r*/16385 16385=r/16386");
  EXPECT_EQ(sqlstate_of([&] { give(acl, kPublic, kOwner, right::kSelect, true); }), "0LP01 grant options can only be granted to roles");
}

TEST_F(Privileges, AreGrantedByTheRoleWithMostOptions) {
  const Acl acl = read({"16385=a*/16384", "16388=a*r*w/16384"});
  const auto best = [&](Oid role, Rights rights) {
    const Grantor grantor = select_best_grantor(acl, role, rights, owner);
    return std::pair(grantor.role, grantor.grantable);
  };
  EXPECT_EQ(best(kOwner, right::kDelete), std::pair(kOwner, right::kDelete));
  EXPECT_EQ(best(kPostgresRole, right::kDelete), std::pair(kOwner, right::kDelete));
  EXPECT_EQ(best(kAlice, right::kInsert), std::pair(kAlice, right::kInsert));
  EXPECT_EQ(best(kAlice, right::kInsert | right::kSelect), std::pair(kStaff, right::kInsert | right::kSelect));
  EXPECT_EQ(best(kAlice, right::kSelect | right::kUpdate), std::pair(kStaff, right::kSelect));
  EXPECT_EQ(best(kStrict, right::kSelect), std::pair(kStrict, Rights{0}));
  EXPECT_EQ(best(kBob, right::kSelect), std::pair(kBob, Rights{0}));
}

TEST_F(Privileges, FollowTheOwner) {
  const Acl acl = read({"16384=ar/16384", "16385=w/16384", "0=r/16384"});
  EXPECT_EQ(text_of(change_owner(acl, kOwner, kBob)), "16386=ar/16386 16385=w/16386 0=r/16386");
  EXPECT_EQ(text_of(change_owner(acl, kOwner, kAlice)), "16385=arw/16385 0=r/16385");
}

TEST_F(Privileges, OfNewObjectsAreMergedFromDefaults) {
  const Acl in_schema = read({"16385=r/16384"}), global = read({"16384=arwdDxt/16384", "0=r/16384"});
  EXPECT_EQ(merge_defaults(AclKind::kTable, nullptr, nullptr, owner), std::nullopt);
  EXPECT_EQ(text_of(merge_defaults(AclKind::kTable, nullptr, &in_schema, owner).value()), "16384=arwdDxt/16384 16385=r/16384");
  EXPECT_EQ(text_of(merge_defaults(AclKind::kTable, &global, &in_schema, owner).value()), "0=r/16384 16384=arwdDxt/16384 16385=r/16384");
  const Acl usual = default_acl(AclKind::kTable, kOwner);
  EXPECT_EQ(merge_defaults(AclKind::kTable, &usual, nullptr, owner), std::nullopt);
}

TEST_F(Privileges, OfSystemObjectsAreThoseOfPostgresql) {
  const CatalogSnapshot catalog;
  const auto of_table = [&](std::string_view name, Oid role) {
    return held_rights(acl_of(catalog, catalog_class::kRelations, find_system_table("pg_catalog", name)->oid).value(), role, roles, "shop");
  };
  EXPECT_EQ(of_table("pg_class", kBob), right::kSelect);
  EXPECT_EQ(of_table("pg_authid", kBob), 0U);
  EXPECT_EQ(of_table("pg_shadow", kBob), 0U);
  EXPECT_EQ(of_table("pg_settings", kBob), right::kSelect | right::kUpdate);
  EXPECT_EQ(of_table("pg_authid", kPostgresRole), all_rights(AclKind::kTable));
  CatalogSnapshot granted;
  granted.system_acls[{catalog_class::kRelations, 1260}] = read({"16386=arw/10"});
  EXPECT_EQ(held_rights(acl_of(granted, catalog_class::kRelations, 1260).value(), kBob, roles, "shop"), right::kSelect);  // no writes
  constexpr Oid kReloadConf = 2621, kLength = 1317, kRedisSchema = 15899;
  const auto of_function = [&](Oid oid, Oid role) {
    return held_rights(acl_of(catalog, catalog_class::kFunctions, oid).value(), role, roles, "shop");
  };
  EXPECT_EQ(of_function(kReloadConf, kBob), 0U);
  EXPECT_EQ(of_function(kLength, kBob), right::kExecute);
  const ObjectAcl redis = acl_of(catalog, catalog_class::kSchemas, kRedisSchema).value();
  EXPECT_EQ(held_rights(redis, kBob, roles, "shop"), 0U);
  EXPECT_EQ(held_rights(redis, kMonitorRole, roles, "shop"), right::kUsage);
  EXPECT_EQ(acl_of(catalog, catalog_class::kRelations, 1), std::nullopt);
}

TEST_F(Privileges, OfPgMonitorShowNoKeysAndValuesOfRedis) {
  const CatalogSnapshot catalog;
  const auto held = [&](std::string_view name) {
    return held_rights(acl_of(catalog, catalog_class::kRelations, find_system_table("redis", name)->oid).value(), kMonitorRole, roles, "shop");
  };
  for (const std::string_view name : {"info", "clients", "commandstats"}) EXPECT_EQ(held(name), right::kSelect) << name;
  for (const std::string_view name : {"keys", "slowlog", "config", "streams"}) EXPECT_EQ(held(name), 0U) << name;
  const SystemTable& slowlog = *find_system_table("redis", "slowlog");
  for (std::size_t i = 0; i < slowlog.columns.size(); ++i) {
    const Rights rights = held_column_rights(catalog, slowlog.oid, static_cast<std::int16_t>(i + 1), kMonitorRole, roles, "shop");
    EXPECT_EQ(rights, slowlog.columns[i].name == "arguments" ? 0U : right::kSelect) << slowlog.columns[i].name;
  }
}

TEST_F(Privileges, OfAnInitialSchemaPublicIncludeUsage) {
  SchemaDef schema;
  schema.oid = 2200;
  schema.name = "public";
  schema.owner = owner_reference(kDatabaseOwnerRole);
  EXPECT_EQ(text_of(acl_of(schema).effective()), "6171=UC/6171 0=U/6171");
  schema.owner = owner_reference(kBob);
  EXPECT_EQ(text_of(acl_of(schema).effective()), "16386=UC/16386 0=U/16386");
  schema.oid = 16400;  // made anew
  EXPECT_EQ(text_of(acl_of(schema).effective()), "16386=UC/16386");
}

TEST_F(Privileges, OfAnOwnerThatIsNoRoleAreNotPublic) {
  TableDef table;
  table.owner = "long_gone";
  EXPECT_EQ(held_rights(acl_of(table), kBob, roles, "shop"), 0U);
}

TEST(RightNames, AreReadInAnyLetterCase) {
  EXPECT_EQ(find_right("select"), right::kSelect);
  EXPECT_EQ(find_right("Temp"), right::kTemporary);
  EXPECT_EQ(find_right("alter system"), right::kAlterSystem);
  EXPECT_EQ(find_right("rule"), Rights{0});
  EXPECT_EQ(find_right("selec"), std::nullopt);
  EXPECT_EQ(right_name(right::kAlterSystem), "ALTER SYSTEM");
}

}  // namespace
}  // namespace redquel::sql
