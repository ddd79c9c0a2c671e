// pg_default_acl, pg_init_privs.

#include "sql/privileges/acl_text.h"
#include "sql/privileges/initial_acls.h"
#include "sql/privileges/object_acl.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {
namespace {

void default_acls(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, entry] : catalog.default_acls) out.add(oid, entry.role, entry.schema, entry.kind, acl_text(entry.acl));
}

/// Lists the initial privileges of system objects, regardless of later grants.
void initial_acls(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  const auto add = [&](Oid object, Oid object_class, std::int32_t column, const OptionalAcl& acl) {
    if (acl) out.add(object, object_class, column, 'i', acl_text(*acl));
  };
  for (const SystemTable& table : all_system_tables()) {
    add(table.oid, catalog_class::kRelations, 0, initial_relation_acl(table.schema, table.name));
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      add(table.oid, catalog_class::kRelations, static_cast<std::int32_t>(i + 1), initial_column_acl(table.schema, table.name, table.columns[i].name));
    }
  }
  for (const CatalogFunction& function : all_catalog_functions()) {
    add(function.oid, catalog_class::kFunctions, 0, initial_function_acl(function.oid, function.name));
  }
  for (const std::string_view name : {"pg_catalog", "information_schema", "redis", "redquel"}) {
    add(schema_oid(catalog, name), catalog_class::kSchemas, 0, initial_schema_acl(name));
  }
}

const SystemTableDefinition kPrivilegeTables[] = {
    {"pg_catalog", "pg_default_acl", 826, 'r',
     "oid oid!, defaclrole oid!, defaclnamespace oid!, defaclobjtype char!, defaclacl _aclitem!", default_acls},
    {"pg_catalog", "pg_init_privs", 3394, 'r',
     "objoid oid!, classoid oid!, objsubid int4!, privtype char!, initprivs _aclitem!", initial_acls},
};

}  // namespace

SystemTableFamily privilege_tables() { return kPrivilegeTables; }

}  // namespace redquel::sql
