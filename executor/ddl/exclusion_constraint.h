#pragma once

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/column_definition.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// EXCLUDE (element WITH =, …) WHERE (…): no two rows may be equal in all elements, which is what a unique index keeps. Puts it into the
/// table, in the given state; returns its oid. 0A000 for other operators that overlap or touch; 42809, 42704, 42703 as PostgreSQL has
/// them.
sql::Oid add_exclusion(CatalogDraft& draft, sql::TableDef& table, const KeyDraft& key, sql::IndexState state);

}  // namespace redquel::executor
