#include "planner/physical/rank_limit.h"

#include <algorithm>
#include <optional>

#include "planner/access/index_condition.h"
#include "sql/functions/window_function.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// A condition that bounds a function of a window from above.
struct RankBound {
  ColumnId column;
  ExpressionPtr most;
};

std::optional<RankBound> rank_bound(const sql::Expression& condition) {
  const auto* call = std::get_if<sql::FunctionCall>(&condition.node);
  if (call == nullptr || call->arguments.size() != 2) return std::nullopt;
  const std::string_view name = call->function->name;
  const bool is_left = name == "<" || name == "<=" || name == "=", is_right = name == ">" || name == ">=" || name == "=";
  for (const bool left : {true, false}) {
    const ExpressionPtr &rank = call->arguments[left ? 0 : 1], &value = call->arguments[left ? 1 : 0];
    const auto* column = std::get_if<sql::ColumnRef>(&rank->node);
    if (!(left ? is_left : is_right) || column == nullptr || !is_run_time_constant(*value) || !sql::is_integer_type(value->type.oid)) continue;
    return RankBound{column->column, value};
  }
  return std::nullopt;
}

/// Returns the value as a limit: a limit is not negative, and GREATEST makes 0 of NULL.
ExpressionPtr at_least_zero(const ExpressionPtr& value) {
  const auto* constant = std::get_if<sql::Constant>(&value->node);
  const auto* small = constant == nullptr ? nullptr : std::get_if<std::int32_t>(&constant->value);
  if (small != nullptr && *small >= 0) return sql::make_constant(sql::kInt8, std::int64_t{*small});
  const ExpressionPtr number = value->type.oid == sql::oid::kInt8 ? sql::make_constant(sql::kInt8, std::int64_t{0})
                               : value->type.oid == sql::oid::kInt4 ? sql::make_constant(sql::kInt4, std::int32_t{0})
                                                                    : sql::make_constant(sql::kInt2, std::int16_t{0});
  return sql::make_expression(value->type, sql::GreatestLeast{true, {value, number}}, value->offset);
}

}  // namespace

bool depends_on_earlier_rows(const WindowCall& call) {
  return call.function != nullptr && (call.function->name == "rank" || call.function->name == "dense_rank" || call.function->name == "row_number");
}

LogicalPtr limited_by_rank(const LogicalPtr& node, const ExpressionPtr& condition) {
  const auto* window = std::get_if<LogicalWindow>(&node->node);
  if (window == nullptr || !window->partition_by.empty() || window->order_by.empty() || !std::ranges::all_of(window->functions, depends_on_earlier_rows)) return node;
  const auto* sort = std::get_if<LogicalSort>(&window->input->node);
  if (sort == nullptr) return node;
  const std::size_t first = node->columns.size() - window->functions.size();
  for (const ExpressionPtr& part : sql::split_conjunction(condition)) {
    const std::optional<RankBound> bound = rank_bound(*part);
    if (!bound) continue;
    for (std::size_t i = 0; i < window->functions.size(); ++i) {
      if (node->columns[first + i].id != bound->column) continue;
      const std::string_view name = window->functions[i].function->name;
      // Rows that tie with the last one have its rank.
      const bool with_ties = name == "rank";
      if (name == "dense_rank" || (with_ties && sort->keys.size() != window->order_by.size())) continue;
      LogicalWindow limited = *window;
      limited.input = make_logical(LogicalLimit{window->input, at_least_zero(bound->most), nullptr, with_ties}, window->input->columns);
      return make_logical(std::move(limited), node->columns);
    }
  }
  return node;
}

}  // namespace redquel::planner
