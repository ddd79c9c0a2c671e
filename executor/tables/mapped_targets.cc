#include "executor/tables/mapped_targets.h"

#include <set>

#include "executor/tables/key_values.h"
#include "sql/expressions/evaluate.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

std::vector<MappedKey> fixed_keys(const std::vector<planner::MappedScan::Fixed>& fixed, const sql::TableDef& table,
                                  const sql::EvaluationContext& context) {
  std::vector<MappedKey> keys(1);
  for (const planner::MappedScan::Fixed& column : fixed) {
    const sql::Type type = table.find_column(column.column)->type;
    std::vector<sql::Datum> values;
    std::set<std::string> seen;
    for (const sql::ExpressionPtr& expression : column.values) {
      auto value = to_column_value(type, expression->type, sql::evaluate_scalar(*expression, context));
      if (value && seen.insert(sql::format_value(type, *value)).second) values.push_back(*std::move(value));
    }
    std::vector<MappedKey> longer;
    for (const MappedKey& key : keys) {
      for (const sql::Datum& value : values) {
        longer.push_back(key);
        longer.back()[column.column] = value;
      }
    }
    keys = std::move(longer);
  }
  return keys;
}

}  // namespace redquel::executor
