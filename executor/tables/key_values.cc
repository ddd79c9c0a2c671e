#include "executor/tables/key_values.h"

#include <algorithm>
#include <limits>

#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

std::optional<std::int64_t> integer_of(const sql::Datum& value) {
  if (const auto* v = std::get_if<std::int16_t>(&value)) return *v;
  if (const auto* v = std::get_if<std::int32_t>(&value)) return *v;
  if (const auto* v = std::get_if<std::int64_t>(&value)) return *v;
  return {};
}

template <class Integer>
std::optional<sql::Datum> narrowed(std::int64_t value) {
  if (value < std::numeric_limits<Integer>::min() || value > std::numeric_limits<Integer>::max()) return {};
  return sql::Datum(static_cast<Integer>(value));
}

}  // namespace

std::optional<sql::Datum> to_column_value(sql::Type column, sql::Type type, const sql::Datum& value) {
  if (sql::is_null(value)) return {};
  if (column.oid == type.oid) return value;
  auto integer = integer_of(value);
  if (!integer) return value;  // text and varchar share their storage
  switch (column.oid) {
    case sql::oid::kInt2: return narrowed<std::int16_t>(*integer);
    case sql::oid::kInt4: return narrowed<std::int32_t>(*integer);
    default: return sql::Datum(*integer);
  }
}

std::optional<std::vector<sql::Datum>> evaluate_key(const sql::TableDef& table, std::span<const std::int16_t> columns,
                                                    std::span<const sql::ExpressionPtr> values, const sql::EvaluationContext& context) {
  std::vector<sql::Datum> key;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    sql::Type type = table.find_column(columns[i])->type;
    auto value = to_column_value(type, values[i]->type, sql::evaluate_scalar(*values[i], context));
    if (!value) return {};
    key.push_back(std::move(*value));
  }
  return key;
}

std::optional<std::uint64_t> RowCounts::wanted() const {
  if (!limit) return {};
  return *limit + offset;
}

namespace {

/// More rows than any result has. Ranks of Redis, numbers of Lua and sums of a few such counts hold it exactly.
constexpr std::int64_t kMostRows = std::int64_t{1} << 52;

std::uint64_t saturated(std::int64_t count) { return static_cast<std::uint64_t>(std::min(count, kMostRows)); }

}  // namespace

RowCounts evaluate_goal(const sql::ExpressionPtr& limit, const sql::ExpressionPtr& offset, const sql::EvaluationContext& context) {
  RowCounts counts;
  if (limit) {
    sql::Datum value = sql::evaluate_scalar(*limit, context);
    if (auto number = integer_of(value)) {
      if (*number < 0) throw sql::SqlError(sqlstate::kInvalidRowCountInLimitClause, "LIMIT must not be negative");
      counts.limit = saturated(*number);
    }
  }
  if (offset) {
    sql::Datum value = sql::evaluate_scalar(*offset, context);
    if (auto number = integer_of(value)) {
      if (*number < 0) throw sql::SqlError(sqlstate::kInvalidRowCountInResultOffsetClause, "OFFSET must not be negative");
      counts.offset = saturated(*number);
    }
  }
  return counts;
}

}  // namespace redquel::executor
