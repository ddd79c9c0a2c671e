#include <fmt/format.h>

#include "planner/tree/logical_plan.h"
#include "planner/tree/logical_walk.h"
#include "sql/functions/window_function.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// Columns carry their ids: `(a#0 = $1)`.
std::string text(const ExpressionPtr& expression) {
  if (!expression) return "-";
  const ExpressionPtr named =
      sql::map_columns(expression, [](const sql::Expression& whole, const sql::ColumnRef& column) {
        return sql::make_column(whole.type, column.column, fmt::format("{}#{}", column.name, column.column));
      });
  return sql::to_string(*named);
}

std::string text(const LogicalColumn& column) { return fmt::format("{}#{}", column.name, column.id); }
std::string text(const SortKey& key) {
  std::string result = text(key.expression);
  if (key.descending) result += " DESC";
  if (key.nulls_first != key.descending) result += key.nulls_first ? " NULLS FIRST" : " NULLS LAST";
  return result;
}
std::string text(const AggregateCall& call) {
  std::string result = fmt::format("{}({}", call.function->name, call.distinct ? "DISTINCT " : "");
  if (call.arguments.empty()) result += "*";
  for (std::size_t i = 0; i < call.arguments.size(); ++i) result += (i > 0 ? ", " : "") + text(call.arguments[i]);
  for (std::size_t i = 0; i < call.order_by.size(); ++i) {
    const auto& order = call.order_by[i];
    result += (i > 0 ? ", " : " ORDER BY ") + text(SortKey{order.expression, order.descending, order.nulls_first});
  }
  result += ")";
  if (call.filter) result += " FILTER " + text(call.filter);
  return result;
}

template <class Items>
std::string list(const Items& items) {
  std::string result;
  for (const auto& item : items) result += (result.empty() ? "" : ", ") + text(item);
  return result;
}

std::string_view name_of(JoinKind kind) {
  switch (kind) {
    case JoinKind::kInner:
      return "Inner";
    case JoinKind::kLeft:
      return "Left";
    case JoinKind::kRight:
      return "Right";
    case JoinKind::kFull:
      return "Full";
    case JoinKind::kSemi:
      return "Semi";
    case JoinKind::kAnti:
      return "Anti";
  }
  return "";
}

std::string_view name_of(LogicalSetOperation::Kind kind) {
  switch (kind) {
    case LogicalSetOperation::Kind::kUnion:
      return "Union";
    case LogicalSetOperation::Kind::kIntersect:
      return "Intersect";
    case LogicalSetOperation::Kind::kExcept:
      return "Except";
  }
  return "";
}

/// `value AS name#id`, or only the column where it is passed through.
std::string outputs(const std::vector<ExpressionPtr>& values, const std::vector<LogicalColumn>& columns) {
  std::string result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string value = text(values[i]), column = text(columns[i]);
    result += (i > 0 ? ", " : "") + (value == column ? value : value + " AS " + column);
  }
  return result;
}

std::string label(const Logical& node, const LogicalScan& scan) {
  const bool aliased = !scan.alias.empty() && scan.alias != scan.table->name;
  return fmt::format("Scan {}{} [{}]", scan.table->name, aliased ? " " + scan.alias : "", list(node.columns));
}
std::string label(const Logical& node, const LogicalFunctionScan& scan) {
  std::string calls;
  for (const TableFunctionCall& call : scan.calls) {
    calls += calls.empty() ? "" : ", ";
    calls += call.function ? fmt::format("{}({})", call.function->name, list(call.arguments)) : text(call.arguments[0]);
  }
  return fmt::format("Function {}{} [{}]", calls, scan.with_ordinality ? " with ordinality" : "", list(node.columns));
}
std::string label(const Logical&, const LogicalShare& share) { return fmt::format("Share {} {}", share.number, share.name); }
std::string label(const Logical& node, const LogicalSharedScan& scan) {
  return fmt::format("Shared {} {} [{}]", scan.number, scan.name, list(node.columns));
}
std::string label(const Logical& node, const LogicalRecursiveUnion& recursion) {
  return fmt::format("Recursive union{} {} [{}]", recursion.all ? " all" : "", recursion.number, list(node.columns));
}
std::string label(const Logical& node, const LogicalSystemScan& scan) {
  return fmt::format("System {}.{} [{}]", scan.schema, scan.name, list(node.columns));
}
std::string label(const Logical& node, const LogicalValues& values) {
  std::string rows;
  for (const auto& row : values.rows) rows += fmt::format("{}({})", rows.empty() ? "" : ", ", list(row));
  return fmt::format("Values {} [{}]", rows, list(node.columns));
}
std::string label(const Logical&, const LogicalFilter& filter) { return (filter.barrier ? "Barrier " : "Filter ") + text(filter.condition); }
std::string label(const Logical& node, const LogicalProject& project) {
  return fmt::format("Project [{}]", outputs(project.expressions, node.columns));
}
std::string label(const Logical&, const LogicalJoin& join) {
  return fmt::format("{} join{}", name_of(join.kind), join.condition ? " " + text(join.condition) : "");
}
std::string label(const Logical& node, const LogicalApply& apply) {
  std::string kind;
  switch (apply.kind) {
    case LogicalApply::Kind::kScalar:
      kind = "scalar";
      break;
    case LogicalApply::Kind::kExists:
      kind = "exists";
      break;
    case LogicalApply::Kind::kIn:
      kind = fmt::format("{} {}", apply.all ? "all" : "any", text(apply.comparison));
      break;
    case LogicalApply::Kind::kLateral:
      kind = apply.join == JoinKind::kLeft ? "left lateral" : "lateral";
      break;
  }
  std::string slots;
  for (const auto& correlation : apply.correlations) {
    slots += fmt::format("{}${} = #{}", slots.empty() ? "" : ", ", correlation.slot + 1, correlation.column);
  }
  const bool value = apply.kind != LogicalApply::Kind::kLateral;
  return fmt::format("Apply {}{}{}", kind, value ? " AS " + text(node.columns.back()) : "",
                     slots.empty() ? "" : " (" + slots + ")");
}
std::string label(const Logical& node, const LogicalAggregate& aggregate) {
  std::vector<LogicalColumn> calls(node.columns.begin() + static_cast<std::ptrdiff_t>(aggregate.group_by.size()),
                                   node.columns.end());
  std::string call_text;
  for (std::size_t i = 0; i < calls.size(); ++i)
    call_text += fmt::format("{}{} AS {}", i > 0 ? ", " : "", text(aggregate.calls[i]), text(calls[i]));
  return fmt::format("Aggregate{} by [{}] [{}]", aggregate.scalar ? " all" : "",
                     outputs(aggregate.group_by, node.columns), call_text);
}
std::string label(const Logical& node, const LogicalWindow& window) {
  const std::size_t first = node.columns.size() - window.functions.size();
  std::string calls;
  for (std::size_t i = 0; i < window.functions.size(); ++i) {
    const WindowCall& call = window.functions[i];
    const std::string_view name = call.function ? call.function->name : call.aggregate->name;
    calls += fmt::format("{}{}({}) AS {}", i > 0 ? ", " : "", name, list(call.arguments), text(node.columns[first + i]));
  }
  return fmt::format("Window by [{}] order [{}] [{}]", list(window.partition_by), list(window.order_by), calls);
}
std::string label(const Logical&, const LogicalSort& sort) { return "Sort " + list(sort.keys); }
std::string label(const Logical&, const LogicalLockRows& locks) {
  std::string text = "LockRows";
  for (const LogicalLockRows::Mark& mark : locks.marks) {
    text += fmt::format(" {} of {} [{}]", lock_clause(mark.lock.strength), mark.alias, list(mark.row));
  }
  return text;
}
std::string label(const Logical&, const LogicalLimit& limit) {
  return fmt::format("Limit {} offset {}{}", text(limit.limit), text(limit.offset),
                     limit.with_ties ? " with ties" : "");
}
std::string label(const Logical&, const LogicalDistinct& distinct) {
  return distinct.on.empty() ? "Distinct" : "Distinct on " + list(distinct.on);
}
std::string label(const Logical& node, const LogicalSetOperation& operation) {
  return fmt::format("{}{} [{}]", name_of(operation.kind), operation.all ? " all" : "", list(node.columns));
}

std::string checks_and_returning(const std::vector<BoundCheck>& checks, const std::vector<ExpressionPtr>& returning,
                                 const std::vector<LogicalColumn>& columns) {
  std::string result;
  for (const BoundCheck& check : checks) result += fmt::format(" check {} {}", check.name, text(check.condition));
  if (!returning.empty()) result += fmt::format(" returning [{}]", outputs(returning, columns));
  return result;
}
std::string label(const Logical& node, const LogicalInsert& insert) {
  std::string values;
  for (std::size_t i = 0; i < insert.columns.size(); ++i) {
    const InsertColumn& column = insert.columns[i];
    values += fmt::format("{}{} = {}", i > 0 ? ", " : "", text(insert.new_row[i]),
                          column.value ? text(column.value) : fmt::format("sequence {}", column.sequence));
  }
  return fmt::format("Insert {} [{}]{}{}", insert.table->name, values,
                     insert.on_conflict == LogicalInsert::OnConflict::kNothing  ? " on conflict do nothing"
                     : insert.on_conflict == LogicalInsert::OnConflict::kUpdate ? " on conflict do update"
                                                                                 : "",
                     checks_and_returning(insert.checks, insert.returning, node.columns));
}
std::string label(const Logical& node, const LogicalUpdate& update) {
  std::string values;
  for (const Assignment& assignment : update.assignments) {
    values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", update.table->find_column(assignment.number)->name,
                          text(assignment.value));
  }
  return fmt::format("Update {} [{}]{}", update.table->name, values,
                     checks_and_returning(update.checks, update.returning, node.columns));
}
std::string label(const Logical& node, const LogicalDelete& removal) {
  return fmt::format("Delete {}{}", removal.table->name, checks_and_returning({}, removal.returning, node.columns));
}

std::string label(const Logical&, const LogicalMerge& merge) {
  static constexpr std::string_view kNames[] = {"nothing", "insert", "update", "delete"};
  std::string actions;
  for (const MergeAction& action : merge.actions) {
    actions += fmt::format("{}{}matched{}: {}", actions.empty() ? "" : ", ", action.matched ? "" : "not ",
                           action.condition ? " and " + text(action.condition) : "", kNames[static_cast<std::size_t>(action.kind)]);
  }
  return fmt::format("Merge {} [{}]{}", merge.table->name, actions, checks_and_returning(merge.checks, {}, {}));
}

void print(const Logical& node, std::size_t depth, std::string& out) {
  out.append(2 * depth, ' ');
  out += std::visit([&](const auto& kind) { return label(node, kind); }, node.node);
  out += '\n';
  for (const LogicalPtr& input : inputs_of(node)) print(*input, depth + 1, out);
}

}  // namespace

std::string to_string(const LogicalPtr& plan) {
  std::string out;
  print(*plan, 0, out);
  return out;
}

}  // namespace redquel::planner
