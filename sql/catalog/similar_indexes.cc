#include "sql/catalog/similar_indexes.h"

#include <algorithm>

namespace redquel::sql {

bool are_alike(const IndexDef& one, const IndexDef& other) {
  const auto is_same = [](const IndexDef::Part& a, const IndexDef::Part& b) {
    return a.column == b.column && a.descending == b.descending && a.nulls_first == b.nulls_first && a.expression_sql == b.expression_sql;
  };
  return one.method == other.method && one.unique == other.unique && one.predicate_sql == other.predicate_sql &&
         std::ranges::equal(one.parts, other.parts, is_same);
}

const IndexDef* index_like(const TableDef& table, const IndexDef& wanted) {
  const auto found = std::ranges::find_if(table.indexes, [&](const IndexDef& index) { return are_alike(index, wanted); });
  return found == table.indexes.end() ? nullptr : &*found;
}

}  // namespace redquel::sql
