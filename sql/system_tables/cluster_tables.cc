// What all databases share: roles, databases, tablespaces.

#include <algorithm>

#include "sql/system_tables/families.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {
namespace {

constexpr std::int32_t kUtf8 = 6;
constexpr std::string_view kHiddenPassword = "********";

void databases(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  const auto add = [&](const std::string& name) {
    const bool is_template = name == "template0" || name == "template1";
    out.add(database_oid(name), name, kPostgresRole, kUtf8, 'c', is_template, name != "template0", -1, 0, 0, oid::kDefaultTablespace, "C",
            "C", kNull, kNull, kNull);
  };
  std::ranges::for_each(context.databases, add);
  for (const char* name : {"template0", "template1"}) {
    if (std::ranges::find(context.databases, name) == context.databases.end()) add(name);
  }
}

void authids(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Role& role : all_roles(catalog, context)) {
    const bool user = role.is_user;
    out.add(role.oid, role.name, user, true, user, user, user, user, user, -1, kNull, kNull);
  }
}

void roles(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Role& role : all_roles(catalog, context)) {
    const bool user = role.is_user;
    out.add(role.name, user, true, user, user, user, user, -1, kHiddenPassword, kNull, user, kNull, role.oid);
  }
}

void users(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Role& role : all_roles(catalog, context)) {
    if (role.is_user) out.add(role.name, role.oid, true, true, true, true, kHiddenPassword, kNull, kNull);
  }
}

void shadows(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Role& role : all_roles(catalog, context)) {
    if (role.is_user) out.add(role.name, role.oid, true, true, true, true, kNull, kNull, kNull);
  }
}

void groups(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Role& role : all_roles(catalog, context)) {
    if (!role.is_user) out.add(role.name, role.oid, "{}");
  }
}

/// As PostgreSQL's own: the predefined roles that make up pg_monitor.
void memberships(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  const Oid monitor = role_oid("pg_monitor");
  for (const std::string_view name : {"pg_read_all_settings", "pg_read_all_stats", "pg_stat_scan_tables"}) {
    out.add(role_oid(name), monitor, kPostgresRole, false);
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
    {"pg_catalog", "pg_tablespace", 1213, 'r',
     "oid oid!, spcname name!, spcowner oid!, spcacl _aclitem, spcoptions _text", tablespaces},
};

}  // namespace

SystemTableFamily cluster_tables() { return kClusterTables; }

}  // namespace redquel::sql
