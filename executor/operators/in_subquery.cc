#include "executor/operators/in_subquery.h"

#include <algorithm>

#include "sql/expressions/coerce.h"

namespace redquel::executor {

namespace {

enum class Side : std::uint8_t { kInput, kSubquery, kBoth };

/// Constants count as the input's.
Side side_of(const sql::ExpressionPtr& expression, std::size_t width) {
  const std::vector<std::uint32_t> columns = columns_used({&expression, 1});
  if (columns.empty() || columns.back() < width) return Side::kInput;
  return columns.front() >= width ? Side::kSubquery : Side::kBoth;
}

sql::ExpressionPtr over_subquery(const sql::ExpressionPtr& expression, std::size_t width) {
  return sql::map_columns(expression, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
    return sql::make_column(whole.type, column.column - static_cast<std::uint32_t>(width), column.name);
  });
}

}  // namespace

void QuantifiedTest::add(const sql::Column& comparisons) {
  for (std::size_t row = 0; row < comparisons.size() && !decided_; ++row) {
    if (comparisons.is_null(row)) {
      seen_null_ = true;
    } else {
      decided_ = comparisons.get<bool>(row) != all_;
    }
  }
}

std::optional<SubquerySet> SubquerySet::match(const planner::PhysicalApply& plan,
                                              const sql::EvaluationContext& context) {
  const std::size_t width = plan.input->columns.size();
  const std::vector<sql::ExpressionPtr> conditions = sql::split_conjunction(plan.comparison);
  // x <> ALL (…) is NOT (x = ANY (…)).
  if (plan.all && conditions.size() != 1) return std::nullopt;
  const sql::SessionSettings defaults;
  const sql::SessionSettings& settings = context.settings != nullptr ? *context.settings : defaults;
  std::vector<sql::ExpressionPtr> input, subquery;
  for (const sql::ExpressionPtr& condition : conditions) {
    const auto* call = std::get_if<sql::FunctionCall>(&condition->node);
    if (call == nullptr || call->arguments.size() != 2 || call->function->name != (plan.all ? "<>" : "="))
      return std::nullopt;
    sql::ExpressionPtr left = call->arguments[0], right = call->arguments[1];
    if (side_of(left, width) == Side::kSubquery) std::swap(left, right);
    if (side_of(left, width) != Side::kInput || side_of(right, width) != Side::kSubquery) return std::nullopt;
    if (left->type.oid != right->type.oid) {
      if (!sql::is_integer_type(left->type.oid) || !sql::is_integer_type(right->type.oid)) return std::nullopt;
      left = sql::coerce(left, sql::kInt8, sql::CastContext::kImplicit, settings);
      right = sql::coerce(right, sql::kInt8, sql::CastContext::kImplicit, settings);
    }
    input.push_back(left);
    subquery.push_back(over_subquery(right, width));
  }
  return SubquerySet(std::move(input), std::move(subquery), plan.all);
}

SubquerySet::SubquerySet(std::vector<sql::ExpressionPtr> input, std::vector<sql::ExpressionPtr> subquery, bool negated)
    : input_keys_(std::move(input)),
      subquery_keys_(std::move(subquery)),
      negated_(negated),
      table_(subquery_keys_.types(), KeyTable::Nulls::kNeverMatch),
      with_nulls_(subquery_keys_.types(), KeyTable::Nulls::kEqual) {}

void SubquerySet::add(const sql::Batch& batch, const sql::EvaluationContext& context) {
  const std::vector<sql::ColumnPtr> keys = subquery_keys_.evaluate(batch, context);
  table_.find_or_add(keys, batch.rows, numbers_);
  std::vector<RowNumber> rows;
  for (std::size_t row = 0; row < batch.rows; ++row) {
    if (numbers_[row] == kNoRow) rows.push_back(static_cast<RowNumber>(row));
  }
  if (rows.empty()) return;
  std::vector<sql::ColumnPtr> others;
  for (const sql::ColumnPtr& key : keys) others.push_back(std::make_shared<const sql::Column>(key->gather(rows)));
  with_nulls_.find_or_add(others, rows.size(), numbers_);
}

bool SubquerySet::may_equal(const KeyViews& keys, std::size_t row) const {
  const bool row_has_null = std::any_of(keys.begin(), keys.end(), [&](const KeyView& key) { return key.is_null(row); });
  if (keys.size() == 1) return row_has_null || with_nulls_.size() > 0;
  const auto any_unknown = [&](const RowStore& rows) {
    KeyViews stored;
    for (const sql::Column& column : rows.columns()) stored.emplace_back(column);
    for (std::size_t other = 0; other < rows.rows(); ++other) {
      bool differs = false;
      for (std::size_t i = 0; i < keys.size() && !differs; ++i) {
        differs = !keys[i].is_null(row) && !stored[i].is_null(other) && !equal_values(keys[i], row, stored[i], other);
      }
      if (!differs) return true;
    }
    return false;
  };
  return any_unknown(with_nulls_.keys()) || (row_has_null && any_unknown(table_.keys()));
}

sql::ColumnPtr SubquerySet::test(const sql::Batch& input, const sql::EvaluationContext& context) {
  const std::vector<sql::ColumnPtr> keys = input_keys_.evaluate(input, context);
  const KeyViews views = views_of(keys);
  table_.find(keys, input.rows, numbers_);
  const bool empty = table_.size() == 0 && with_nulls_.size() == 0;
  sql::Column result(sql::kBool);
  result.reserve(input.rows);
  for (std::size_t row = 0; row < input.rows; ++row) {
    if (numbers_[row] != kNoRow) {
      result.append(!negated_);
    } else if (!empty && may_equal(views, row)) {
      result.append_null();
    } else {
      result.append(negated_);
    }
  }
  return std::make_shared<const sql::Column>(std::move(result));
}

}  // namespace redquel::executor
