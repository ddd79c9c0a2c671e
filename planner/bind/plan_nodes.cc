#include "planner/bind/plan_nodes.h"

#include <algorithm>
#include <set>

#include "planner/bind/row_shape.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/stack_depth.h"
#include "sql/system_tables.h"
#include "sql/types/range_value.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using sql::Type;

LogicalPtr one_row() { return make_logical(LogicalValues{{{}}}, {}); }

LogicalPtr scan_table(BindState& state, std::shared_ptr<const sql::TableDef> table, const std::string& alias,
                      bool hidden_key, bool table_oid) {
  LogicalScan scan{table, alias, {}};
  std::vector<LogicalColumn> columns;
  for (const sql::ColumnDef& column : table->columns) {
    scan.numbers.push_back(column.number);
    columns.push_back({.id = state.new_column(),
                       .name = column.name,
                       .type = column.type,
                       .nullable = !column.not_null &&
                                   std::ranges::find(table->primary_key, column.number) == table->primary_key.end(),
                       .table = table->oid,
                       .attribute = column.number});
  }
  if (hidden_key && table->has_hidden_key()) {
    if (table->is_mapped()) throw sql::not_supported("UPDATE or DELETE of a foreign table without a column that identifies its rows");
    scan.numbers.push_back(0);
    columns.push_back({.id = state.new_column(), .name = "rowid", .type = sql::kInt8, .nullable = false});
  }
  if (table_oid) {
    scan.numbers.push_back(sql::kTableOidColumn);
    columns.push_back({.id = state.new_column(), .name = "tableoid", .type = sql::kOidType, .nullable = false});
  }
  return make_logical(std::move(scan), std::move(columns));
}

LogicalPtr no_rows_of(const LogicalPtr& input) {
  auto columns = input->columns;
  return make_logical(LogicalFilter{input, sql::make_constant(sql::kBool, false)}, std::move(columns));
}

LogicalPtr scan_system_table(BindState& state, const sql::SystemTable& table) {
  LogicalSystemScan scan{table.schema, table.name, {}};
  std::vector<LogicalColumn> columns;
  for (const auto& column : table.columns) {
    scan.positions.push_back(columns.size());
    columns.push_back({.id = state.new_column(),
                       .name = column.name,
                       .type = column.type,
                       .nullable = !column.not_null,
                       .table = table.oid,
                       .attribute = static_cast<std::int16_t>(columns.size() + 1)});
  }
  return make_logical(std::move(scan), std::move(columns));
}

LogicalPtr scan_transition_table(BindState& state, const VariableScope::TransitionTable& rows) {
  LogicalSharedScan scan{rows.number, rows.name, {}};
  std::vector<LogicalColumn> columns;
  for (const sql::ColumnDef& column : rows.table->columns) {
    scan.positions.push_back(columns.size());
    columns.push_back({.id = state.new_column(), .name = column.name, .type = column.type, .nullable = true});
  }
  return make_logical(std::move(scan), std::move(columns));
}

LogicalPtr scan_function(BindState& state, const sql::ResolvedTableFunction& resolved,
                         std::vector<ExpressionPtr> arguments, const std::string& alias, bool with_ordinality, std::vector<sql::ResultColumn> record) {
  std::vector<LogicalColumn> columns;
  for (const sql::ResultColumn& column : record) {
    columns.push_back({.id = state.new_column(), .name = column.name, .type = column.type});
  }
  for (const auto& [name, oid] : resolved.function->columns) {
    Type type{oid};
    if (oid == sql::oid::kAnyElement && !resolved.arguments.empty()) {
      const sql::TypeInfo& argument = sql::type_info(resolved.arguments[0].oid);
      type = Type{argument.element != 0 ? argument.element : argument.oid};
    } else if (oid == sql::oid::kAnyRange && !resolved.arguments.empty()) {
      type = Type{sql::range_in(resolved.arguments[0].oid)};
    }
    columns.push_back({.id = state.new_column(), .name = std::string(name), .type = type});
    if (resolved.function->open_record != nullptr) record.push_back({std::string(name), type});
  }
  if (with_ordinality) {
    columns.push_back({.id = state.new_column(), .name = "ordinality", .type = sql::kInt8, .nullable = false});
  }
  return make_logical(LogicalFunctionScan{{{resolved.function, std::move(arguments), std::move(record)}}, alias, with_ordinality},
                      std::move(columns));
}

LogicalPtr scan_beside(const LogicalPtr& first, const LogicalPtr& second) {
  LogicalFunctionScan both = std::get<LogicalFunctionScan>(first->node);
  const auto& more = std::get<LogicalFunctionScan>(second->node).calls;
  both.calls.insert(both.calls.end(), more.begin(), more.end());
  std::vector<LogicalColumn> columns = first->columns;
  columns.insert(columns.end(), second->columns.begin(), second->columns.end());
  return make_logical(std::move(both), std::move(columns));
}

LogicalPtr scan_value(BindState& state, const ExpressionPtr& value, const std::string& name) {
  LogicalColumn column{.id = state.new_column(), .name = name, .type = value->type};
  return make_logical(LogicalFunctionScan{{{nullptr, {value}}}, name}, {std::move(column)});
}

LogicalPtr make_values(BindState& state, std::vector<std::vector<ExpressionPtr>> rows,
                       const std::vector<std::string>& names, const std::vector<Type>& types) {
  std::vector<LogicalColumn> columns;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool nullable = std::ranges::any_of(rows, [&](const auto& row) { return is_nullable(*row[i], {}); });
    columns.push_back({.id = state.new_column(), .name = names[i], .type = types[i], .nullable = nullable});
  }
  return make_logical(LogicalValues{std::move(rows)}, std::move(columns));
}

LogicalPtr make_project(BindState& state, LogicalPtr input, const std::vector<OutputValue>& outputs) {
  LogicalProject project{input, {}};
  std::vector<LogicalColumn> columns;
  std::set<ColumnId> used;
  for (const OutputValue& output : outputs) {
    LogicalColumn column{.id = 0, .name = output.name, .type = output.value->type};
    column.nullable = is_nullable(*output.value, input->columns);
    const auto* passed = std::get_if<sql::ColumnRef>(&output.value->node);
    if (const LogicalColumn* source = passed ? find_column(*input, passed->column) : nullptr) {
      column.table = source->table;
      column.attribute = source->attribute;
    }
    column.id = passed && used.insert(passed->column).second ? passed->column : state.new_column();
    if (const auto fields = row_shape(state, *output.value); fields && column.type.oid == sql::oid::kRecord) {
      std::vector<sql::ResultColumn>& known = state.record_fields[column.id];
      if (known.empty()) {
        for (const RowField& field : *fields) known.push_back({field.name, field.value->type});
      }
    }
    project.expressions.push_back(output.value);
    columns.push_back(std::move(column));
  }
  return make_logical(std::move(project), std::move(columns));
}

std::vector<ColumnId> add_columns(BindState& state, LogicalPtr& input, const std::vector<ExpressionPtr>& expressions) {
  LogicalProject project{input, {}};
  std::vector<LogicalColumn> columns = input->columns;
  for (const LogicalColumn& column : input->columns) project.expressions.push_back(reference(column));
  std::vector<ColumnId> ids;
  for (const ExpressionPtr& expression : expressions) {
    if (const auto* column = std::get_if<sql::ColumnRef>(&expression->node)) {
      ids.push_back(column->column);
      continue;
    }
    columns.push_back({.id = state.new_column(), .name = "?column?", .type = expression->type});
    project.expressions.push_back(expression);
    ids.push_back(columns.back().id);
  }
  if (columns.size() > input->columns.size()) input = make_logical(std::move(project), std::move(columns));
  return ids;
}

void make_columns(BindState& state, LogicalPtr& input, const std::vector<ExpressionPtr*>& expressions) {
  std::vector<ExpressionPtr> values;
  for (const ExpressionPtr* expression : expressions) values.push_back(*expression);
  const std::vector<ColumnId> ids = add_columns(state, input, values);
  for (std::size_t i = 0; i < ids.size(); ++i) *expressions[i] = reference(*find_column(*input, ids[i]));
}

LogicalPtr make_join(JoinKind kind, LogicalPtr left, LogicalPtr right, ExpressionPtr condition) {
  std::vector<LogicalColumn> columns = left->columns;
  const bool both = kind != JoinKind::kSemi && kind != JoinKind::kAnti;
  if (kind == JoinKind::kRight || kind == JoinKind::kFull) {
    for (LogicalColumn& column : columns) column.nullable = true;
  }
  if (both) {
    for (LogicalColumn column : right->columns) {
      column.nullable = column.nullable || kind == JoinKind::kLeft || kind == JoinKind::kFull;
      columns.push_back(std::move(column));
    }
  }
  return make_logical(LogicalJoin{kind, std::move(left), std::move(right), std::move(condition)}, std::move(columns));
}

ExpressionPtr reference(const LogicalColumn& column, std::optional<std::uint32_t> offset) {
  return sql::make_expression(column.type, sql::ColumnRef{column.id, column.name}, offset);
}

const LogicalColumn* find_column(const Logical& node, ColumnId id) {
  const auto found = std::ranges::find(node.columns, id, &LogicalColumn::id);
  return found == node.columns.end() ? nullptr : &*found;
}

bool is_nullable(const sql::Expression& expression, const std::vector<LogicalColumn>& columns) {
  if (const auto* constant = std::get_if<sql::Constant>(&expression.node)) return sql::is_null(constant->value);
  if (const auto* column = std::get_if<sql::ColumnRef>(&expression.node)) {
    const auto found = std::ranges::find(columns, column->column, &LogicalColumn::id);
    return found == columns.end() || found->nullable;
  }
  if (const auto* cast = std::get_if<sql::CastCall>(&expression.node)) return is_nullable(*cast->operand, columns);
  if (const auto* coalesce = std::get_if<sql::CoalesceCall>(&expression.node)) {
    return std::ranges::all_of(coalesce->arguments, [&](const ExpressionPtr& e) { return is_nullable(*e, columns); });
  }
  const bool never = std::holds_alternative<sql::NullTest>(expression.node) ||
                     std::holds_alternative<sql::BooleanTest>(expression.node) ||
                     std::holds_alternative<sql::DistinctTest>(expression.node);
  return !never;
}

ExpressionPtr with_offset(const ExpressionPtr& expression, std::optional<std::uint32_t> offset) {
  if (expression->offset == offset) return expression;
  sql::Expression copy = *expression;
  copy.offset = offset;
  return std::make_shared<const sql::Expression>(std::move(copy));
}

ExpressionPtr map_parameters(const ExpressionPtr& expression,
                             const std::function<ExpressionPtr(const ExpressionPtr&, std::uint32_t)>& change) {
  sql::check_stack_depth();
  if (const auto* parameter = std::get_if<sql::ParameterRef>(&expression->node))
    return change(expression, parameter->slot);
  return sql::map_children(expression, [&](const ExpressionPtr& child) { return map_parameters(child, change); });
}

ExpressionPtr columns_to_slots(BindState& state, CorrelationFrame& frame, const ExpressionPtr& expression) {
  return sql::map_columns(expression, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
    return correlate(state, frame, sql::make_expression(whole.type, column, whole.offset));
  });
}

LogicalPtr with_answers(const LogicalPtr& answers, const CorrelationFrame& frame, const LogicalPtr& rows) {
  LogicalApply apply{.kind = LogicalApply::Kind::kLateral, .input = answers};
  for (const Correlation& entry : frame) {
    apply.correlations.push_back({entry.slot, std::get<sql::ColumnRef>(entry.value->node).column});
  }
  apply.subquery = rows;
  std::vector<LogicalColumn> columns = answers->columns;
  columns.insert(columns.end(), rows->columns.begin(), rows->columns.end());
  return make_logical(std::move(apply), std::move(columns));
}

bool reads_slots(const sql::Expression& expression, const CorrelationFrame& frame) {
  sql::check_stack_depth();
  if (const auto* parameter = std::get_if<sql::ParameterRef>(&expression.node)) {
    return std::ranges::find(frame, parameter->slot, &Correlation::slot) != frame.end();
  }
  bool found = false;
  sql::for_each_child(expression, [&](const ExpressionPtr& child) { found = found || reads_slots(*child, frame); });
  return found;
}

namespace {

bool any_expression(const Logical& node, const std::function<bool(const sql::Expression&)>& test) {
  sql::check_stack_depth();
  bool found = false;
  visit_expressions(node, [&](const ExpressionPtr& expression) { found = found || test(*expression); });
  if (found) return true;
  return std::ranges::any_of(inputs_of(node), [&](const LogicalPtr& input) { return any_expression(*input, test); });
}

}  // namespace

bool reads_slots(const Logical& node, const CorrelationFrame& frame) {
  if (frame.empty()) return false;
  return any_expression(node, [&](const sql::Expression& expression) { return reads_slots(expression, frame); });
}

bool has_volatile(const Logical& node) {
  return any_expression(node, [](const sql::Expression& expression) { return sql::is_volatile(expression); });
}

}  // namespace redquel::planner
