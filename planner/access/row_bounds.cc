#include "planner/access/row_bounds.h"

#include <algorithm>
#include <optional>

#include "planner/access/index_condition.h"
#include "sql/system_tables.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

enum class Bound { kNone, kName, kType };

class BoundsReader {
 public:
  BoundsReader(const Logical& node, const LogicalSystemScan& scan) : node_(node), scan_(scan) {}

  void read(const sql::Expression& condition) {
    if (const auto* call = std::get_if<sql::FunctionCall>(&condition.node); call && call->arguments.size() == 2) {
      read_call(*call);
    } else if (const auto* list = std::get_if<sql::InListTest>(&condition.node); list && !list->negated) {
      const bool known = std::ranges::all_of(list->list, [](const ExpressionPtr& value) { return is_run_time_constant(*value); });
      if (bound_of(*list->operand) == Bound::kName && known && bounds_.names.empty()) bounds_.names = list->list;
    }
  }
  RowBounds take() { return std::move(bounds_); }

 private:
  void read_call(const sql::FunctionCall& call) {
    const ExpressionPtr& left = call.arguments[0];
    const ExpressionPtr& right = call.arguments[1];
    const bool is_equality = call.function->name == "=";
    if (is_equality && is_run_time_constant(*left)) set_equal(bound_of(*right), left);
    if (!is_run_time_constant(*right)) return;
    if (is_equality) set_equal(bound_of(*left), right);
    if (call.function->name == "~~" && bound_of(*left) == Bound::kName && !bounds_.pattern) bounds_.pattern = right;
  }

  void set_equal(Bound bound, const ExpressionPtr& value) {
    if (bound == Bound::kName && bounds_.names.empty()) bounds_.names = {value};
    if (bound == Bound::kType && !bounds_.type) bounds_.type = value;
  }

  Bound bound_of(const sql::Expression& expression) const {
    const auto* column = std::get_if<sql::ColumnRef>(&expression.node);
    if (column == nullptr || expression.type != sql::kText) return Bound::kNone;
    for (std::size_t i = 0; i < node_.columns.size(); ++i) {
      if (node_.columns[i].id != column->column) continue;
      if (scan_.positions[i] == 0) return Bound::kName;
      const sql::SystemTable* table = sql::find_system_table(scan_.schema, scan_.name);
      return table->columns[scan_.positions[i]].name == "type" ? Bound::kType : Bound::kNone;
    }
    return Bound::kNone;
  }

  const Logical& node_;
  const LogicalSystemScan& scan_;
  RowBounds bounds_;
};

}  // namespace

RowBounds row_bounds(const Logical& node, const LogicalSystemScan& scan, const sql::Expression& condition) {
  BoundsReader reader(node, scan);
  if (const auto* logical = std::get_if<sql::Logical>(&condition.node); logical && logical->kind == sql::Logical::Kind::kAnd) {
    for (const ExpressionPtr& operand : logical->operands) reader.read(*operand);
  } else {
    reader.read(condition);
  }
  return reader.take();
}

}  // namespace redquel::planner
