#include "executor/tables/lookup_keys.h"

#include <unordered_map>

#include "executor/tables/key_values.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

std::string name_of_key(const planner::LookupJoin& join, const sql::TableKeys& keys, const std::vector<sql::Datum>& key) {
  using By = planner::LookupJoin::By;
  switch (join.by) {
    case By::kPrimaryKey: return keys.member(key);
    case By::kUnique: return keys.unique_field(join.columns, key);
    case By::kSet: return keys.value_set(join.columns, key);
    case By::kKeyStart: return keys.member_prefix(key);
  }
  return {};
}

}  // namespace

std::string end_of_start(std::string start) {
  start.back() = ';';  // the next byte
  return "(" + start;
}

LookupKeys lookup_keys(const planner::LookupJoin& join, const sql::TableKeys& keys, const sql::Batch& outer, const sql::EvaluationContext& context) {
  std::vector<sql::ColumnPtr> values;
  for (const sql::ExpressionPtr& value : join.values) values.push_back(sql::evaluate(*value, outer, context));
  LookupKeys found{{}, {}, std::vector<std::optional<std::size_t>>(outer.rows)};
  const bool has_ends = join.by == planner::LookupJoin::By::kSet && sql::omitted_parts(*join.read.table, join.columns).any();
  std::unordered_map<std::string, std::size_t> known;
  std::vector<sql::Datum> key(values.size());
  for (std::size_t row = 0; row < outer.rows; ++row) {
    bool complete = true;
    for (std::size_t i = 0; i < values.size() && complete; ++i) {
      const sql::Type type = join.read.table->find_column(join.columns[i])->type;
      auto value = to_column_value(type, values[i]->type(), values[i]->datum(row));
      complete = value.has_value();
      if (complete) key[i] = std::move(*value);
    }
    if (!complete) continue;
    const auto [name, added] = known.try_emplace(name_of_key(join, keys, key), found.names.size());
    if (added) found.names.push_back(name->first);
    if (added && has_ends) found.ends.push_back(sql::member_ends(*join.read.table, join.columns, key));
    found.of_rows[row] = name->second;
  }
  return found;
}

}  // namespace redquel::executor
