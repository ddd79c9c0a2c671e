#pragma once

#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// Throws SqlError XX001 if a definition names a type, relation, column, index, sequence or function that the catalog does not have, or
/// if a type contains itself. The error names the field of redquel:catalog. All other code relies on these references.
void check_references(const CatalogSnapshot&);
/// Like check_references(), for the definitions that a snapshot before it has not. Costs what differs.
void check_new_references(const CatalogSnapshot&, const CatalogSnapshot& before);
/// Throws XX001 unless every column number that the definition uses exists. Other code relies on that without asking again.
void check_references(const TableDef&);
/// Throws SqlError XX001 if the oid of a type is that of a built-in one or of another type. Must run before the types are registered.
void check_type_oids(const CatalogSnapshot&);

}  // namespace redquel::sql
