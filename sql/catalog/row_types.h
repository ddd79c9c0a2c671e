#pragma once

#include "sql/catalog/catalog.h"

namespace redquel::sql {

// A table's rows have a composite type of the table's name (pg_class.reltype), which columns, parameters and arrays can have, too.

/// Numbers the row type of a new table, and the type of arrays over it.
void choose_row_type(TableDef& table);
/// The row type as it follows from the table's definition; null for a table that was made before row types were types: its rows are
/// records.
UserTypePtr row_type_of(const TableDef& table);
/// Returns the user-made types and the row types of all tables, except those over types that do not exist.
UserTypesPtr user_types_of(const CatalogSnapshot& catalog);
/// Like user_types_of(), for a snapshot that differs little from another one: shares its types, and costs what differs.
UserTypesPtr user_types_of(const CatalogSnapshot& now, const CatalogSnapshot& before);
/// Returns true if the known row type (user_types.h) matches this definition of the table. Returns false if the running statement has changed
/// the table's columns.
bool is_row_type_current(const TableDef& table);

}  // namespace redquel::sql
