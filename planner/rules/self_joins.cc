#include "planner/rules/self_joins.h"

#include <algorithm>
#include <map>

#include "planner/tree/logical_walk.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// Rows of one table, each at most once, as a query reads them.
struct TableRows {
  LogicalPtr scan;
  const LogicalScan* table = nullptr;
  std::vector<ExpressionPtr> conditions;      // over the scan's columns
  std::map<ColumnId, ExpressionPtr> outputs;  // columns that are not the scan's own
};

bool has_fixed_conditions(const TableRows& rows) {
  return std::ranges::none_of(rows.conditions, [](const ExpressionPtr& e) { return sql::is_volatile(*e); });
}

ExpressionPtr over_scan(const TableRows& rows, const ExpressionPtr& expression) {
  return sql::map_columns(expression, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
    const auto found = rows.outputs.find(column.column);
    return found == rows.outputs.end() ? sql::make_expression(whole.type, column, whole.offset) : found->second;
  });
}

std::optional<TableRows> match_rows(const LogicalPtr& node) {
  if (const auto* scan = std::get_if<LogicalScan>(&node->node)) return TableRows{node, scan, {}, {}};
  if (const auto* filter = std::get_if<LogicalFilter>(&node->node)) {
    if (filter->barrier) return {};
    auto rows = match_rows(filter->input);
    if (!rows) return {};
    for (const ExpressionPtr& condition : sql::split_conjunction(filter->condition)) {
      rows->conditions.push_back(over_scan(*rows, condition));
    }
    return rows;
  }
  const auto* project = std::get_if<LogicalProject>(&node->node);
  if (project == nullptr) return {};
  auto rows = match_rows(project->input);
  if (!rows) return {};
  std::map<ColumnId, ExpressionPtr> outputs = rows->outputs;
  for (std::size_t i = 0; i < project->expressions.size(); ++i) {
    if (sql::is_volatile(*project->expressions[i])) return {};
    const auto* column = std::get_if<sql::ColumnRef>(&project->expressions[i]->node);
    if (column != nullptr && column->column == node->columns[i].id) continue;
    outputs[node->columns[i].id] = over_scan(*rows, project->expressions[i]);
  }
  rows->outputs = std::move(outputs);
  return rows;
}

/// The table's column that a column of the node is; 0: none.
std::int16_t number_of(const TableRows& rows, const sql::Expression& expression) {
  const auto* column = std::get_if<sql::ColumnRef>(&expression.node);
  if (column == nullptr) return 0;
  const auto output = rows.outputs.find(column->column);
  if (output != rows.outputs.end()) column = std::get_if<sql::ColumnRef>(&output->second->node);
  if (column == nullptr) return 0;
  const auto found = std::ranges::find(rows.scan->columns, column->column, &LogicalColumn::id);
  if (found == rows.scan->columns.end()) return 0;
  return rows.table->numbers[static_cast<std::size_t>(found - rows.scan->columns.begin())];
}

/// The number of the column that both sides of an equality are; 0: it says something else.
std::int16_t same_column(const TableRows& left, const TableRows& right, const sql::Expression& condition) {
  const auto* call = std::get_if<sql::FunctionCall>(&condition.node);
  if (call == nullptr || call->function->name != "=" || call->arguments.size() != 2) return 0;
  for (const auto& [one, other] : {std::pair{0, 1}, std::pair{1, 0}}) {
    const std::int16_t number = number_of(left, *call->arguments[static_cast<std::size_t>(one)]);
    if (number > 0 && number == number_of(right, *call->arguments[static_cast<std::size_t>(other)])) return number;
  }
  return 0;
}

bool are_rows_of_one_table(const TableRows& left, const TableRows& right) {
  return left.table->table->oid == right.table->table->oid && !left.table->table->primary_key.empty() && has_fixed_conditions(left) &&
         has_fixed_conditions(right);
}

/// The left rows' scan with the columns that the right one has in addition, and what the right one's columns are over it.
struct MergedScan {
  LogicalPtr scan;
  std::map<ColumnId, ExpressionPtr> right;
};

MergedScan merge_scans(const TableRows& left, const TableRows& right) {
  LogicalScan table = *left.table;
  std::vector<LogicalColumn> columns = left.scan->columns;
  std::map<ColumnId, ExpressionPtr> meaning;
  for (std::size_t i = 0; i < right.scan->columns.size(); ++i) {
    const LogicalColumn& column = right.scan->columns[i];
    const auto found = std::ranges::find(table.numbers, right.table->numbers[i]);
    const auto position = static_cast<std::size_t>(found - table.numbers.begin());
    if (found == table.numbers.end()) {
      table.numbers.push_back(right.table->numbers[i]);
      columns.push_back(column);
    }
    meaning[column.id] = sql::make_column(columns[position].type, columns[position].id, columns[position].name);
  }
  return {make_logical(std::move(table), std::move(columns)), std::move(meaning)};
}

ExpressionPtr substitute(const std::map<ColumnId, ExpressionPtr>& meaning, const ExpressionPtr& expression) {
  return sql::map_columns(expression, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
    const auto found = meaning.find(column.column);
    return found == meaning.end() ? sql::make_expression(whole.type, column, whole.offset) : found->second;
  });
}

ExpressionPtr is_not_true(std::vector<ExpressionPtr> conditions) {
  if (conditions.empty()) return sql::make_constant(sql::kBool, false);
  return sql::make_expression(sql::kBool, sql::BooleanTest{sql::BooleanTest::Kind::kTrue, true, sql::conjunction(std::move(conditions))});
}

/// `node`'s columns, each what `value` makes of it.
template <class Value>
LogicalPtr project_columns(const Logical& node, LogicalPtr input, const Value& value) {
  LogicalProject project{std::move(input), {}};
  for (const LogicalColumn& column : node.columns) project.expressions.push_back(value(column));
  return make_logical(std::move(project), node.columns);
}

LogicalPtr merge_join(const LogicalPtr& node, const LogicalJoin& join) {
  const bool keeps_right = join.kind == JoinKind::kInner;
  if ((!keeps_right && join.kind != JoinKind::kSemi && join.kind != JoinKind::kAnti) || !join.condition) return node;
  const auto left = match_rows(join.left), right = match_rows(join.right);
  if (!left || !right || !are_rows_of_one_table(*left, *right)) return node;
  std::set<std::int16_t> equal;
  std::vector<ExpressionPtr> others;
  for (const ExpressionPtr& condition : sql::split_conjunction(join.condition)) {
    const std::int16_t number = same_column(*left, *right, *condition);
    if (number > 0 && left->table->table->in_primary_key(number)) {
      equal.insert(number);
    } else {
      others.push_back(condition);
    }
  }
  if (equal.size() != left->table->table->primary_key.size()) return node;
  if (std::ranges::any_of(others, [](const ExpressionPtr& e) { return sql::is_volatile(*e); })) return node;

  MergedScan merged = merge_scans(*left, *right);
  const auto over_merged = [&](const ExpressionPtr& expression) {
    return substitute(merged.right, over_scan(*right, over_scan(*left, expression)));
  };
  std::vector<ExpressionPtr> of_right = right->conditions;
  of_right.insert(of_right.end(), others.begin(), others.end());
  for (ExpressionPtr& condition : of_right) condition = over_merged(condition);
  std::vector<ExpressionPtr> conditions = left->conditions;
  if (join.kind == JoinKind::kAnti) {
    conditions.push_back(is_not_true(std::move(of_right)));
  } else {
    conditions.insert(conditions.end(), of_right.begin(), of_right.end());
  }
  return project_columns(*node, filtered(merged.scan, std::move(conditions)), [&](const LogicalColumn& column) {
    return over_merged(sql::make_column(column.type, column.id, column.name));
  });
}

/// INTERSECT, EXCEPT and UNION of rows that hold their key are conditions of one scan.
LogicalPtr merge_set_operation(const LogicalPtr& node, const LogicalSetOperation& operation) {
  if (operation.all) return node;
  const auto left = match_rows(operation.left), right = match_rows(operation.right);
  if (!left || !right || !are_rows_of_one_table(*left, *right)) return node;
  std::set<std::int16_t> numbers;
  for (std::size_t i = 0; i < node->columns.size(); ++i) {
    const auto number_at = [&](const TableRows& rows, const LogicalPtr& side) {
      const LogicalColumn& column = side->columns[i];
      return number_of(rows, *sql::make_column(column.type, column.id, column.name));
    };
    const std::int16_t number = number_at(*left, operation.left);
    if (number <= 0 || number != number_at(*right, operation.right)) return node;
    numbers.insert(number);
  }
  const auto& key = left->table->table->primary_key;
  if (!std::ranges::all_of(key, [&](std::int16_t number) { return numbers.contains(number); })) return node;

  MergedScan merged = merge_scans(*left, *right);
  std::vector<ExpressionPtr> conditions = left->conditions, of_right = right->conditions;
  for (ExpressionPtr& condition : of_right) condition = substitute(merged.right, condition);
  switch (operation.kind) {
    case LogicalSetOperation::Kind::kIntersect:
      conditions.insert(conditions.end(), of_right.begin(), of_right.end());
      break;
    case LogicalSetOperation::Kind::kExcept:
      conditions.push_back(is_not_true(std::move(of_right)));
      break;
    case LogicalSetOperation::Kind::kUnion:
      if (conditions.empty() || of_right.empty()) {
        conditions.clear();
      } else {
        ExpressionPtr one = sql::conjunction(std::move(conditions)), other = sql::conjunction(std::move(of_right));
        conditions = {sql::make_expression(sql::kBool, sql::Logical{sql::Logical::Kind::kOr, {std::move(one), std::move(other)}})};
      }
      break;
  }
  std::size_t position = 0;
  return project_columns(*node, filtered(merged.scan, std::move(conditions)), [&](const LogicalColumn&) {
    const LogicalColumn& column = operation.left->columns[position++];
    return over_scan(*left, sql::make_column(column.type, column.id, column.name));
  });
}

/// Two relations of a tree of inner joins that are rows of one table, joined by its key, become one.
LogicalPtr merge(const LogicalPtr& node) {
  std::vector<LogicalPtr> inputs = inputs_of(*node);
  bool changed = false;
  for (LogicalPtr& input : inputs) {
    LogicalPtr other = merge(input);
    changed = changed || other != input;
    input = std::move(other);
  }
  const LogicalPtr copy = changed ? with_inputs(*node, inputs) : node;
  if (const auto* join = std::get_if<LogicalJoin>(&copy->node)) return merge_join(copy, *join);
  if (const auto* operation = std::get_if<LogicalSetOperation>(&copy->node)) return merge_set_operation(copy, *operation);
  return copy;
}

}  // namespace

LogicalPtr merge_self_joins(const LogicalPtr& plan) { return merge(plan); }

}  // namespace redquel::planner
