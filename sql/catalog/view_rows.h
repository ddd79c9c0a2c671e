#pragma once

#include <functional>
#include <memory>

#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// Returns a table definition with the oid, the columns and the triggers of the view. No rows are stored for it. Its columns have the numbers
/// and the defaults of the view's.
std::shared_ptr<const TableDef> view_rows(const ViewDef& view);

/// Calls `use` for each table and view with triggers, in the order of the oids. A view is given as view_rows().
void for_each_with_triggers(const CatalogSnapshot& catalog, const std::function<void(const std::shared_ptr<const TableDef>&)>& use);

}  // namespace redquel::sql
