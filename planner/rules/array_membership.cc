#include "planner/rules/array_membership.h"

#include <algorithm>

#include "planner/access/index_condition.h"
#include "planner/tree/logical_walk.h"
#include "sql/types/array_value.h"

namespace redquel::planner {

namespace {

/// One walk over a plan; new columns get ids above those that are there.
class ElementJoins {
 public:
  explicit ElementJoins(const LogicalPtr& plan) { note_ids(*plan); }

  LogicalPtr rewrite(const LogicalPtr& node) {
    std::vector<LogicalPtr> inputs = inputs_of(*node);
    bool changed = false;
    for (LogicalPtr& input : inputs) {
      LogicalPtr other = rewrite(input);
      changed = changed || other != input;
      input = std::move(other);
    }
    const LogicalPtr copy = changed ? with_inputs(*node, inputs) : node;
    const auto* filter = std::get_if<LogicalFilter>(&copy->node);
    return filter != nullptr ? join(copy, *filter) : copy;
  }

 private:
  void note_ids(const Logical& node) {
    for (const LogicalColumn& column : node.columns) next_ = std::max(next_, column.id + 1);
    for (const LogicalPtr& input : inputs_of(node)) note_ids(*input);
  }

  LogicalPtr join(const LogicalPtr& node, const LogicalFilter& filter) {
    const auto* scan = std::get_if<LogicalScan>(&filter.input->node);
    if (scan == nullptr || filter.barrier) return node;
    std::vector<sql::ExpressionPtr> conditions = sql::split_conjunction(filter.condition);
    const auto found = std::ranges::find_if(conditions, [&](const auto& condition) { return is_lookup(*scan, *filter.input, *condition); });
    if (found == conditions.end()) return node;
    const auto test = std::get<sql::ArrayTest>((*found)->node);
    const sql::ExpressionPtr condition = *found;
    conditions.erase(found);
    const LogicalPtr elements = scan_elements(test);
    if (!elements) return node;
    const LogicalColumn& element = elements->columns[0];
    const sql::ExpressionPtr equal = sql::make_expression(
        sql::kBool,
        sql::FunctionCall{test.comparison, {test.operand, sql::make_column(element.type, element.id, element.name)}}, condition->offset);
    const LogicalPtr table = filtered(filter.input, std::move(conditions));
    std::vector<LogicalColumn> columns = table->columns;
    columns.push_back(element);
    LogicalPtr joined = make_logical(LogicalJoin{JoinKind::kInner, table, elements, equal}, std::move(columns));
    LogicalProject project{std::move(joined), {}};
    for (const LogicalColumn& column : node->columns) project.expressions.push_back(sql::make_column(column.type, column.id, column.name));
    return make_logical(std::move(project), node->columns);
  }

  /// The column = ANY (something known at run time), and rows are found by the column.
  static bool is_lookup(const LogicalScan& scan, const Logical& node, const sql::Expression& condition) {
    const auto* test = std::get_if<sql::ArrayTest>(&condition.node);
    if (test == nullptr || test->all || test->comparison->name != "=" || !is_run_time_constant(*test->array)) return false;
    const auto* column = std::get_if<sql::ColumnRef>(&test->operand->node);
    if (column == nullptr) return false;
    const auto position = std::ranges::find(node.columns, column->column, &LogicalColumn::id);
    if (position == node.columns.end()) return false;
    const std::int16_t number = scan.numbers[static_cast<std::size_t>(position - node.columns.begin())];
    const sql::TableDef& table = *scan.table;
    if (table.primary_key == std::vector<std::int16_t>{number}) return true;
    return std::ranges::any_of(table.indexes, [&](const sql::IndexDef& index) {
      return index.state == sql::IndexState::kReady && index.method < sql::IndexMethod::kGin && index.parts.size() == 1 && index.parts[0].column == number;
    });
  }

  /// The distinct elements; null where the array type has no unnest().
  LogicalPtr scan_elements(const sql::ArrayTest& test) {
    for (const sql::TableFunction* function : sql::find_table_functions("unnest")) {
      if (function->arguments != std::vector<sql::Oid>{test.array->type.oid}) continue;
      const std::vector<LogicalColumn> columns = {{.id = next_++, .name = "element", .type = test.element}};
      LogicalPtr elements = make_logical(LogicalFunctionScan{{{function, {test.array}}}, "unnest"}, columns);
      return make_logical(LogicalDistinct{std::move(elements), {}}, columns);
    }
    return nullptr;
  }

  ColumnId next_ = 0;
};

}  // namespace

LogicalPtr join_array_elements(const LogicalPtr& plan) { return ElementJoins(plan).rewrite(plan); }

}  // namespace redquel::planner
