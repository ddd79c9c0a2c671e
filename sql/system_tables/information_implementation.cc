// information_schema: character sets, collations and what the implementation says of itself.

#include "sql/system_tables/families.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {
namespace {

void catalog_name(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) { out.add(context.database); }

void character_sets(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  out.add(kNull, kNull, "UTF8", "UCS", "UTF8", context.database, "pg_catalog", "C");
}

void information_schema_collations(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  for (const std::string_view name : {"default", "C", "POSIX"}) out.add(context.database, "pg_catalog", name, "NO PAD");
}

void implementation(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  out.add("10003", "CATALOG NAME", kNull, "Y", kNull);
  out.add("10004", "COLLATING SEQUENCE", kNull, "C", kNull);
  out.add("23", "CURSOR COMMIT BEHAVIOR", 1, kNull, "close cursors and retain prepared statements");
  out.add("2", "DATA SOURCE NAME", kNull, "", kNull);
  out.add("17", "DBMS NAME", kNull, "PostgreSQL", kNull);
  out.add("18", "DBMS VERSION", kNull, "15.0.0000", kNull);
  out.add("26", "DEFAULT TRANSACTION ISOLATION", 2, kNull, "READ COMMITTED; user-settable");
  out.add("28", "IDENTIFIER CASE", 3, kNull, "stored in mixed case - case sensitive");
  out.add("85", "NULL COLLATION", 0, kNull, "nulls higher than non-nulls");
  out.add("13", "SERVER NAME", kNull, "", kNull);
  out.add("94", "SPECIAL CHARACTERS", kNull, "", "all non-ASCII characters allowed");
  out.add("46", "TRANSACTION CAPABLE", 2, kNull, "both DML and DDL");
}

const SystemTableDefinition kInformationImplementation[] = {
    {"information_schema", "information_schema_catalog_name", 13227, 'v', "catalog_name", catalog_name},
    {"information_schema", "character_sets", 13250, 'v',
     "character_set_catalog, character_set_schema, character_set_name, character_repertoire, form_of_use, "
     "default_collate_catalog, default_collate_schema, default_collate_name", character_sets},
    {"information_schema", "collations", 13265, 'v',
     "collation_catalog, collation_schema, collation_name, pad_attribute character_data", information_schema_collations},
    {"information_schema", "collation_character_set_applicability", 13270, 'v',
     "collation_catalog, collation_schema, collation_name, character_set_catalog, character_set_schema, "
     "character_set_name"},
    {"information_schema", "sql_implementation_info", 13396, 'r',
     "implementation_info_id character_data, implementation_info_name character_data, "
     "integer_value cardinal_number, character_value character_data, comments character_data", implementation},
};

}  // namespace

SystemTableFamily information_implementation() { return kInformationImplementation; }

}  // namespace redquel::sql
