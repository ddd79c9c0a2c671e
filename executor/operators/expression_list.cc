#include "executor/operators/expression_list.h"

#include <algorithm>
#include <map>
#include <optional>

#include "executor/runtime/row_store.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

std::vector<std::uint32_t> columns_used(std::span<const sql::ExpressionPtr> expressions) {
  std::vector<std::uint32_t> columns;
  for (const sql::ExpressionPtr& expression : expressions) {
    if (expression) sql::collect_columns(*expression, columns);
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

sql::Batch with_decoded(const sql::Batch& batch, std::span<const std::uint32_t> positions) {
  sql::Batch result = batch;
  for (const std::uint32_t position : positions) result.columns[position] = decoded(result.columns[position]);
  return result;
}

std::vector<sql::Type> types_of(std::span<const sql::ExpressionPtr> expressions) {
  std::vector<sql::Type> types;
  types.reserve(expressions.size());
  for (const sql::ExpressionPtr& expression : expressions) types.push_back(expression->type);
  return types;
}

ExpressionList::ExpressionList(std::vector<sql::ExpressionPtr> expressions) : expressions_(std::move(expressions)) {
  if (expressions_.size() <= 1) return;
  std::map<std::uint32_t, std::size_t> uses, computed_uses;
  for (const sql::ExpressionPtr& expression : expressions_) {
    const bool bare = std::holds_alternative<sql::ColumnRef>(expression->node);
    for (const std::uint32_t column : columns_used({&expression, 1})) {
      if (++uses[column] == 2) shared_.push_back(column);
      if (!bare && ++computed_uses[column] == 2) shared_computed_.push_back(column);
    }
  }
}

std::vector<sql::ColumnPtr> ExpressionList::evaluate(const sql::Batch& batch,
                                                     const sql::EvaluationContext& context) const {
  const sql::Batch input = with_decoded(batch, shared_);
  std::vector<sql::ColumnPtr> columns;
  columns.reserve(expressions_.size());
  for (const sql::ExpressionPtr& expression : expressions_)
    columns.push_back(sql::evaluate(*expression, input, context));
  return columns;
}

std::vector<sql::ColumnPtr> ExpressionList::evaluate_for_output(const sql::Batch& batch,
                                                                const sql::EvaluationContext& context) const {
  std::optional<sql::Batch> decoded;
  if (!shared_computed_.empty()) decoded = with_decoded(batch, shared_computed_);
  std::vector<sql::ColumnPtr> columns;
  columns.reserve(expressions_.size());
  for (const sql::ExpressionPtr& expression : expressions_) {
    const bool bare = std::holds_alternative<sql::ColumnRef>(expression->node);
    columns.push_back(sql::evaluate_for_output(*expression, bare || !decoded ? batch : *decoded, context));
  }
  return columns;
}

}  // namespace redquel::executor
