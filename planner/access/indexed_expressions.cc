#include "planner/access/indexed_expressions.h"

#include <algorithm>

#include "planner/bind/computed_columns.h"
#include "sql/catalog/table_keys.h"
#include "sql/expressions/implication.h"

namespace redquel::planner {

using sql::Expression;
using sql::ExpressionPtr;

namespace {

bool has_own_structure(const sql::TableDef& table, std::int16_t number) {
  if (table.primary_key == std::vector<std::int16_t>{number}) return true;
  const auto structures = sql::structures_of(table);
  return std::ranges::any_of(structures, [&](const sql::Structure& structure) {
    return structure.readable && structure.kind != sql::Structure::Kind::kNulls && structure.columns[0] == number;
  });
}

}  // namespace

IndexedExpressions::IndexedExpressions(const LogicalScan& scan, const std::vector<LogicalColumn>& columns,
                                       const std::vector<ExpressionPtr>& conditions) {
  const sql::TableDef& table = *scan.table;
  if (table.computed.empty()) return;
  // Columns that the query does not read get ids that nothing has.
  std::vector<ColumnId> ids;
  for (const sql::ColumnDef& column : table.columns) {
    const auto found = std::ranges::find(scan.numbers, column.number);
    ids.push_back(found == scan.numbers.end() ? UINT32_MAX - static_cast<ColumnId>(ids.size())
                                              : columns[static_cast<std::size_t>(found - scan.numbers.begin())].id);
  }
  for (const sql::IndexDef& index : table.indexes) {
    if (index.state != sql::IndexState::kReady || index.is_remembered()) continue;
    if (!index.predicate_sql.empty() && !sql::implies_all(conditions, bind_indexed(index.predicate_sql, table, ids))) continue;
    for (const sql::IndexDef::Part& part : index.parts) {
      if (part.column > 0) continue;
      const bool is_whole = part.shown_column != 0 && index.parts.size() == 1 && !table.is_nullable(*table.find_column(part.shown_column));
      if (is_whole) covers_.push_back({part.column, part.shown_column});
      if (!part.expression_sql.empty()) {
        entries_.push_back({bind_indexed(part.expression_sql, table, ids), part.column, false});
      } else if (!has_own_structure(table, part.shown_column)) {
        const sql::ColumnDef& column = *table.find_column(part.shown_column);
        entries_.push_back({sql::make_column(column.type, ids[table.position(column.number)], column.name), part.column,
                            !table.is_nullable(column)});
      }
    }
  }
}

std::optional<std::int16_t> IndexedExpressions::number_of(const Expression& expression) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return sql::equal(*entry.expression, expression); });
  return found == entries_.end() ? std::nullopt : std::optional(found->number);
}

bool IndexedExpressions::is_never_null(std::int16_t number) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.number == number && entry.never_null; });
}

}  // namespace redquel::planner
