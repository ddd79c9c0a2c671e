#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "planner/tree/physical_plan.h"
#include "sql/catalog/table_keys.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// A value as the column's type holds it: integers change their width. nullopt: NULL, or no value of the column's type equals it.
std::optional<sql::Datum> to_column_value(sql::Type column, sql::Type type, const sql::Datum& value);

/// One key's values, evaluated. nullopt: no row can have them.
std::optional<std::vector<sql::Datum>> evaluate_key(const sql::TableDef& table, std::span<const std::int16_t> columns,
                                                    std::span<const sql::ExpressionPtr> values, const sql::EvaluationContext& context);

/// LIMIT and OFFSET of a statement as numbers, at most 2^52 each. Throws 2201W, 2201X for negative ones.
struct RowCounts {
  std::optional<std::uint64_t> limit;
  std::uint64_t offset = 0;
  /// offset + limit; nullopt: unlimited.
  std::optional<std::uint64_t> wanted() const;
};
RowCounts evaluate_goal(const sql::ExpressionPtr& limit, const sql::ExpressionPtr& offset, const sql::EvaluationContext& context);

}  // namespace redquel::executor
