#include "sql/catalog/publications.h"

#include <algorithm>
#include <set>

#include "sql/catalog/partitions.h"

namespace redquel::sql {

namespace {

using TablePtr = CatalogSnapshot::TablePtr;

bool is_leaf_of(const CatalogSnapshot& catalog, const TableDef& table, const std::set<Oid>& members) {
  if (members.contains(table.oid)) return true;
  if (!table.partition) return false;
  const TablePtr parent = catalog.find_table(table.partition->parent);
  return parent && is_leaf_of(catalog, *parent, members);
}

}  // namespace

bool is_publishable(const TableDef& table) {
  return !table.is_mapped() && !table.materialized && !table.of_view && table.part_of == 0 && !is_temporary_schema(table.schema);
}

std::vector<PublicationDef::Member> existing_tables(const CatalogSnapshot& catalog, const PublicationDef& publication) {
  std::vector<PublicationDef::Member> tables = publication.tables;
  std::erase_if(tables, [&](const PublicationDef::Member& member) { return !catalog.tables.contains(member.object); });
  return tables;
}

std::vector<PublicationDef::Member> existing_schemas(const CatalogSnapshot& catalog, const PublicationDef& publication) {
  std::vector<PublicationDef::Member> schemas = publication.schemas;
  std::erase_if(schemas, [&](const PublicationDef::Member& member) {
    return std::ranges::none_of(catalog.schemas, [&](const auto& entry) { return entry.second.oid == member.object; });
  });
  return schemas;
}

std::vector<TablePtr> published_tables(const CatalogSnapshot& catalog, const PublicationDef& publication) {
  std::set<Oid> members, schemas;
  for (const PublicationDef::Member& member : publication.tables) members.insert(member.object);
  for (const PublicationDef::Member& member : publication.schemas) schemas.insert(member.object);
  if (!schemas.empty()) {
    for (const auto& [oid, table] : catalog.tables) {
      const auto schema = catalog.schemas.find(table->schema);
      if (schema != catalog.schemas.end() && schemas.contains(schema->second.oid)) members.insert(oid);
    }
  }
  std::vector<TablePtr> tables;
  for (const auto& [oid, table] : catalog.tables) {
    if (!is_publishable(*table) || table->partition_key) continue;
    if (publication.all_tables || is_leaf_of(catalog, *table, members)) tables.push_back(table);
  }
  return tables;
}

bool has_replica_identity(const TableDef& table) {
  if (table.replica_identity == TableDef::ReplicaIdentity::kNothing) return false;
  const IndexDef* index = table.primary_key_as_index();
  return !table.primary_key.empty() || (index != nullptr && !index->is_deferrable());
}

}  // namespace redquel::sql
