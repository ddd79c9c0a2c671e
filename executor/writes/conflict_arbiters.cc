#include <algorithm>

#include "executor/writes/writes.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

void refuse_deferrable_arbiters(const sql::TableDef& table, const std::optional<std::vector<std::int16_t>>& columns) {
  const sql::IndexDef* first = nullptr;
  for (const sql::IndexDef& index : table.indexes) {
    if (!index.unique || !index.is_deferrable()) continue;
    std::vector<std::int16_t> parts;
    for (const sql::IndexDef::Part& part : index.parts) parts.push_back(part.column);
    if (columns && !std::ranges::is_permutation(parts, *columns)) continue;
    if (first == nullptr || index.oid < first->oid) first = &index;
  }
  if (first == nullptr) return;
  throw sql::SqlError(sqlstate::kObjectNotInPrerequisiteState,
                      "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters")
      .schema(table.schema)
      .table(table.name)
      .constraint(first->name);
}

}  // namespace redquel::executor
