#include "sql/catalog/role_set.h"

#include "sql/catalog/role_scope.h"

#include <algorithm>
#include <charconv>

namespace redquel::sql {

namespace {

bool contains(const std::vector<Oid>& roles, Oid role) { return std::ranges::find(roles, role) != roles.end(); }

}  // namespace

const std::vector<PredefinedRole>& predefined_roles() {
  static const std::vector<PredefinedRole> kRoles = {
      {6171, "pg_database_owner"},         {6181, "pg_read_all_data"},     {6182, "pg_write_all_data"},    {3373, "pg_monitor"},
      {3374, "pg_read_all_settings"},      {3375, "pg_read_all_stats"},    {3377, "pg_stat_scan_tables"},  {4569, "pg_read_server_files"},
      {4570, "pg_write_server_files"},     {4571, "pg_execute_server_program"}, {4200, "pg_signal_backend"}, {4544, "pg_checkpoint"},
  };
  return kRoles;
}

RoleSet::RoleSet() {
  RoleDef postgres;
  postgres.oid = kPostgresRole;
  postgres.name = postgres.owner_name = kBootstrapRole;
  postgres.superuser = postgres.create_role = postgres.create_database = postgres.can_login = true;
  postgres.replication = postgres.bypass_row_security = true;
  put(std::move(postgres));
  for (const PredefinedRole& predefined : predefined_roles()) {
    RoleDef role;
    role.oid = predefined.oid;
    role.name = role.owner_name = predefined.name;
    put(std::move(role));
  }
  constexpr Oid kMonitor = 3373, kReadAllSettings = 3374, kReadAllStats = 3375, kStatScanTables = 3377;
  for (const Oid role : {kReadAllSettings, kReadAllStats, kStatScanTables}) put(RoleMembership{role, kMonitor, kPostgresRole, false});
}

const RoleSetPtr& built_in_roles() {
  static const RoleSetPtr kRoles = std::make_shared<const RoleSet>();
  return kRoles;
}

namespace {

RoleSetPtr& roles_of_thread() {
  thread_local RoleSetPtr roles = built_in_roles();
  return roles;
}

/// Null: none.
const RoleSetPtr*& roles_of_scope() {
  thread_local const RoleSetPtr* roles = nullptr;
  return roles;
}

}  // namespace

RoleScope::RoleScope(const RoleSetPtr& roles) : outer_(std::exchange(roles_of_scope(), &roles)) {}
RoleScope::~RoleScope() { roles_of_scope() = outer_; }

const RoleSetPtr& committed_roles() { return roles_of_thread(); }
const RoleSetPtr& known_roles() { return roles_of_scope() == nullptr ? roles_of_thread() : *roles_of_scope(); }
void set_known_roles(RoleSetPtr roles) { roles_of_thread() = std::move(roles); }

std::string owner_reference(Oid role) { return "#" + std::to_string(role); }

Oid owner_role(std::string_view owner) {
  if (is_before_roles(owner)) {
    const RoleDef* role = known_roles()->find_owner(owner);
    return role == nullptr ? 0 : role->oid;
  }
  Oid oid = 0;
  std::from_chars(owner.data() + 1, owner.data() + owner.size(), oid);
  return oid;
}

std::string owner_name(std::string_view owner) {
  const Oid role = owner_role(owner);
  return role == 0 && is_before_roles(owner) ? std::string(owner) : known_roles()->name_of(role);
}

const RoleDef* RoleSet::find(Oid oid) const {
  const auto found = roles_.find(oid);
  return found == roles_.end() ? nullptr : &found->second;
}

const RoleDef* RoleSet::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : find(found->second);
}

const RoleDef* RoleSet::find_owner(std::string_view name) const {
  const auto found = by_owner_name_.find(name);
  return found == by_owner_name_.end() ? nullptr : find(found->second);
}

std::string RoleSet::name_of(Oid oid) const {
  const RoleDef* role = find(oid);
  return role != nullptr ? role->name : "unknown (OID=" + std::to_string(oid) + ")";
}

bool RoleSet::is_superuser(Oid role) const {
  const RoleDef* found = find(role);
  return found != nullptr && found->superuser;
}

std::vector<Oid> RoleSet::closure(Oid member, std::string_view database, bool by_inheritance) const {
  std::vector<Oid> found{member};
  std::set<Oid> seen{member};
  const Oid database_owner = database.empty() ? 0 : facts_of(database).owner;
  for (std::size_t next = 0; next < found.size(); ++next) {
    const RoleDef* role = find(found[next]);
    if (role == nullptr || (by_inheritance && !role->inherit)) continue;
    const auto [begin, end] = roles_of_member_.equal_range(role->oid);
    for (auto entry = begin; entry != end; ++entry) {
      if (seen.insert(entry->second).second) found.push_back(entry->second);
    }
    if (role->oid == database_owner && seen.insert(kDatabaseOwnerRole).second) found.push_back(kDatabaseOwnerRole);
  }
  return found;
}

bool RoleSet::is_member(Oid member, Oid role, std::string_view database) const {
  return member == role || contains(closure(member, database, false), role);
}

bool RoleSet::may_become(Oid member, Oid role, std::string_view database) const {
  return is_superuser(member) || is_member(member, role, database);
}

bool RoleSet::has_privileges_of(Oid member, Oid role, std::string_view database) const {
  return member == role || is_superuser(member) || contains(closure(member, database, true), role);
}

bool RoleSet::is_admin(Oid member, Oid role) const {
  if (is_superuser(member)) return true;
  if (member == role) return false;
  const std::vector<Oid> roles = closure(member, {}, false);
  return std::ranges::any_of(roles, [&](Oid through) {
    const auto found = memberships_.find({role, through});
    return found != memberships_.end() && found->second.admin;
  });
}

std::vector<Oid> RoleSet::memberships_of(Oid member, std::string_view database) const { return closure(member, database, false); }

DatabaseFacts RoleSet::facts_of(std::string_view database) const {
  const auto found = databases_.find(std::string(database));
  return found == databases_.end() ? DatabaseFacts{} : found->second;
}

std::vector<std::pair<std::string, std::string>> RoleSet::settings_of(Oid role, std::string_view database) const {
  std::vector<std::pair<std::string, std::string>> values;
  const auto add = [&](const std::string& of_database, Oid of_role) {
    const auto found = settings_.find({of_database, of_role});
    if (found != settings_.end()) values.insert(values.end(), found->second.values.begin(), found->second.values.end());
  };
  const std::string name(database);
  add("", 0);
  add(name, 0);
  add("", role);
  add(name, role);
  return values;
}

void RoleSet::put(RoleDef role) {
  drop_role(role.oid);
  by_name_.insert_or_assign(role.name, role.oid);
  if (!role.owner_name.empty()) by_owner_name_.insert_or_assign(role.owner_name, role.oid);
  const Oid oid = role.oid;
  roles_.insert_or_assign(oid, std::move(role));
}

void RoleSet::put(RoleMembership membership) {
  drop_membership(membership.role, membership.member);
  roles_of_member_.emplace(membership.member, membership.role);
  memberships_.emplace(std::pair(membership.role, membership.member), membership);
}

void RoleSet::put(RoleSetting setting) {
  std::pair key(setting.database, setting.role);
  settings_.insert_or_assign(std::move(key), std::move(setting));
}

void RoleSet::put(std::string database, DatabaseFacts facts) { databases_.insert_or_assign(std::move(database), facts); }

void RoleSet::drop_role(Oid oid) {
  const auto found = roles_.find(oid);
  if (found == roles_.end()) return;
  const auto forget = [oid](auto& names, const std::string& name) {
    const auto entry = names.find(name);
    if (entry != names.end() && entry->second == oid) names.erase(entry);
  };
  forget(by_name_, found->second.name);
  forget(by_owner_name_, found->second.owner_name);
  roles_.erase(found);
}

void RoleSet::drop_membership(Oid role, Oid member) {
  if (memberships_.erase({role, member}) == 0) return;
  const auto [begin, end] = roles_of_member_.equal_range(member);
  for (auto entry = begin; entry != end; ++entry) {
    if (entry->second != role) continue;
    roles_of_member_.erase(entry);
    return;
  }
}

void RoleSet::drop_setting(const std::string& database, Oid role) { settings_.erase({database, role}); }

void RoleSet::drop_database(const std::string& database) { databases_.erase(database); }

}  // namespace redquel::sql
