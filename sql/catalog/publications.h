#pragma once

#include <memory>
#include <vector>

#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// Returns true if the changes of the table may be published: it is neither foreign nor temporary, and no materialized view.
bool is_publishable(const TableDef& table);
/// Returns the tables that have the rows of the publication's members, by oid. Instead of a partitioned table these are its leaves.
std::vector<std::shared_ptr<const TableDef>> published_tables(const CatalogSnapshot& catalog, const PublicationDef& publication);
/// Returns the tables or schemas of a list that are still there.
std::vector<PublicationDef::Member> existing_tables(const CatalogSnapshot& catalog, const PublicationDef& publication);
std::vector<PublicationDef::Member> existing_schemas(const CatalogSnapshot& catalog, const PublicationDef& publication);
/// Returns true if an old row is known by a key that subscribers get: REPLICA IDENTITY DEFAULT with a primary key.
bool has_replica_identity(const TableDef& table);

}  // namespace redquel::sql
