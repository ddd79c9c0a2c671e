#include "planner/explain/shown_zset.h"

#include "planner/explain/redis_word.h"
#include "sql/catalog/key_segments.h"
#include "sql/catalog/table_keys.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// The key of a value's zset in the order of the column; `of_nulls`: of the rows with the value whose column is NULL.
std::string value_zset_key(const sql::TableDef& table, const LeadingValues& leading, std::int16_t column, bool of_nulls) {
  std::string entry;
  for (const ExpressionPtr& value : leading.values) entry.append(entry.empty() ? "" : ":").append(sql::escape_unhashed(value_in_key(*value)));
  if (of_nulls) entry.append(":").append(sql::kNullSegment);
  std::vector<std::int16_t> columns = leading.columns;
  columns.push_back(column);
  return sql::TableKeys(table).value_zset_of_entry(columns, entry);
}

}  // namespace

OrderedSource shown_source(const sql::TableDef& table, const LeadingValues& leading, std::int16_t column) {
  if (leading.empty()) return *ordered_source(table, column);
  OrderedSource source = *value_ordered_source(table, leading.columns, column);
  source.key = value_zset_key(table, leading, column, false);
  return source;
}
OrderedSource walked_source(const OrderedScan& n) { return shown_source(*n.read.table, n.leading, n.column); }

std::string null_rows_key(const OrderedScan& n) {
  if (n.leading.empty()) return sql::TableKeys(*n.read.table).null_set(n.column);
  return value_zset_key(*n.read.table, n.leading, n.column, true);
}

}  // namespace redquel::planner
