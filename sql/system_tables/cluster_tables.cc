// The objects that all databases share: roles, databases, tablespaces.

#include <algorithm>

#include "sql/privileges/acl_text.h"
#include "sql/privileges/object_acl.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/shown_verifiers.h"
#include "sql/types/array_value.h"

namespace redquel::sql {
namespace {

constexpr std::int32_t kUtf8 = 6;
constexpr std::string_view kHiddenPassword = "********";

thread_local const std::map<Oid, std::string>* shown_verifiers = nullptr;

void databases(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  const auto add = [&](const std::string& name) {
    const bool is_template = name == "template0" || name == "template1";
    const DatabaseFacts facts = known_roles()->facts_of(name);
    out.add(database_oid(name), name, facts.owner, kUtf8, 'c', is_template, name != "template0", facts.connection_limit, 0, 0,
            oid::kDefaultTablespace, "C", "C", kNull, kNull, acl_text(acl_of_database(*known_roles(), name).acl));
  };
  std::ranges::for_each(context.databases, add);
  for (const char* name : {"template0", "template1"}) {
    if (std::ranges::find(context.databases, name) == context.databases.end()) add(name);
  }
}

std::optional<std::string_view> verifier(const RoleDef& role) {
  if (shown_verifiers == nullptr) return std::nullopt;
  const auto found = shown_verifiers->find(role.oid);
  return found == shown_verifiers->end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

std::string settings_array(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) append_array_element(item, text);
  finish_array_text(text);
  return text;
}

/// An array of name=value; absent: nothing is set.
std::optional<std::string> settings_text(const RoleSetting& setting) {
  std::vector<std::string> items;
  for (const auto& [name, value] : setting.values) items.push_back(name + "=" + value);
  if (items.empty()) return std::nullopt;
  return settings_array(items);
}

std::optional<std::string> role_settings(const RoleDef& role) {
  const auto found = known_roles()->settings().find({"", role.oid});
  return found == known_roles()->settings().end() ? std::nullopt : settings_text(found->second);
}

void authids(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  for (const auto& [oid, role] : known_roles()->roles()) {
    out.add(oid, role.name, role.superuser, role.inherit, role.create_role, role.create_database, role.can_login, role.replication,
            role.bypass_row_security, role.connection_limit, verifier(role), role.valid_until);
  }
}

void roles(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  for (const auto& [oid, role] : known_roles()->roles()) {
    out.add(role.name, role.superuser, role.inherit, role.create_role, role.create_database, role.can_login, role.replication,
            role.connection_limit, kHiddenPassword, role.valid_until, role.bypass_row_security, role_settings(role), oid);
  }
}

void users(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  for (const auto& [oid, role] : known_roles()->roles()) {
    if (!role.can_login) continue;
    out.add(role.name, oid, role.create_database, role.superuser, role.replication, role.bypass_row_security, kHiddenPassword,
            role.valid_until, role_settings(role));
  }
}

void shadows(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  for (const auto& [oid, role] : known_roles()->roles()) {
    if (!role.can_login) continue;
    out.add(role.name, oid, role.create_database, role.superuser, role.replication, role.bypass_row_security, verifier(role),
            role.valid_until, role_settings(role));
  }
}

void groups(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  for (const auto& [oid, role] : known_roles()->roles()) {
    if (role.can_login) continue;
    std::vector<Oid> members;
    for (const auto& [key, membership] : known_roles()->memberships()) {
      if (key.first == oid) members.push_back(key.second);
    }
    out.add(role.name, oid, array_text(members));
  }
}

void memberships(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  for (const auto& [key, membership] : known_roles()->memberships()) {
    out.add(membership.role, membership.member, membership.grantor, membership.admin);
  }
}

void role_setting_rows(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  for (const auto& [key, setting] : known_roles()->settings()) {
    out.add(setting.database.empty() ? 0 : database_oid(setting.database), setting.role, settings_text(setting));
  }
}

void tablespaces(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  out.add(oid::kDefaultTablespace, "pg_default", kPostgresRole, kNull, kNull);
  out.add(oid::kGlobalTablespace, "pg_global", kPostgresRole, kNull, kNull);
}

const SystemTableDefinition kClusterTables[] = {
    {"pg_catalog", "pg_database", 1262, 'r',
     "oid oid!, datname name!, datdba oid!, encoding int4!, datlocprovider char!, datistemplate bool!, "
     "datallowconn bool!, datconnlimit int4!, datfrozenxid xid!, datminmxid xid!, dattablespace oid!, "
     "datcollate text!, datctype text!, daticulocale text, datcollversion text, datacl _aclitem", databases},
    {"pg_catalog", "pg_authid", 1260, 'r',
     "oid oid!, rolname name!, rolsuper bool!, rolinherit bool!, rolcreaterole bool!, rolcreatedb bool!, "
     "rolcanlogin bool!, rolreplication bool!, rolbypassrls bool!, rolconnlimit int4!, rolpassword text, "
     "rolvaliduntil timestamptz", authids},
    {"pg_catalog", "pg_roles", 12000, 'v',
     "rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, rolcanlogin bool, "
     "rolreplication bool, rolconnlimit int4, rolpassword text, rolvaliduntil timestamptz, rolbypassrls bool, "
     "rolconfig _text, oid oid", roles},
    {"pg_catalog", "pg_user", 12014, 'v',
     "usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, "
     "passwd text, valuntil timestamptz, useconfig _text", users},
    {"pg_catalog", "pg_shadow", 12005, 'v',
     "usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, "
     "passwd text, valuntil timestamptz, useconfig _text", shadows},
    {"pg_catalog", "pg_group", 12010, 'v', "groname name, grosysid oid, grolist _oid", groups},
    {"pg_catalog", "pg_auth_members", 1261, 'r',
     "roleid oid!, member oid!, grantor oid!, admin_option bool!", memberships},
    {"pg_catalog", "pg_db_role_setting", 2964, 'r', "setdatabase oid!, setrole oid!, setconfig _text", role_setting_rows},
    {"pg_catalog", "pg_tablespace", 1213, 'r',
     "oid oid!, spcname name!, spcowner oid!, spcacl _aclitem, spcoptions _text", tablespaces},
};

}  // namespace

SystemTableFamily cluster_tables() { return kClusterTables; }

ShownVerifiers::ShownVerifiers(const std::map<Oid, std::string>& verifiers) { shown_verifiers = &verifiers; }
ShownVerifiers::~ShownVerifiers() { shown_verifiers = nullptr; }
const std::map<Oid, std::string>* ShownVerifiers::current() { return shown_verifiers; }

}  // namespace redquel::sql
