// pg_publication, its members, and the view of the tables that it publishes.

#include "sql/catalog/publications.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/types/array_value.h"

namespace redquel::sql {
namespace {

void publications(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, publication] : catalog.publications) {
    out.add(oid, publication.name, owner_oid(publication.owner), publication.all_tables, publication.inserts, publication.updates,
            publication.deletes, publication.truncates, false);
  }
}

void publication_relations(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, publication] : catalog.publications) {
    for (const PublicationDef::Member& member : existing_tables(catalog, publication)) out.add(member.oid, oid, member.object, kNull, kNull);
  }
}

void publication_schemas(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, publication] : catalog.publications) {
    for (const PublicationDef::Member& member : existing_schemas(catalog, publication)) out.add(member.oid, oid, member.object);
  }
}

void tables_of_publications(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, publication] : catalog.publications) {
    for (const CatalogSnapshot::TablePtr& table : published_tables(catalog, publication)) {
      std::string names;
      for (const ColumnDef& column : table->columns) append_array_element(column.name, names);
      if (!names.empty()) finish_array_text(names);
      out.add(publication.name, table->schema, table->name, null_if_empty(names), kNull);
    }
  }
}

const SystemTableDefinition kPublicationTables[] = {
    {"pg_catalog", "pg_publication", 6104, 'r',
     "oid oid!, pubname name!, pubowner oid!, puballtables bool!, pubinsert bool!, pubupdate bool!, "
     "pubdelete bool!, pubtruncate bool!, pubviaroot bool!", publications},
    {"pg_catalog", "pg_publication_namespace", 6237, 'r', "oid oid!, pnpubid oid!, pnnspid oid!", publication_schemas},
    {"pg_catalog", "pg_publication_rel", 6106, 'r',
     "oid oid!, prpubid oid!, prrelid oid!, prqual pg_node_tree, prattrs int2vector", publication_relations},
    {"pg_catalog", "pg_publication_tables", 12068, 'v',
     "pubname name, schemaname name, tablename name, attnames _name, rowfilter text", tables_of_publications},
};

}  // namespace

SystemTableFamily publication_tables() { return kPublicationTables; }

}  // namespace redquel::sql
