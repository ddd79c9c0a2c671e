#include "sql/system_tables/roles.h"

#include <algorithm>

namespace redquel::sql {
namespace {

struct PredefinedRole {
  Oid oid;
  std::string_view name;
};

constexpr PredefinedRole kPredefinedRoles[] = {
    {6171, "pg_database_owner"},      {6181, "pg_read_all_data"},      {6182, "pg_write_all_data"},
    {3373, "pg_monitor"},             {3374, "pg_read_all_settings"},  {3375, "pg_read_all_stats"},
    {3377, "pg_stat_scan_tables"},    {4569, "pg_read_server_files"},  {4570, "pg_write_server_files"},
    {4571, "pg_execute_server_program"}, {4200, "pg_signal_backend"},  {4544, "pg_checkpoint"},
};

/// FNV-1a: the same in every process; far above the oids that are handed out.
Oid oid_from_name(std::string_view name) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return 0x40000000U | (hash & 0x3fffffffU);
}

void add_user(std::vector<Role>& roles, const std::string& name) {
  if (std::ranges::find(roles, name, &Role::name) == roles.end()) roles.push_back({role_oid(name), name, true});
}

}  // namespace

std::vector<Role> all_roles(const CatalogSnapshot& catalog, const EvaluationContext& context) {
  std::vector<Role> roles = {{kPostgresRole, "postgres", true}};
  for (const PredefinedRole& role : kPredefinedRoles) roles.push_back({role.oid, std::string(role.name), false});
  add_user(roles, context.user);
  for (const auto& [name, schema] : catalog.schemas) add_user(roles, schema.owner);
  for (const auto& [oid, table] : catalog.tables) add_user(roles, table->owner);
  return roles;
}

Oid role_oid(std::string_view name) {
  if (name == "postgres") return kPostgresRole;
  for (const PredefinedRole& role : kPredefinedRoles) {
    if (role.name == name) return role.oid;
  }
  return oid_from_name(name);
}

Oid database_oid(std::string_view name) { return name == "postgres" ? 5 : oid_from_name(name); }

}  // namespace redquel::sql
