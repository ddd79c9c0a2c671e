#include "sql/catalog/role_set.h"

#include <gtest/gtest.h>

#include "sql/catalog/role_json.h"

namespace redquel::sql {
namespace {

using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

RoleDef make_role(Oid oid, std::string name) {
  RoleDef role;
  role.oid = oid;
  role.name = std::move(name);
  return role;
}

TEST(RoleSet, FollowsMembershipsAsPostgresql) {
  RoleSet roles;
  for (const auto& [oid, name] : {std::pair(16384U, "alice"), {16385U, "sales"}, {16386U, "staff"}}) roles.put(make_role(oid, name));
  RoleDef strict = make_role(16387, "strict");
  strict.inherit = false;
  roles.put(strict);
  roles.put(RoleMembership{16385, 16384, 10, false});
  roles.put(RoleMembership{16386, 16385, 10, true});
  roles.put(RoleMembership{16385, 16387, 10, false});
  EXPECT_TRUE(roles.has_privileges_of(16384, 16386));
  EXPECT_TRUE(roles.may_become(16387, 16386));
  EXPECT_FALSE(roles.has_privileges_of(16387, 16385));  // NOINHERIT
  EXPECT_TRUE(roles.is_admin(16384, 16386));
  EXPECT_FALSE(roles.is_admin(16384, 16385));
  EXPECT_TRUE(roles.has_privileges_of(kPostgresRole, 16384));
  EXPECT_FALSE(roles.is_member(kPostgresRole, 16384));
  EXPECT_TRUE(roles.is_member(3373, 3375));
  roles.put("shop", DatabaseFacts{16385, 7});
  EXPECT_TRUE(roles.is_member(16384, kDatabaseOwnerRole, "shop"));
  EXPECT_FALSE(roles.is_member(16384, kDatabaseOwnerRole, "postgres"));
  roles.drop_membership(16385, 16384);
  EXPECT_FALSE(roles.has_privileges_of(16384, 16386));
}

TEST(RoleSet, AppliesSettingsFromTheGeneralToTheSpecial) {
  RoleSet roles;
  const auto put = [&](std::string database, Oid role, std::string value) { roles.put(RoleSetting{std::move(database), role, {{"a.b", std::move(value)}}}); };
  put("shop", 16384, "both");
  put("", 0, "all");
  put("shop", 0, "database");
  put("", 16384, "role");
  const auto values = roles.settings_of(16384, "shop");
  ASSERT_EQ(values.size(), 4U);
  EXPECT_EQ(values[0].second, "all");
  EXPECT_EQ(values[1].second, "database");
  EXPECT_EQ(values[2].second, "role");
  EXPECT_EQ(values[3].second, "both");
}

TEST(RoleJson, RoundTrips) {
  RoleDef role = make_role(16400, "a \"b\"");
  role.superuser = role.can_login = true;
  role.inherit = false;
  role.connection_limit = 3;
  role.valid_until = INT64_MAX;
  role.owner_name = "old";
  const std::string postgres = encode(*RoleSet().find(kPostgresRole)), text = encode(role);
  const std::string member = encode(RoleMembership{16400, 10, 10, true});
  const std::string setting = encode(RoleSetting{"a:b", 16400, {{"search_path", "x, \"y=z\""}, {"work_mem", "1MB"}}});
  const Fields fields{{"role:10", postgres}, {"role:16400", text}, {"member:16400:10", member}, {"setting:a:b:16400", setting}};
  const RoleSet read = decode_roles(fields);
  EXPECT_TRUE(read.damaged.empty());
  EXPECT_EQ(*read.find(16400U), role);
  EXPECT_EQ(read.find_owner("old"), read.find("a \"b\""));
  EXPECT_TRUE(read.memberships().at({16400, 10}).admin);
  EXPECT_EQ(read.settings().at({"a:b", 16400}).values[0].second, "x, \"y=z\"");
  EXPECT_EQ(read.next_oid, 16401U);
}

TEST(RoleJson, SkipsUnreadableFields) {
  const std::string postgres = encode(*RoleSet().find(kPostgresRole));
  const Fields fields{{"role:10", postgres},
                      {"role:16384", "{\"name\":\"alice\",\"superuser\":1}"},
                      {"role:16385", "{\"name\":\"bob\"}"},
                      {"role:16386", "{\"name\":\"bob\",\"superuser\":true}"},
                      {"role:x", "{\"name\":\"carol\"}"},
                      {"role:3373", "{\"name\":\"pg_monitor\",\"superuser\":true}"},
                      {"member:16385:99", "{\"grantor\":10}"},
                      {"member:16385:16385", "{\"grantor\":10}"},
                      {"setting::16385", "[1]"}};
  const RoleSet roles = decode_roles(fields);
  EXPECT_EQ(roles.find("alice"), nullptr);
  EXPECT_EQ(roles.find("carol"), nullptr);
  EXPECT_FALSE(roles.find("bob")->superuser);
  EXPECT_FALSE(roles.find("pg_monitor")->superuser);
  EXPECT_EQ(roles.damaged.size(), 7U);
}

TEST(RoleJson, DoesNotRestoreALostSuperuser) {
  const Fields fields{{"role:10", "not JSON"}, {"version", "x"}};
  const RoleSet roles = decode_roles(fields);
  EXPECT_FALSE(roles.is_superuser(kPostgresRole));
  EXPECT_FALSE(roles.find(kPostgresRole)->can_login);
  EXPECT_TRUE(decode_roles({}).is_superuser(kPostgresRole));
  EXPECT_FALSE(decode_roles({}).is_stored);
}

TEST(RoleJson, RefusesLoopsOfMemberships) {
  const std::string postgres = encode(*RoleSet().find(kPostgresRole));
  const Fields fields{{"role:10", postgres}, {"role:16384", "{\"name\":\"a\"}"}, {"role:16385", "{\"name\":\"b\"}"},
                      {"member:16384:16385", "{\"grantor\":10}"}, {"member:16385:16384", "{\"grantor\":10}"}};
  const RoleSet roles = decode_roles(fields);
  EXPECT_EQ(roles.memberships().size(), 4U);  // three are pg_monitor's
  EXPECT_EQ(roles.damaged, std::vector<std::string>{"member:16385:16384"});
}

}  // namespace
}  // namespace redquel::sql
