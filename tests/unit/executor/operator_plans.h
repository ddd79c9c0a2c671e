#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "executor/operators/column_types.h"
#include "executor/statements/make_operator.h"
#include "planner/tree/physical_plan.h"
#include "sql/expressions/expression.h"
#include "sql/functions/resolve.h"
#include "sql/types/text_io.h"
#include "tests/unit/executor/fake_redis_client.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {

// Plans over VALUES, written in a few words, and their rows as texts: "1|smith|NULL".

inline sql::Datum datum(sql::Type type, const std::string& text) {
  if (text == "NULL") return {};
  sql::Column column(type);
  sql::append_parsed(column, text, sql::SessionSettings());
  return column.datum(0);
}
inline sql::ExpressionPtr constant(sql::Type type, const std::string& text) {
  return sql::make_constant(type, datum(type, text));
}
inline sql::ExpressionPtr parameter(sql::Type type, std::uint32_t slot) {
  return sql::make_expression(type, sql::ParameterRef{slot});
}
inline sql::ExpressionPtr call(const std::string& name, sql::ExpressionPtr left, sql::ExpressionPtr right) {
  const sql::ResolvedFunction resolved = sql::resolve_operator(name, left->type, right->type);
  return sql::make_expression(resolved.result,
                              sql::FunctionCall{resolved.function, {std::move(left), std::move(right)}});
}

template <class Node>
planner::PhysicalPlan plan_of(Node node, const std::vector<sql::Type>& types) {
  std::vector<planner::PhysicalColumn> columns;
  for (const sql::Type type : types) columns.push_back({"c" + std::to_string(columns.size()), type});
  return std::make_shared<const planner::PhysicalNode>(planner::PhysicalNode{std::move(node), std::move(columns)});
}
inline planner::PhysicalPlan values(const std::vector<sql::Type>& types,
                                    const std::vector<std::vector<std::string>>& rows) {
  planner::PhysicalValues node;
  for (const auto& row : rows) {
    auto& added = node.rows.emplace_back();
    for (std::size_t i = 0; i < types.size(); ++i) added.push_back(constant(types[i], row[i]));
  }
  return plan_of(std::move(node), types);
}
/// generate_series(1, count) as int4.
inline planner::PhysicalPlan series(int count) {
  const std::vector<sql::Type> types = {sql::kInt4, sql::kInt4};
  planner::PhysicalFunctionScan node{{{sql::resolve_table_function("generate_series", types).function,
                                       {constant(sql::kInt4, "1"), constant(sql::kInt4, std::to_string(count))}}}};
  return plan_of(std::move(node), {sql::kInt4});
}
inline sql::ExpressionPtr column(const planner::PhysicalPlan& input, std::uint32_t position) {
  return sql::make_column(input->columns[position].type, position, input->columns[position].name);
}
inline std::vector<sql::Type> types_of(const planner::PhysicalPlan& plan) { return column_types(*plan); }
inline std::vector<sql::Type> types_of(const planner::PhysicalPlan& left, const planner::PhysicalPlan& right) {
  std::vector<sql::Type> types = column_types(*left);
  for (const sql::Type type : column_types(*right)) types.push_back(type);
  return types;
}

using Rows = std::vector<std::string>;

/// The common part of tests that run plans.
class OperatorTest : public ::testing::Test {
 protected:
  OperatorTest() : context_(redis_, redis_, nullptr, evaluation(), make_operator) {}

  Rows run(const planner::PhysicalPlan& plan) {
    plans_.push_back(plan);
    return run_coroutine(loop_, collect(context_.make_operator(*plan)));
  }
  /// For results without an order.
  Rows run_sorted(const planner::PhysicalPlan& plan) {
    Rows rows = run(plan);
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  std::string error_of(const planner::PhysicalPlan& plan) {
    try {
      run(plan);
    } catch (const sql::SqlError& error) {
      return error.sqlstate() + " " + error.message();
    }
    return "";
  }

  asio::awaitable<Rows> collect(OperatorPtr root) {
    Rows rows;
    while (true) {
      std::optional<sql::Batch> batch = co_await root->next();
      if (!batch) break;
      EXPECT_GT(batch->rows, 0u);
      largest_batch_ = std::max(largest_batch_, batch->rows);
      for (std::size_t row = 0; row < batch->rows; ++row) rows.push_back(text_of(*batch, row));
    }
    co_return rows;
  }

  static std::string text_of(const sql::Batch& batch, std::size_t row) {
    std::string text;
    for (const sql::ColumnPtr& column : batch.columns) {
      EXPECT_EQ(column->size(), batch.rows);
      if (column != batch.columns.front()) text += "|";
      text += column->is_null(row)   ? "NULL"
              : column->is_encoded() ? std::string(column->get<std::string_view>(row))
                                     : sql::format_value(column->type(), column->datum(row));
    }
    return text;
  }

  static sql::EvaluationContext evaluation() {
    static const sql::SessionSettings settings;
    sql::EvaluationContext context;
    context.settings = &settings;
    return context;
  }

  boost::asio::io_context loop_;
  FakeRedisClient redis_;
  ExecutionContext context_;
  std::vector<planner::PhysicalPlan> plans_;
  std::size_t largest_batch_ = 0;
};

}  // namespace redquel::executor
