#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/privileges/acl.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// The bootstrap superuser, and the first oid of roles that are made.
inline constexpr Oid kPostgresRole = 10, kFirstRoleOid = 16384;
/// Roles with lower oids are PostgreSQL's own: nothing changes them.
inline bool is_predefined_role(Oid role) { return role != kPostgresRole && role < kFirstRoleOid; }
inline constexpr Oid kDatabaseOwnerRole = 6171;
inline constexpr std::string_view kBootstrapRole = "postgres";

/// A role without its password.
struct RoleDef {
  Oid oid = 0;
  std::string name;
  bool superuser = false, inherit = true, create_role = false, create_database = false, can_login = false, replication = false,
       bypass_row_security = false;
  std::int32_t connection_limit = -1;
  std::optional<std::int64_t> valid_until;  // µs since 2000-01-01 UTC; INT64_MIN and INT64_MAX are the infinities
  /// The name by which definitions from before roles call their owner; a rename leaves it. Empty: they do not name this role.
  std::string owner_name;
  std::string comment;

  friend bool operator==(const RoleDef&, const RoleDef&) = default;
};

/// A row of pg_auth_members.
struct RoleMembership {
  Oid role = 0, member = 0, grantor = 0;
  bool admin = false;

  friend bool operator==(const RoleMembership&, const RoleMembership&) = default;
};

/// A row of pg_db_role_setting: values that sessions of a role (0: all) in a database (empty: all) begin with.
struct RoleSetting {
  std::string database;
  Oid role = 0;
  std::vector<std::pair<std::string, std::string>> values;  // by parameter, in the order in which they were set

  friend bool operator==(const RoleSetting&, const RoleSetting&) = default;
};

/// The attributes of a database beside its number.
struct DatabaseFacts {
  Oid owner = kPostgresRole;
  std::int32_t connection_limit = -1;
  OptionalAcl acl = {};

  friend bool operator==(const DatabaseFacts&, const DatabaseFacts&) = default;
};

/// The roles that all databases share. Immutable once it is read; snapshots share it. Holds no password.
class RoleSet {
 public:
  /// postgres and PostgreSQL's predefined roles with their memberships.
  RoleSet();

  const std::map<Oid, RoleDef>& roles() const { return roles_; }
  const std::map<std::pair<Oid, Oid>, RoleMembership>& memberships() const { return memberships_; }  // by role and member
  const std::map<std::pair<std::string, Oid>, RoleSetting>& settings() const { return settings_; }
  const std::map<std::string, DatabaseFacts>& databases() const { return databases_; }

  const RoleDef* find(Oid oid) const;
  const RoleDef* find(std::string_view name) const;
  /// The role that definitions from before roles call by this name.
  const RoleDef* find_owner(std::string_view name) const;
  /// The name, or "unknown (OID=…)" as pg_get_userbyid() has it.
  std::string name_of(Oid oid) const;

  bool is_superuser(Oid role) const;
  /// Returns true for the role itself and for direct and indirect members, regardless of INHERIT (PostgreSQL's is_member_of_role_nosuper).
  bool is_member(Oid member, Oid role, std::string_view database = {}) const;
  /// Returns true if the member may SET ROLE to the role: members and superusers.
  bool may_become(Oid member, Oid role, std::string_view database = {}) const;
  /// Returns true if the member has the role's privileges without SET ROLE: superusers, and members by way of INHERIT (has_privs_of_role).
  bool has_privileges_of(Oid member, Oid role, std::string_view database = {}) const;
  /// Returns true if the member may grant the role: superusers, and members WITH ADMIN OPTION (is_admin_of_role).
  bool is_admin(Oid member, Oid role) const;
  /// All roles that it is a member of, itself first.
  std::vector<Oid> memberships_of(Oid member, std::string_view database = {}) const;
  DatabaseFacts facts_of(std::string_view database) const;
  /// The settings that a session of the role begins with, in the order in which later ones win.
  std::vector<std::pair<std::string, std::string>> settings_of(Oid role, std::string_view database) const;

  // For those that read and change the set.
  void put(RoleDef role);
  void put(RoleMembership membership);
  void put(RoleSetting setting);
  void put(std::string database, DatabaseFacts facts);
  void drop_role(Oid oid);
  void drop_membership(Oid role, Oid member);
  void drop_setting(const std::string& database, Oid role);
  void drop_database(const std::string& database);

  std::string version;              // of redquel:roles: random, another one after every change
  Oid next_oid = kFirstRoleOid;
  bool is_stored = false;           // false: Redis has no roles at all
  std::vector<std::string> damaged; // fields of redquel:roles that cannot be read: they count for nothing

 private:
  std::vector<Oid> closure(Oid member, std::string_view database, bool by_inheritance) const;

  std::map<Oid, RoleDef> roles_;
  std::map<std::string, Oid, std::less<>> by_name_, by_owner_name_;
  std::map<std::pair<Oid, Oid>, RoleMembership> memberships_;
  std::multimap<Oid, Oid> roles_of_member_;
  std::map<std::pair<std::string, Oid>, RoleSetting> settings_;
  std::map<std::string, DatabaseFacts> databases_;
};

using RoleSetPtr = std::shared_ptr<const RoleSet>;

/// postgres and the predefined roles alone.
const RoleSetPtr& built_in_roles();

/// The roles that this thread read last: with every snapshot of a catalog, whose version moves when roles change. The built-in ones until then.
/// Within a RoleScope (role_scope.h) they are those of a transaction that has changed roles.
const RoleSetPtr& known_roles();
void set_known_roles(RoleSetPtr roles);

// Definitions name their owner by a text: "#" and the role's oid, or, if they were made when there were no roles, its name of then.

std::string owner_reference(Oid role);
inline bool is_before_roles(std::string_view owner) { return !owner.starts_with('#'); }
/// The role; 0: a name from before roles that no role has.
Oid owner_role(std::string_view owner);
/// The owner's name of now.
std::string owner_name(std::string_view owner);

/// PostgreSQL's predefined roles.
struct PredefinedRole {
  Oid oid;
  std::string_view name;
};
const std::vector<PredefinedRole>& predefined_roles();

}  // namespace redquel::sql
