#include "planner/explain/shown_columns.h"

#include <algorithm>

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

using Names = std::vector<std::string>;

Names joined(Names left, const Names& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

bool keeps_left_only(JoinKind kind) { return kind == JoinKind::kSemi || kind == JoinKind::kAnti; }

/// Relations that the plan reads.
std::size_t relations_in(const PhysicalNode& node) {
  const std::vector<PhysicalPlan> inputs = inputs_of(node);
  std::size_t count = 0;
  const bool is_relation = table_of(node) != nullptr && traits_of(node).reads != Reads::kEntriesOfInput;
  if (is_relation || (inputs.empty() && !std::holds_alternative<PhysicalValues>(node.node))) ++count;
  // A write names rows of its source and of its table; the source of UPDATE and DELETE reads the table itself.
  const bool is_insert = std::holds_alternative<PhysicalInsert>(node.node);
  if (is_write(node) && !is_insert && table_of(node) != nullptr) --count;
  for (const PhysicalPlan& input : inputs) count += relations_in(*input);
  return count;
}

/// Puts names into the expressions of one node.
class Renamer {
 public:
  Renamer(ShownColumns& columns, const PhysicalNode& node) : columns_(columns), node_(node) {}

  // Reads of tables: conditions are over the fetched columns.
  void operator()(KeyLookup& n) { give(read(n.read)); }
  void operator()(UniqueLookup& n) { give(read(n.read)); }
  void operator()(SetScan& n) { give(read(n.read)); }
  void operator()(OrderedScan& n) { give(read(n.read)); }
  void operator()(FullScan& n) { give(read(n.read)); }
  void operator()(MappedScan& n) { give(read(n.read)); }
  void operator()(MemoryScan& n) {
    n.otherwise = std::make_shared<const PhysicalNode>(columns_.shown(*n.otherwise));
    give(read(n.read));
  }

  // Answers from indexes.
  void operator()(IndexCount&) {}
  void operator()(IndexMinMax&) {}
  void operator()(IndexGroups&) {}
  void operator()(MappedCount&) {}
  void operator()(IndexKeys& n) { give(named(*n.table, n.alias, n.numbers)); }
  void operator()(IndexValues& n) {
    const Names names = named(*n.table, n.alias, {n.column});
    one(n.condition, names);
    give(names);
  }
  void operator()(IndexRanks& n) {
    const Names& rows = columns_.of(*n.input);
    Names names;
    for (const std::size_t output : n.outputs) names.push_back(rows.at(output));
    give(joined(std::move(names), own(n.outputs.size())));
  }

  // Rows from elsewhere.
  void operator()(PhysicalValues&) {}
  void operator()(PhysicalFunctionScan&) {}
  void operator()(PhysicalSystemScan&) {}
  void operator()(PhysicalSharedScan& n) {
    Names names;
    for (const PhysicalColumn& column : node_.columns) names.push_back(columns_.qualified(n.name, column.name));
    give(std::move(names));
  }
  void operator()(PhysicalRecursiveUnion&) {}
  void operator()(PhysicalSetOperation&) {}

  // Rows of one input.
  void operator()(Gather& n) {
    all(n.keys, columns_.of(*n.parts.front()));
    give(columns_.of(*n.parts.front()));
  }
  void operator()(PhysicalFilter& n) {
    one(n.condition, columns_.of(*n.input));
    give(columns_.of(*n.input));
  }
  void operator()(PhysicalProject& n) {
    const Names& below = columns_.of(*n.input);
    all(n.expressions, below);
    give(outputs(n.expressions, 0));
  }
  void operator()(PhysicalAggregate& n) {
    const Names& below = columns_.of(*n.input);
    all(n.group_by, below);
    all(n.calls, below);
    Names names = outputs(n.group_by, 0);
    for (const AggregateCall& call : n.calls) names.push_back("(" + call_text(call) + ")");
    give(std::move(names));
  }
  void operator()(PhysicalWindow& n) {
    const Names& below = columns_.of(*n.input);
    all(n.partition_by, below);
    all(n.order_by, below);
    all(n.functions, below);
    give(joined(below, own(below.size())));
  }
  void operator()(PhysicalSort& n) {
    all(n.keys, columns_.of(*n.input));
    give(columns_.of(*n.input));
  }
  void operator()(PhysicalLockRows& n) { give(columns_.of(*n.input)); }
  void operator()(PhysicalLimit& n) {
    all(n.tie_keys, columns_.of(*n.input));
    give(columns_.of(*n.input));
  }
  void operator()(PhysicalDistinct& n) {
    all(n.on, columns_.of(*n.input));
    give(columns_.of(*n.input));
  }
  void operator()(PhysicalShare& n) { give(columns_.of(*n.input)); }

  // Joins: conditions are over the left columns, then the right ones.
  void operator()(HashJoin& n) {
    const Names &left = columns_.of(*n.left), &right = columns_.of(*n.right);
    all(n.left_keys, left);
    all(n.right_keys, right);
    one(n.residual, joined(left, right));
    give(keeps_left_only(n.kind) ? left : joined(left, right));
  }
  void operator()(NestedLoopJoin& n) {
    const Names &left = columns_.of(*n.left), &right = columns_.of(*n.right);
    one(n.condition, joined(left, right));
    give(keeps_left_only(n.kind) ? left : joined(left, right));
  }
  void operator()(LookupJoin& n) {
    const Names& outer = columns_.of(*n.outer);
    const Names inner = read(n.read);
    all(n.values, outer);
    one(n.residual, joined(outer, inner));
    give(keeps_left_only(n.kind) ? outer : joined(outer, inner));
  }
  void operator()(MappedJoin& n) {
    const Names& outer = columns_.of(*n.outer);
    const Names inner = read(n.inner.read);
    for (MappedJoin::Key& key : n.keys) one(key.value, outer);
    one(n.residual, joined(outer, inner));
    give(keeps_left_only(n.kind) ? outer : joined(outer, inner));
  }
  void operator()(AdaptiveJoin& n) {
    n.lookup = std::make_shared<const PhysicalNode>(columns_.shown(*n.lookup));
    give(columns_.of(*n.hash));
  }
  void operator()(Choice& n) { give(columns_.of(*n.walk)); }
  void operator()(PhysicalApply& n) {
    const Names &input = columns_.of(*n.input), &subquery = columns_.of(*n.subquery);
    one(n.comparison, joined(input, subquery));
    give(n.kind == LogicalApply::Kind::kLateral ? joined(input, subquery) : joined(input, own(input.size())));
  }

  // Writes print no expressions of their rows.
  void operator()(OneOf<PhysicalInsert, PhysicalUpdate, PhysicalDelete, PhysicalMerge, PhysicalViewWrite> auto&) {}

  /// The names of the node's columns: those that an overload has given, or the columns' own.
  Names names() && { return given_.size() == node_.columns.size() ? std::move(given_) : own(0); }

 private:
  void give(Names names) { given_ = std::move(names); }

  /// The node's own column names, from this one on.
  Names own(std::size_t first) const {
    Names names;
    for (std::size_t i = first; i < node_.columns.size(); ++i) names.push_back(node_.columns[i].name);
    return names;
  }

  /// A column that is passed on keeps its name; a computed one has the node's.
  Names outputs(const std::vector<ExpressionPtr>& expressions, std::size_t first) const {
    Names names;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      const auto* column = std::get_if<sql::ColumnRef>(&expressions[i]->node);
      names.push_back(column != nullptr ? column->name : node_.columns.at(first + i).name);
    }
    return names;
  }

  Names named(const sql::TableDef& table, const std::string& alias, const std::vector<std::int16_t>& numbers) const {
    Names names;
    for (const std::int16_t number : numbers) {
      const sql::ColumnDef* column = number > 0 ? table.find_column(number) : nullptr;
      names.push_back(column == nullptr ? std::string() : columns_.qualified(alias.empty() ? table.name : alias, column->name));
    }
    return names;
  }

  /// Returns the names of the columns that the read gives.
  Names read(TableRead& read) {
    const Names fetched = named(*read.table, read.alias, read.numbers);
    one(read.condition, fetched);
    Names names;
    for (const std::int16_t output : read.outputs) names.push_back(fetched.at(static_cast<std::size_t>(output)));
    return names;
  }

  static void one(ExpressionPtr& expression, const Names& names) {
    if (!expression) return;
    expression = sql::map_columns(expression, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
      const bool is_named = column.column < names.size() && !names[column.column].empty();
      return sql::make_column(whole.type, column.column, is_named ? names[column.column] : column.name);
    });
  }
  template <class Part>
  static void all(std::vector<Part>& parts, const Names& names) {
    for_each_expression(parts, [&](ExpressionPtr& expression) { one(expression, names); });
  }

  ShownColumns& columns_;
  const PhysicalNode& node_;
  Names given_;
};

}  // namespace

std::string call_text(const AggregateCall& call) {
  std::string text = std::string(call.function->name) + (call.distinct ? "(DISTINCT " : "(");
  if (call.arguments.empty()) text += "*";
  for (std::size_t i = 0; i < call.arguments.size(); ++i) text += (i == 0 ? "" : ", ") + sql::to_string(*call.arguments[i]);
  for (std::size_t i = 0; i < call.order_by.size(); ++i) {
    text += (i == 0 ? " ORDER BY " : ", ") + sql::to_string(*call.order_by[i].expression) + (call.order_by[i].descending ? " DESC" : "");
  }
  text += ")";
  if (call.filter) text += " FILTER (WHERE " + sql::to_string(*call.filter) + ")";
  return text;
}

ShownColumns::ShownColumns(const PhysicalNode& plan) : qualifies_(relations_in(plan) > 1) {}

std::string ShownColumns::qualified(const std::string& relation, const std::string& column) const {
  return qualifies_ ? relation + "." + column : column;
}

PhysicalNode ShownColumns::shown(const PhysicalNode& node) {
  PhysicalNode copy = node;
  Renamer renamer(*this, node);
  std::visit(renamer, copy.node);
  known_.try_emplace(&node, std::move(renamer).names());
  return copy;
}

const std::vector<std::string>& ShownColumns::of(const PhysicalNode& node) {
  const auto found = known_.find(&node);
  if (found != known_.end()) return found->second;
  shown(node);
  return known_.at(&node);
}

std::vector<std::string> ShownColumns::output(const PhysicalNode& node) {
  std::vector<std::string> names = of(node);
  if (const auto* aggregate = std::get_if<PhysicalAggregate>(&node.node); aggregate != nullptr && names.size() == aggregate->group_by.size() + aggregate->calls.size()) {
    for (std::size_t i = aggregate->group_by.size(); i < names.size(); ++i) {
      if (names[i].starts_with("(")) names[i] = names[i].substr(1, names[i].size() - 2);
    }
  }
  return names;
}

}  // namespace redquel::planner
