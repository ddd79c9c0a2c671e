// pg_foreign_data_wrapper, pg_foreign_server, pg_foreign_table, pg_user_mapping: tables over keys of applications. Server redis is always there.

#include <algorithm>

#include "sql/catalog/mapping.h"
#include "sql/privileges/acl_text.h"
#include "sql/privileges/object_acl.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/user_mappings.h"
#include "sql/types/array_value.h"

namespace redquel::sql {

std::optional<std::string> option_array(const CatalogSnapshot& catalog, const TableDef& table, std::int16_t column) {
  std::string array;
  for (const Mapping::Option& option : table.mapping().options) {
    if (option.column != column) continue;
    if (const auto text = option_text(catalog, table, option)) append_array_element(option.name + "=" + *text, array);
  }
  if (array.empty()) return std::nullopt;
  finish_array_text(array);
  return array;
}

bool has_foreign_tables(const CatalogSnapshot& catalog) {
  const ForeignServerDef& server = catalog.server;
  if (!server.mappings.empty() || server.acl || owner_role(server.owner) != kPostgresRole) return true;
  return std::ranges::any_of(catalog.tables, [](const auto& entry) { return entry.second->is_mapped(); });
}

namespace {

void wrappers(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  if (has_foreign_tables(catalog)) out.add(kRedisWrapper, "redis", kPostgresRole, 0, 0, acl_text(acl_of(catalog, catalog_class::kForeignDataWrappers, kRedisWrapper)->acl), kNull);
}

void servers(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  if (has_foreign_tables(catalog)) out.add(kRedisServer, "redis", owner_oid(catalog.server.owner), kRedisWrapper, kNull, kNull, acl_text(catalog.server.acl), kNull);
}

void foreign_table_rows(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, table] : catalog.tables) {
    if (table->is_mapped()) out.add(oid, kRedisServer, option_array(catalog, *table, 0));
  }
}

const SystemTableDefinition kForeignTables[] = {
    {"pg_catalog", "pg_foreign_data_wrapper", 2328, 'r',
     "oid oid!, fdwname name!, fdwowner oid!, fdwhandler oid!, fdwvalidator oid!, fdwacl _aclitem, fdwoptions _text", wrappers},
    {"pg_catalog", "pg_foreign_server", 1417, 'r',
     "oid oid!, srvname name!, srvowner oid!, srvfdw oid!, srvtype text, srvversion text, srvacl _aclitem, srvoptions _text", servers},
    {"pg_catalog", "pg_foreign_table", 3118, 'r', "ftrelid oid!, ftserver oid!, ftoptions _text", foreign_table_rows},
    {"pg_catalog", "pg_user_mapping", 1418, 'r', "oid oid!, umuser oid!, umserver oid!, umoptions _text", user_mapping_rows},
    {"pg_catalog", "pg_user_mappings", 12327, 'v', "umid oid, srvid oid, srvname name, umuser oid, usename name, umoptions _text", user_mapping_view},
    {"information_schema", "_pg_user_mappings", 13545, 'v',
     "oid oid, umoptions _text, umuser oid, authorization_identifier, foreign_server_catalog, foreign_server_name, srvowner", user_mapping_base},
    {"information_schema", "user_mappings", 13555, 'v', "authorization_identifier, foreign_server_catalog, foreign_server_name",
     information_user_mappings},
    {"information_schema", "user_mapping_options", 13550, 'v',
     "authorization_identifier, foreign_server_catalog, foreign_server_name, option_name, option_value character_data",
     information_user_mapping_options},
};

}  // namespace

SystemTableFamily foreign_tables() { return kForeignTables; }

}  // namespace redquel::sql
