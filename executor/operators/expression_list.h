#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sql/column.h"
#include "sql/evaluation_context.h"
#include "sql/expressions/expression.h"

namespace redquel::executor {

/// Positions of the input's columns that the expressions read, each once, ascending. Null pointers are allowed.
std::vector<std::uint32_t> columns_used(std::span<const sql::ExpressionPtr> expressions);
/// The batch with these columns decoded.
sql::Batch with_decoded(const sql::Batch& batch, std::span<const std::uint32_t> positions);
std::vector<sql::Type> types_of(std::span<const sql::ExpressionPtr> expressions);

/// Expressions over one input. A column that several of them compute with is decoded once.
class ExpressionList {
 public:
  explicit ExpressionList(std::vector<sql::ExpressionPtr> expressions);

  std::size_t size() const { return expressions_.size(); }
  bool empty() const { return expressions_.empty(); }
  std::vector<sql::Type> types() const { return types_of(expressions_); }
  /// Decoded columns, as `sql::evaluate` gives them.
  std::vector<sql::ColumnPtr> evaluate(const sql::Batch& batch, const sql::EvaluationContext& context) const;
  /// Evaluates like `sql::evaluate_for_output`: bare columns stay as they are.
  std::vector<sql::ColumnPtr> evaluate_for_output(const sql::Batch& batch, const sql::EvaluationContext& context) const;

 private:
  std::vector<sql::ExpressionPtr> expressions_;
  std::vector<std::uint32_t> shared_;           // columns that several expressions read
  std::vector<std::uint32_t> shared_computed_;  // … that are more than the bare column
};

}  // namespace redquel::executor
