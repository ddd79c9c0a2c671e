#include "planner/bind/subquery_join.h"

#include <algorithm>
#include <map>

#include "planner/bind/plan_nodes.h"
#include "planner/bind/subquery_placement.h"
#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// A subquery taken apart: what is left of it, and its conditions that need outer columns.
struct Decorrelated {
  LogicalPtr plan;
  std::vector<ExpressionPtr> conditions;      // over plan's and the outer level's columns
  std::map<ColumnId, ExpressionPtr> outputs;  // the subquery's columns over plan's
};

ExpressionPtr slots_to_columns(const ExpressionPtr& expression, const CorrelationFrame& frame) {
  return map_parameters(expression, [&](const ExpressionPtr& parameter, std::uint32_t slot) {
    const auto found = std::ranges::find(frame, slot, &Correlation::slot);
    return found == frame.end() ? parameter : found->value;
  });
}

ExpressionPtr replace_outputs(const ExpressionPtr& expression, const std::map<ColumnId, ExpressionPtr>& outputs) {
  return sql::map_columns(expression, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
    const auto found = outputs.find(column.column);
    return found == outputs.end() ? sql::make_expression(whole.type, column, whole.offset) : found->second;
  });
}

}  // namespace

LogicalPtr pull_up_conditions(const LogicalPtr& plan, const CorrelationFrame& frame,
                              std::vector<ExpressionPtr>& pulled) {
  const auto keep_own = [&](const ExpressionPtr& condition) {
    std::vector<ExpressionPtr> own;
    for (const ExpressionPtr& conjunct : sql::split_conjunction(condition)) {
      const bool outer = reads_slots(*conjunct, frame) && !sql::is_volatile(*conjunct);
      (outer ? pulled : own).push_back(conjunct);
    }
    return own;
  };
  if (const auto* filter = std::get_if<LogicalFilter>(&plan->node)) {
    if (filter->barrier) return plan;
    std::vector<ExpressionPtr> own = keep_own(filter->condition);
    return filtered(pull_up_conditions(filter->input, frame, pulled), std::move(own));
  }
  if (const auto* join = std::get_if<LogicalJoin>(&plan->node)) {
    LogicalJoin copy = *join;
    if (join->kind == JoinKind::kRight || join->kind == JoinKind::kFull) return plan;
    copy.left = pull_up_conditions(join->left, frame, pulled);
    if (join->kind == JoinKind::kInner) {
      copy.right = pull_up_conditions(join->right, frame, pulled);
      copy.condition = sql::conjunction(keep_own(join->condition));
    }
    return make_logical(std::move(copy), plan->columns);
  }
  if (const auto* apply = std::get_if<LogicalApply>(&plan->node)) {
    return with_inputs(*plan, {pull_up_conditions(apply->input, frame, pulled), apply->subquery});
  }
  return plan;
}

namespace {

/// `LIMIT 5` and the like let at least one row through.
bool is_positive_limit(const LogicalLimit& limit) {
  if (limit.offset || !limit.limit) return false;
  const sql::Expression* count = limit.limit.get();
  if (const auto* cast = std::get_if<sql::CastCall>(&count->node)) count = cast->operand.get();
  const auto* constant = std::get_if<sql::Constant>(&count->node);
  if (constant == nullptr) return false;
  if (const auto* four = std::get_if<std::int32_t>(&constant->value)) return *four > 0;
  const auto* eight = std::get_if<std::int64_t>(&constant->value);
  return eight != nullptr && *eight > 0;
}

/// nullopt where outer columns are read anywhere but in conditions that can be pulled up.
std::optional<Decorrelated> decorrelate(const PendingSubquery& pending) {
  Decorrelated result;
  LogicalPtr plan = pending.plan;
  const bool exists = pending.kind == LogicalApply::Kind::kExists;
  // EXISTS does not care for order or duplicates, IN neither.
  while (true) {
    if (const auto* sort = std::get_if<LogicalSort>(&plan->node)) {
      plan = sort->input;
    } else if (const auto* distinct = std::get_if<LogicalDistinct>(&plan->node); distinct && distinct->on.empty()) {
      plan = distinct->input;
    } else {
      break;
    }
  }
  if (const auto* project = std::get_if<LogicalProject>(&plan->node)) {
    for (std::size_t i = 0; i < project->expressions.size(); ++i) {
      const ExpressionPtr& value = project->expressions[i];
      if (!exists && (sql::is_volatile(*value) || reads_slots(*value, pending.correlations))) return std::nullopt;
      result.outputs[plan->columns[i].id] = value;
    }
    plan = project->input;
  }
  if (const auto* limit = std::get_if<LogicalLimit>(&plan->node); limit && exists && is_positive_limit(*limit))
    plan = limit->input;
  if (const auto* sort = std::get_if<LogicalSort>(&plan->node)) plan = sort->input;
  result.plan = pull_up_conditions(plan, pending.correlations, result.conditions);
  if (reads_slots(*result.plan, pending.correlations)) return std::nullopt;
  for (ExpressionPtr& condition : result.conditions) condition = slots_to_columns(condition, pending.correlations);
  return result;
}

/// The conjunct as a subquery, perhaps below NOT.
const PendingSubquery* subquery_of(const QueryLevel& level, const sql::Expression& conjunct, bool& negated) {
  if (const auto* logical = std::get_if<sql::Logical>(&conjunct.node);
      logical && logical->kind == sql::Logical::Kind::kNot) {
    negated = !negated;
    return subquery_of(level, *logical->operands[0], negated);
  }
  const auto* column = std::get_if<sql::ColumnRef>(&conjunct.node);
  return column ? level.find_subquery(column->column) : nullptr;
}

/// Returns true if the comparison can be NULL for some pair of rows. NOT IN may only be an anti-join if it cannot.
bool comparison_may_be_null(const sql::Expression& comparison, const std::vector<LogicalColumn>& columns) {
  if (const auto* logical = std::get_if<sql::Logical>(&comparison.node)) {
    return std::ranges::any_of(logical->operands, [&](const auto& e) { return comparison_may_be_null(*e, columns); });
  }
  const auto* call = std::get_if<sql::FunctionCall>(&comparison.node);
  if (call == nullptr) return true;
  return std::ranges::any_of(call->arguments, [&](const auto& e) { return is_nullable(*e, columns); });
}

/// Returns true if an index of the column's table finds rows by it.
bool is_indexed(const Logical& plan, ColumnId id) {
  if (const auto* scan = std::get_if<LogicalScan>(&plan.node)) {
    const auto found = std::ranges::find(plan.columns, id, &LogicalColumn::id);
    if (found == plan.columns.end()) return false;
    const std::int16_t number = scan->numbers[static_cast<std::size_t>(found - plan.columns.begin())];
    return scan->table->primary_key == std::vector<std::int16_t>{number} ||
           std::ranges::any_of(scan->table->indexes, [&](const sql::IndexDef& index) {
             return index.state == sql::IndexState::kReady && index.parts.size() == 1 && index.parts[0].column == number;
           });
  }
  const std::vector<LogicalPtr> inputs = inputs_of(plan);
  return std::ranges::any_of(inputs, [&](const LogicalPtr& input) { return is_indexed(*input, id); });
}

bool is_comparison(std::string_view name) {
  return name == "=" || name == "<" || name == "<=" || name == ">" || name == ">=";
}

/// Made of scalar subqueries that need nothing of this level, and are not in the plan yet.
bool is_value_of_subqueries(const QueryLevel& level, const Logical& input, const sql::Expression& value) {
  std::vector<ColumnId> columns;
  sql::collect_columns(value, columns);
  return !columns.empty() && !sql::is_volatile(value) && std::ranges::all_of(columns, [&](ColumnId id) {
    const PendingSubquery* pending = level.find_subquery(id);
    return pending != nullptr && pending->kind == LogicalApply::Kind::kScalar && pending->correlations.empty() &&
           find_column(input, id) == nullptr;
  });
}

}  // namespace

LogicalPtr look_up_values(BindState& state, const QueryLevel& level, const LogicalPtr& input, const ExpressionPtr& conjunct) {
  const auto* call = std::get_if<sql::FunctionCall>(&conjunct->node);
  if (call == nullptr || call->arguments.size() != 2 || !is_comparison(call->function->name)) return nullptr;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto* column = std::get_if<sql::ColumnRef>(&call->arguments[side]->node);
    const ExpressionPtr& value = call->arguments[1 - side];
    if (column == nullptr || !is_indexed(*input, column->column) || !is_value_of_subqueries(level, *input, *value)) continue;
    LogicalApply apply{.kind = LogicalApply::Kind::kLateral};
    apply.input = place_subqueries(state, level, one_row(), {&value, 1});
    const ExpressionPtr condition = sql::map_columns(conjunct, [&](const sql::Expression& whole, const sql::ColumnRef& reference) {
      if (level.find_subquery(reference.column) == nullptr) return sql::make_expression(whole.type, reference, whole.offset);
      apply.correlations.push_back({state.new_slot(), reference.column});
      return sql::make_expression(whole.type, sql::ParameterRef{apply.correlations.back().slot}, whole.offset);
    });
    apply.subquery = filtered(input, {condition});
    std::vector<LogicalColumn> columns = apply.input->columns;
    columns.insert(columns.end(), input->columns.begin(), input->columns.end());
    return make_logical(std::move(apply), std::move(columns));
  }
  return nullptr;
}

LogicalPtr join_subquery(BindState& state, const QueryLevel& level, const LogicalPtr& input,
                         const ExpressionPtr& conjunct) {
  bool negated = false;
  const PendingSubquery* pending = subquery_of(level, *conjunct, negated);
  if (pending == nullptr || find_column(*input, pending->column) != nullptr) return nullptr;
  const bool exists = pending->kind == LogicalApply::Kind::kExists;
  // An uncorrelated EXISTS is best asked once; ALL compares with every row.
  if (!exists && (pending->kind != LogicalApply::Kind::kIn || pending->all)) return nullptr;
  if (exists && pending->correlations.empty()) return nullptr;
  std::optional<Decorrelated> inner = decorrelate(*pending);
  if (!inner) return nullptr;
  std::vector<ExpressionPtr> conditions = std::move(inner->conditions);
  if (exists && conditions.empty()) return nullptr;
  if (!exists) {
    const ExpressionPtr comparison = replace_outputs(pending->comparison, inner->outputs);
    if (sql::is_volatile(*comparison)) return nullptr;
    std::vector<LogicalColumn> both = input->columns;
    both.insert(both.end(), inner->plan->columns.begin(), inner->plan->columns.end());
    if (negated && comparison_may_be_null(*comparison, both)) return nullptr;
    conditions.insert(conditions.begin(), comparison);
  }
  // Subqueries inside the test belong below the join.
  const LogicalPtr left = place_subqueries(state, level, input, conditions);
  return make_join(negated ? JoinKind::kAnti : JoinKind::kSemi, left, inner->plan,
                   sql::conjunction(std::move(conditions)));
}

}  // namespace redquel::planner
