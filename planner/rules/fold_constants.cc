#include "planner/rules/date_comparison.h"
#include "planner/rules/rule.h"
#include "planner/tree/logical_walk.h"
#include "sql/expressions/evaluate.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

enum class Truth { kAlways, kNever, kUnknown };

Truth truth_of(const sql::Expression& condition) {
  const auto* constant = std::get_if<sql::Constant>(&condition.node);
  if (!constant) return Truth::kUnknown;
  const auto* value = std::get_if<bool>(&constant->value);
  return value && *value ? Truth::kAlways : Truth::kNever;  // NULL is not true either
}

LogicalPtr no_rows(const Logical& node) { return make_logical(LogicalValues{}, node.columns); }

bool gives_no_rows(const LogicalPtr& plan) {
  const auto* values = std::get_if<LogicalValues>(&plan->node);
  return values && values->rows.empty();
}

/// Returns true if the join gives no rows because one of its sides gives none.
bool joins_no_rows(const LogicalJoin& join) {
  const bool no_left = gives_no_rows(join.left), no_right = gives_no_rows(join.right);
  switch (join.kind) {
    case JoinKind::kInner:
    case JoinKind::kSemi: return no_left || no_right;
    case JoinKind::kLeft:
    case JoinKind::kAnti: return no_left;
    case JoinKind::kRight: return no_right;
    case JoinKind::kFull: return no_left && no_right;
  }
  return false;
}

/// Returns the rows of one side of a set operation under the operation's columns.
LogicalPtr side_alone(const Logical& operation, const LogicalPtr& side) {
  LogicalProject project{side, {}};
  for (const LogicalColumn& column : side->columns) project.expressions.push_back(sql::make_column(column.type, column.id, column.name));
  return make_logical(std::move(project), operation.columns);
}

LogicalPtr fold_filter(const LogicalPtr& node, const LogicalFilter& filter) {
  if (gives_no_rows(filter.input)) return no_rows(*node);
  std::vector<ExpressionPtr> left;
  for (const ExpressionPtr& condition : sql::split_conjunction(filter.condition)) {
    const Truth truth = truth_of(*condition);
    if (truth == Truth::kNever) return no_rows(*node);
    if (truth == Truth::kUnknown) left.push_back(with_date_comparison(condition));
  }
  if (!filter.barrier || std::holds_alternative<LogicalScan>(filter.input->node)) {
    const LogicalPtr rows = filtered(filter.input, std::move(left));
    return filter.barrier && rows != filter.input ? behind_barrier(rows) : rows;
  }
  if (left.empty()) return make_logical(LogicalFilter{filter.input, sql::make_constant(sql::kBool, true), true}, node->columns);
  return make_logical(LogicalFilter{filter.input, sql::conjunction(std::move(left)), true}, node->columns);
}

/// Returns the rest of a node whose expressions and inputs are folded, without inputs that have no rows.
struct Folded {
  const LogicalPtr& node;

  LogicalPtr operator()(const LogicalFilter& filter) const { return fold_filter(node, filter); }
  LogicalPtr operator()(const LogicalProject& project) const { return gives_no_rows(project.input) ? no_rows(*node) : node; }
  LogicalPtr operator()(const LogicalJoin& join) const { return joins_no_rows(join) ? no_rows(*node) : node; }
  LogicalPtr operator()(const LogicalSetOperation& operation) const {
    if (operation.kind != LogicalSetOperation::Kind::kUnion || !operation.all) return node;
    if (gives_no_rows(operation.left)) return gives_no_rows(operation.right) ? no_rows(*node) : side_alone(*node, operation.right);
    return gives_no_rows(operation.right) ? side_alone(*node, operation.left) : node;
  }
  LogicalPtr operator()(const OneOf<LogicalScan, LogicalSystemScan, LogicalSharedScan, LogicalFunctionScan, LogicalValues, LogicalApply,
                                    LogicalAggregate, LogicalWindow, LogicalSort, LogicalLockRows, LogicalLimit, LogicalDistinct, LogicalShare,
                                    LogicalRecursiveUnion, LogicalInsert, LogicalUpdate, LogicalDelete, LogicalMerge> auto&) const {
    return node;
  }
};

}  // namespace

LogicalPtr fold_constants(const LogicalPtr& plan) {
  // Sessions with other time zones share the plan. What reads the zone (age() is immutable all the same) is left to the execution.
  static const sql::SessionSettings kSettings{.time_zone = ""};
  sql::EvaluationContext context;
  context.settings = &kSettings;
  std::vector<LogicalPtr> inputs = inputs_of(*plan);
  for (LogicalPtr& input : inputs) input = fold_constants(input);
  LogicalPtr node = inputs.empty() ? plan : with_inputs(*plan, inputs);
  node = map_expressions(*node, [&](const ExpressionPtr& e) { return sql::fold_constants(e, context); });
  return std::visit(Folded{node}, node->node);
}

}  // namespace redquel::planner
