#include "executor/tables/walked_zset.h"

#include "executor/tables/key_values.h"

namespace redquel::executor {

std::optional<WalkedZset> walked_zset(const sql::TableDef& table, const planner::LeadingValues& leading, std::int16_t column,
                                      const sql::EvaluationContext& context) {
  const sql::TableKeys keys(table);
  if (leading.empty()) return WalkedZset{*planner::ordered_source(table, column), {keys.null_set(column)}};
  const auto values = evaluate_key(table, leading.columns, leading.values, context);
  if (!values) return std::nullopt;
  std::vector<std::int16_t> columns = leading.columns;
  columns.push_back(column);
  WalkedZset zset{*planner::value_ordered_source(table, leading.columns, column), {keys.value_zset(columns, *values, true), &sql::kZsetForm}};
  zset.source.key = keys.value_zset(columns, *values, false);
  return zset;
}

}  // namespace redquel::executor
