#include "planner/rules/pull_up_projections.h"

#include <algorithm>
#include <map>
#include <utility>

#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

bool picks_columns(const Logical& node) {
  const auto* project = std::get_if<LogicalProject>(&node.node);
  if (project == nullptr) return false;
  return std::ranges::all_of(project->expressions, [](const ExpressionPtr& expression) { return std::holds_alternative<sql::ColumnRef>(expression->node); });
}

/// A join over the inputs of its projections, and one projection above it.
class PulledUp {
 public:
  LogicalPtr of(const Logical& node, const LogicalJoin& join) {
    LogicalJoin made{join.kind, below(join.left), below(join.right), nullptr};
    const auto inner = [this](const sql::Expression& whole, const sql::ColumnRef& column) { return inner_of(whole.type, column.column, column.name); };
    if (join.condition) made.condition = sql::map_columns(join.condition, inner);
    std::vector<LogicalColumn> columns = made.left->columns;
    const auto may_be_null = [](std::vector<LogicalColumn>& side) { std::ranges::for_each(side, [](LogicalColumn& column) { column.nullable = true; }); };
    if (join.kind == JoinKind::kRight || join.kind == JoinKind::kFull) may_be_null(columns);
    if (join.kind != JoinKind::kSemi && join.kind != JoinKind::kAnti) {
      std::vector<LogicalColumn> right = made.right->columns;
      if (join.kind == JoinKind::kLeft || join.kind == JoinKind::kFull) may_be_null(right);
      columns.insert(columns.end(), right.begin(), right.end());
    }
    std::vector<ExpressionPtr> picked;
    for (const LogicalColumn& column : node.columns) picked.push_back(inner_of(column.type, column.id, column.name));
    return make_logical(LogicalProject{make_logical(std::move(made), std::move(columns)), std::move(picked)}, node.columns);
  }

 private:
  LogicalPtr below(const LogicalPtr& side) {
    if (!picks_columns(*side)) return side;
    const auto& project = std::get<LogicalProject>(side->node);
    for (std::size_t i = 0; i < project.expressions.size(); ++i) inner_[side->columns[i].id] = project.expressions[i];
    return project.input;
  }

  ExpressionPtr inner_of(sql::Type type, ColumnId id, const std::string& name) const {
    const auto found = inner_.find(id);
    return found != inner_.end() ? found->second : sql::make_column(type, id, name);
  }

  std::map<ColumnId, ExpressionPtr> inner_;  // by the id above
};

/// Returns true for nodes that name columns of the scans below them: these stay as they are.
bool names_scans(const Logical& node) {
  return std::holds_alternative<LogicalLockRows>(node.node) || std::holds_alternative<LogicalUpdate>(node.node) || std::holds_alternative<LogicalDelete>(node.node) ||
         std::holds_alternative<LogicalMerge>(node.node);
}

}  // namespace

LogicalPtr pull_up_projections(const LogicalPtr& node) {
  std::vector<LogicalPtr> inputs = inputs_of(*node);
  if (inputs.empty() || names_scans(*node)) return node;
  bool is_changed = false;
  for (LogicalPtr& input : inputs) {
    LogicalPtr made = pull_up_projections(input);
    is_changed = is_changed || made != input;
    input = std::move(made);
  }
  const LogicalPtr rewritten = is_changed ? with_inputs(*node, inputs) : node;
  const auto* join = std::get_if<LogicalJoin>(&rewritten->node);
  if (join == nullptr || (!picks_columns(*join->left) && !picks_columns(*join->right))) return rewritten;
  return PulledUp().of(*rewritten, *join);
}

}  // namespace redquel::planner
