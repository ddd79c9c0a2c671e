#include <algorithm>
#include <map>

#include "planner/rules/equal_constants.h"
#include "planner/rules/rule.h"
#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using Conditions = std::vector<ExpressionPtr>;

namespace {

/// Returns true if the value is certainly NULL when the given columns all are. Recognises certain shapes only.
bool is_null_with(const sql::Expression& value, const std::set<ColumnId>& columns) {
  auto any = [&](const ExpressionPtr& operand) { return is_null_with(*operand, columns); };
  if (const auto* call = std::get_if<sql::FunctionCall>(&value.node)) {
    return call->function->strict && std::any_of(call->arguments.begin(), call->arguments.end(), any);
  }
  if (const auto* column = std::get_if<sql::ColumnRef>(&value.node)) return columns.contains(column->column);
  if (const auto* cast = std::get_if<sql::CastCall>(&value.node)) return any(cast->operand);
  if (const auto* list = std::get_if<sql::InListTest>(&value.node)) return any(list->operand);
  const auto* logical = std::get_if<sql::Logical>(&value.node);
  // An AND of NULL and false is false, an OR of NULL and true is true.
  return logical && std::all_of(logical->operands.begin(), logical->operands.end(), any);
}

/// Returns true if the condition is never true when the given columns are all NULL. Weaker than `is_null_with`: it may be false.
bool rejects_nulls(const sql::Expression& condition, const std::set<ColumnId>& columns) {
  if (is_null_with(condition, columns)) return true;
  if (const auto* test = std::get_if<sql::NullTest>(&condition.node)) return test->negated && is_null_with(*test->operand, columns);
  const auto* logical = std::get_if<sql::Logical>(&condition.node);
  if (!logical) return false;
  auto rejects = [&](const ExpressionPtr& operand) { return rejects_nulls(*operand, columns); };
  if (logical->kind == sql::Logical::Kind::kAnd) return std::any_of(logical->operands.begin(), logical->operands.end(), rejects);
  return logical->kind == sql::Logical::Kind::kOr && std::all_of(logical->operands.begin(), logical->operands.end(), rejects);
}

/// Moves the conditions for which `takes` says yes out of `conditions`.
template <class Predicate>
Conditions extract(Conditions& conditions, const Predicate& takes) {
  Conditions taken, left;
  for (ExpressionPtr& condition : conditions) (takes(condition) ? taken : left).push_back(std::move(condition));
  conditions = std::move(left);
  return taken;
}

ExpressionPtr substitute(const ExpressionPtr& condition, const std::map<ColumnId, ExpressionPtr>& meaning) {
  return sql::map_columns(condition, [&](const sql::Expression& expression, const sql::ColumnRef& column) -> ExpressionPtr {
    auto found = meaning.find(column.column);
    if (found != meaning.end()) return found->second;
    return sql::make_column(expression.type, column.column, column.name);
  });
}

LogicalPtr push(const LogicalPtr& node, Conditions conditions);

void append(Conditions& to, Conditions from) { std::move(from.begin(), from.end(), std::back_inserter(to)); }

bool contains(const Conditions& conditions, const ExpressionPtr& wanted) {
  return std::ranges::any_of(conditions, [&](const ExpressionPtr& condition) { return sql::equal(*condition, *wanted); });
}

/// a AND (b OR c) where (a AND b) OR (a AND c) is written: what joins two tables is seldom told but in each of the alternatives.
Conditions without_repetition(const ExpressionPtr& condition) {
  const auto* either = std::get_if<sql::Logical>(&condition->node);
  if (!either || either->kind != sql::Logical::Kind::kOr || sql::is_volatile(*condition)) return {condition};
  std::vector<Conditions> alternatives;
  for (const ExpressionPtr& operand : either->operands) alternatives.push_back(sql::split_conjunction(operand));
  Conditions common = alternatives.front();
  std::erase_if(common, [&](const ExpressionPtr& part) {
    return std::ranges::any_of(alternatives, [&](const Conditions& alternative) { return !contains(alternative, part); });
  });
  if (common.empty()) return {condition};
  std::vector<ExpressionPtr> different;
  for (Conditions& alternative : alternatives) {
    std::erase_if(alternative, [&](const ExpressionPtr& part) { return contains(common, part); });
    if (alternative.empty()) return common;
    different.push_back(sql::conjunction(std::move(alternative)));
  }
  common.push_back(sql::make_expression(sql::kBool, sql::Logical{sql::Logical::Kind::kOr, std::move(different)}, condition->offset));
  return common;
}

Conditions split(const ExpressionPtr& condition) {
  Conditions parts;
  if (!condition) return parts;
  for (const ExpressionPtr& part : sql::split_conjunction(condition)) append(parts, without_repetition(part));
  return parts;
}

/// Returns the part of conditions (a AND b) OR (c AND d) on these columns alone: a OR c, if b and d need other columns, too. The condition
/// implies it, and stays.
Conditions implied_for(const std::set<ColumnId>& columns, const Conditions& conditions) {
  Conditions implied;
  for (const ExpressionPtr& condition : conditions) {
    const auto* either = std::get_if<sql::Logical>(&condition->node);
    if (!either || either->kind != sql::Logical::Kind::kOr || sql::is_volatile(*condition)) continue;
    std::vector<ExpressionPtr> alternatives;
    for (const ExpressionPtr& operand : either->operands) {
      Conditions parts = sql::split_conjunction(operand);
      std::erase_if(parts, [&](const ExpressionPtr& part) {
        const auto used = columns_in(*part);
        return used.empty() || !is_subset(used, columns);
      });
      if (parts.empty()) break;
      alternatives.push_back(sql::conjunction(std::move(parts)));
    }
    if (alternatives.size() < either->operands.size()) continue;
    implied.push_back(sql::make_expression(sql::kBool, sql::Logical{sql::Logical::Kind::kOr, std::move(alternatives)}, condition->offset));
  }
  return implied;
}

LogicalPtr push_into_project(const Logical& node, const LogicalProject& project, Conditions conditions) {
  std::map<ColumnId, ExpressionPtr> meaning;
  std::set<ColumnId> fixed;  // computing these twice would give other values
  for (std::size_t i = 0; i < project.expressions.size(); ++i) {
    meaning[node.columns[i].id] = project.expressions[i];
    if (sql::is_volatile(*project.expressions[i])) fixed.insert(node.columns[i].id);
  }
  Conditions below = extract(conditions, [&](const ExpressionPtr& condition) {
    auto used = columns_in(*condition);
    return !sql::is_volatile(*condition) && std::none_of(used.begin(), used.end(), [&](ColumnId id) { return fixed.contains(id); });
  });
  for (ExpressionPtr& condition : below) condition = substitute(condition, meaning);
  return filtered(with_inputs(node, {push(project.input, std::move(below))}), std::move(conditions));
}

LogicalPtr push_into_join(const Logical& node, LogicalJoin join, Conditions above) {
  auto left_ids = ids_of(*join.left), right_ids = ids_of(*join.right);
  auto only = [](const std::set<ColumnId>& side) {
    return [&side](const ExpressionPtr& c) { return !sql::is_volatile(*c) && is_subset(columns_in(*c), side); };
  };
  auto rejected = [&](const std::set<ColumnId>& side) {
    return std::any_of(above.begin(), above.end(), [&](const ExpressionPtr& c) { return rejects_nulls(*c, side); });
  };
  if (join.kind == JoinKind::kFull) {
    bool keeps_left = rejected(left_ids), keeps_right = rejected(right_ids);
    if (keeps_left && keeps_right) join.kind = JoinKind::kInner;
    else if (keeps_left) join.kind = JoinKind::kLeft;
    else if (keeps_right) join.kind = JoinKind::kRight;
  }
  if (join.kind == JoinKind::kLeft && rejected(right_ids)) join.kind = JoinKind::kInner;
  if (join.kind == JoinKind::kRight && rejected(left_ids)) join.kind = JoinKind::kInner;

  Conditions on = split(join.condition), to_left, to_right;
  if (join.kind == JoinKind::kInner) {
    append(on, extract(above, [](const ExpressionPtr& c) { return !sql::is_volatile(*c); }));
    append(on, equal_constants(on));
    to_left = extract(on, only(left_ids));
    to_right = extract(on, only(right_ids));
  } else if (join.kind == JoinKind::kLeft || join.kind == JoinKind::kSemi || join.kind == JoinKind::kAnti) {
    to_left = extract(above, only(left_ids));
    to_right = extract(on, only(right_ids));
    Conditions implied = equal_constants(to_left, on);
    append(to_right, extract(implied, only(right_ids)));
    if (join.kind == JoinKind::kSemi) append(to_left, extract(on, only(left_ids)));
  } else if (join.kind == JoinKind::kRight) {
    to_right = extract(above, only(right_ids));
    to_left = extract(on, only(left_ids));
  }
  if (join.kind == JoinKind::kInner || join.kind == JoinKind::kSemi || join.kind == JoinKind::kRight) append(to_left, implied_for(left_ids, on));
  if (join.kind != JoinKind::kRight && join.kind != JoinKind::kFull) append(to_right, implied_for(right_ids, on));
  join.left = push(join.left, std::move(to_left));
  join.right = push(join.right, std::move(to_right));
  join.condition = sql::conjunction(std::move(on));
  return filtered(make_logical(std::move(join), node.columns), std::move(above));
}

LogicalPtr push_into_aggregate(const Logical& node, const LogicalAggregate& aggregate, Conditions conditions) {
  std::map<ColumnId, ExpressionPtr> meaning;
  std::set<ColumnId> keys;
  for (std::size_t i = 0; i < aggregate.group_by.size(); ++i) {
    meaning[node.columns[i].id] = aggregate.group_by[i];
    keys.insert(node.columns[i].id);
  }
  Conditions below;
  if (!aggregate.scalar) {
    below = extract(conditions, [&](const ExpressionPtr& c) {
      auto used = columns_in(*c);
      return !used.empty() && !sql::is_volatile(*c) && is_subset(used, keys);
    });
  }
  for (ExpressionPtr& condition : below) condition = substitute(condition, meaning);
  return filtered(with_inputs(node, {push(aggregate.input, std::move(below))}), std::move(conditions));
}

/// Whole partitions may go before the functions run.
LogicalPtr push_into_window(const Logical& node, const LogicalWindow& window, Conditions conditions) {
  std::set<ColumnId> keys;
  for (const ExpressionPtr& key : window.partition_by) keys.merge(columns_in(*key));
  Conditions below = extract(conditions, [&](const ExpressionPtr& c) {
    auto used = columns_in(*c);
    return !used.empty() && !sql::is_volatile(*c) && is_subset(used, keys);
  });
  return filtered(with_inputs(node, {push(window.input, std::move(below))}), std::move(conditions));
}

LogicalPtr push_into_set_operation(const Logical& node, const LogicalSetOperation& operation, Conditions conditions) {
  Conditions pushed = extract(conditions, [](const ExpressionPtr& c) { return !sql::is_volatile(*c); });
  auto side = [&](const LogicalPtr& input) {
    std::map<ColumnId, ExpressionPtr> meaning;
    for (std::size_t i = 0; i < node.columns.size(); ++i) {
      const LogicalColumn& column = input->columns[i];
      meaning[node.columns[i].id] = sql::make_column(column.type, column.id, column.name);
    }
    Conditions mapped;
    for (const ExpressionPtr& condition : pushed) mapped.push_back(substitute(condition, meaning));
    return push(input, std::move(mapped));
  };
  return filtered(with_inputs(node, {side(operation.left), side(operation.right)}), std::move(conditions));
}

LogicalPtr push_into_filter(const LogicalFilter& filter, Conditions conditions) {
  Conditions own = split(filter.condition);
  std::erase_if(own, [](const ExpressionPtr& condition) { return is_true(*condition); });
  if (!filter.barrier) {
    append(own, std::move(conditions));  // the inner condition is checked first
    return push(filter.input, std::move(own));
  }
  const auto passes = [](const ExpressionPtr& condition) { return !sql::is_volatile(*condition) && is_leakproof(*condition); };
  for (ExpressionPtr& condition : extract(conditions, passes)) {
    if (!contains(own, condition)) own.push_back(std::move(condition));  // queries repeat what policies demand
  }
  LogicalPtr rows = push(filter.input, std::move(own));
  if (!std::holds_alternative<LogicalScan>(rows->node)) rows = behind_barrier(std::move(rows));
  return filtered(std::move(rows), std::move(conditions));
}

LogicalPtr push_into_apply(const Logical& node, const LogicalApply& apply, Conditions conditions) {
  const auto is_over = [](const ExpressionPtr& condition, const std::set<ColumnId>& ids) {
    return !sql::is_volatile(*condition) && is_subset(columns_in(*condition), ids);
  };
  const auto input_ids = ids_of(*apply.input);
  Conditions below = extract(conditions, [&](const ExpressionPtr& condition) { return is_over(condition, input_ids); });
  Conditions inner;
  if (apply.kind == LogicalApply::Kind::kLateral && apply.join == JoinKind::kInner) {
    const auto subquery_ids = ids_of(*apply.subquery);
    inner = extract(conditions, [&](const ExpressionPtr& condition) { return !columns_in(*condition).empty() && is_over(condition, subquery_ids); });
  }
  return filtered(with_inputs(node, {push(apply.input, std::move(below)), push(apply.subquery, std::move(inner))}), std::move(conditions));
}

/// Where conditions go that stand above a node of each kind.
struct Pushed {
  const LogicalPtr& node;
  Conditions& conditions;

  LogicalPtr operator()(const LogicalFilter& filter) const { return push_into_filter(filter, std::move(conditions)); }
  LogicalPtr operator()(const LogicalProject& project) const { return push_into_project(*node, project, std::move(conditions)); }
  LogicalPtr operator()(const LogicalJoin& join) const { return push_into_join(*node, join, std::move(conditions)); }
  LogicalPtr operator()(const LogicalApply& apply) const { return push_into_apply(*node, apply, std::move(conditions)); }
  LogicalPtr operator()(const LogicalAggregate& aggregate) const { return push_into_aggregate(*node, aggregate, std::move(conditions)); }
  LogicalPtr operator()(const LogicalWindow& window) const { return push_into_window(*node, window, std::move(conditions)); }
  LogicalPtr operator()(const LogicalSetOperation& operation) const {
    return push_into_set_operation(*node, operation, std::move(conditions));
  }
  LogicalPtr operator()(const LogicalShare& share) const {
    return with_inputs(*node, {push(share.input, std::move(conditions)), push(share.source, {})});
  }
  LogicalPtr operator()(const LogicalSort& sort) const { return through(sort.input); }
  LogicalPtr operator()(const LogicalDistinct& distinct) const { return distinct.on.empty() ? through(distinct.input) : above(); }
  LogicalPtr operator()(const OneOf<LogicalScan, LogicalSystemScan, LogicalSharedScan, LogicalFunctionScan, LogicalValues> auto&) const {
    return filtered(node, std::move(conditions));
  }
  LogicalPtr operator()(const OneOf<LogicalLockRows, LogicalLimit, LogicalRecursiveUnion, LogicalInsert, LogicalUpdate, LogicalDelete,
                                    LogicalMerge> auto&) const {
    return above();
  }

 private:
  /// The conditions may be checked before the node.
  LogicalPtr through(const LogicalPtr& input) const {
    Conditions below = extract(conditions, [](const ExpressionPtr& condition) { return !sql::is_volatile(*condition); });
    return filtered(with_inputs(*node, {push(input, std::move(below))}), std::move(conditions));
  }
  /// The conditions stay above the node, whose inputs have their own.
  LogicalPtr above() const {
    std::vector<LogicalPtr> inputs = inputs_of(*node);
    for (LogicalPtr& input : inputs) input = push(input, {});
    return filtered(with_inputs(*node, inputs), std::move(conditions));
  }
};

LogicalPtr push(const LogicalPtr& node, Conditions conditions) { return std::visit(Pushed{node, conditions}, node->node); }

}  // namespace

LogicalPtr push_down_filters(const LogicalPtr& plan) { return push(plan, {}); }

}  // namespace redquel::planner
