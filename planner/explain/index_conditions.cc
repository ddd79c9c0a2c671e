#include "planner/explain/index_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "planner/access/index_condition.h"
#include "planner/access/indexed_expressions.h"
#include "planner/access/ordered_source.h"
#include "sql/catalog/mapping.h"
#include "sql/catalog/table_keys.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using ComparisonKind = ColumnCondition::Kind;

namespace {

/// The comparisons that an access path answers, by their columns.
struct Answers {
  std::set<std::int16_t> equalities, ranges, complements, entries;

  void add(const SetExpression& sets) {
    std::set<std::int16_t>& answered = sets.kind == SetExpression::Kind::kRange ? ranges : sets.kind == SetExpression::Kind::kEntries ? entries : equalities;
    answered.insert(sets.columns.begin(), sets.columns.end());
    for (std::size_t i = 0; i < sets.operands.size(); ++i) {
      const SetExpression& operand = sets.operands[i];
      add(operand);
      const bool is_taken_away = sets.kind == SetExpression::Kind::kDifference && i > 0;
      if (is_taken_away) complements.insert(operand.columns.begin(), operand.columns.end());
    }
  }

  bool contain(const ColumnCondition& condition) const {
    if (condition.kind == ComparisonKind::kEntries) return entries.contains(condition.column);
    if (is_equality(condition.kind)) return equalities.contains(condition.column) || (condition.kind == ComparisonKind::kEqual && ranges.contains(condition.column));
    return is_range(condition.kind) ? ranges.contains(condition.column) : complements.contains(condition.column);
  }

  bool contain(const Condition& condition) const {
    switch (condition.kind) {
      case Condition::Kind::kColumn:
        return condition.column.exact && contain(condition.column);
      case Condition::Kind::kAnd:
      case Condition::Kind::kOr:
      case Condition::Kind::kNotTrue:
        return std::ranges::all_of(condition.operands, [&](const Condition& operand) { return contain(operand); });
      case Condition::Kind::kOpaque:
        return false;
    }
    return false;
  }
};

/// The read of each kind of node, and what its access path answers.
struct ReadOfNode {
  const TableRead* read = nullptr;
  Answers answers;

  void operator()(const KeyLookup& n) {
    read = &n.read;
    answers.equalities.insert(n.read.table->primary_key.begin(), n.read.table->primary_key.end());
  }
  void operator()(const UniqueLookup& n) {
    read = &n.read;
    answers.equalities.insert(n.columns.begin(), n.columns.end());
  }
  void operator()(const SetScan& n) {
    read = &n.read;
    answers.add(n.sets);
    if (n.first && (n.first->lower || n.first->upper)) answers.ranges.insert(n.first->column);
  }
  void operator()(const OrderedScan& n) {
    read = &n.read;
    answers.equalities.insert(n.leading.columns.begin(), n.leading.columns.end());
    if (n.lower || n.upper || n.prefix) answers.ranges.insert(n.column);
  }
  void operator()(const FullScan& n) {
    read = &n.read;
    const auto& key = n.read.table->primary_key;
    answers.equalities.insert(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(n.key_start.size()));
  }
  void operator()(const MappedScan& n) { mapped(n); }
  void operator()(const MemoryScan& n) { read = &n.read; }
  void operator()(const LookupJoin& n) { read = &n.read; }
  void operator()(const MappedJoin& n) { mapped(n.inner); }
  void operator()(const OneOf<Gather, IndexCount, IndexMinMax, IndexGroups, IndexKeys, IndexValues, IndexRanks, MappedCount, PhysicalValues,
                              PhysicalFunctionScan, PhysicalSystemScan, PhysicalFilter, PhysicalProject, HashJoin, NestedLoopJoin, AdaptiveJoin, Choice,
                              PhysicalApply, PhysicalAggregate, PhysicalWindow, PhysicalSort, PhysicalLockRows, PhysicalLimit, PhysicalDistinct,
                              PhysicalSetOperation, PhysicalShare, PhysicalSharedScan, PhysicalRecursiveUnion, PhysicalInsert, PhysicalUpdate,
                              PhysicalDelete, PhysicalMerge, PhysicalViewWrite> auto&) {}

 private:
  void mapped(const MappedScan& n) {
    read = &n.read;
    for (const MappedScan::Fixed& fixed : n.fixed) answers.equalities.insert(fixed.column);
    if (n.sets) answers.add(*n.sets);
    if (n.lower || n.upper) answers.ranges.insert(n.ordered_by);
    if (n.path != MappedScan::Path::kLookup) return;
    for (const sql::IndexDef& index : n.read.table->indexes) {
      if (index.oid != n.index) continue;
      for (const sql::IndexDef::Part& part : index.parts) answers.equalities.insert(part.column);
    }
  }
};

ReadOfNode read_of(const PhysicalNode& node) {
  ReadOfNode found;
  std::visit(found, node.node);
  return found;
}

ColumnNumber number_in(const TableRead& read) {
  return [&read](ColumnId position) -> std::optional<std::int16_t> {
    return position < read.numbers.size() ? std::optional(read.numbers[position]) : std::nullopt;
  };
}

bool has_structure_of(const sql::TableDef& table, sql::Structure::Kind kind, std::int16_t column) {
  return std::ranges::any_of(sql::structures_of(table), [&](const sql::Structure& structure) {
    return structure.kind == kind && structure.columns == std::vector<std::int16_t>{column};
  });
}

bool is_indexed(const sql::TableDef& table, std::int16_t column) {
  return column > 0 && !table.is_mapped() && (has_structure_of(table, sql::Structure::Kind::kSets, column) || has_structure_of(table, sql::Structure::Kind::kZset, column));
}

bool is_built(const sql::TableDef& table, std::int16_t column) {
  return std::ranges::any_of(sql::structures_of(table), [&](const sql::Structure& structure) {
    return structure.readable && structure.kind != sql::Structure::Kind::kNulls && structure.columns == std::vector<std::int16_t>{column};
  });
}

/// Why an index over the condition's column does not answer it.
std::string_view reason_against(const sql::TableDef& table, const ColumnCondition& condition) {
  if (!is_built(table, condition.column)) return "the index is not built yet";
  if (condition.kind == ComparisonKind::kNotEqual || condition.kind == ComparisonKind::kIsNotNull) return "most rows satisfy the condition";
  if (is_range(condition.kind) && !has_structure_of(table, sql::Structure::Kind::kZset, condition.column)) return "the index has no order";
  if (condition.kind == ComparisonKind::kIsNull && !has_structure_of(table, sql::Structure::Kind::kNulls, condition.column)) return "the index has no NULLs";
  return "another index is read";
}

/// The columns of the table that an expression reads.
std::set<std::int16_t> columns_in(const TableRead& read, const sql::Expression& expression) {
  std::vector<std::uint32_t> positions;
  sql::collect_columns(expression, positions);
  std::set<std::int16_t> numbers;
  for (const std::uint32_t position : positions) {
    if (position < read.numbers.size()) numbers.insert(read.numbers[position]);
  }
  return numbers;
}

/// One of the conditions that a scan checks, and its meaning to indexes.
struct CheckedCondition {
  ExpressionPtr expression;
  Condition meaning;
};

/// The conditions of a read as the planner has analysed them: also those on expressions that indexes have.
std::vector<CheckedCondition> checked_conditions(const TableRead& read) {
  std::vector<CheckedCondition> checked;
  if (!read.condition) return checked;
  const std::vector<ExpressionPtr> conditions = sql::split_conjunction(read.condition);
  // Conditions of a physical node name columns by their positions.
  LogicalScan scan;
  scan.table = read.table;
  scan.numbers = read.numbers;
  std::vector<LogicalColumn> columns(read.numbers.size());
  for (std::size_t position = 0; position < columns.size(); ++position) columns[position].id = static_cast<ColumnId>(position);
  const IndexedExpressions indexed(scan, columns, conditions);
  const ExpressionNumber computed = [&](const sql::Expression& expression) { return indexed.number_of(expression); };
  for (const ExpressionPtr& expression : conditions) {
    checked.push_back({expression, analyse_condition(*expression, *read.table, number_in(read), read.table->computed.empty() ? ExpressionNumber() : computed)});
  }
  return checked;
}

/// The conditions that the plan leaves out because the access path answers them exactly: a single key, the bounds of a walk that checks no row.
std::vector<std::string> exact_bounds(const PhysicalNode& node, const TableRead& read, const ShownColumns& columns) {
  std::vector<std::string> texts;
  const auto compare = [&](std::int16_t number, std::string_view name, const sql::Expression& value) {
    const std::string column = columns.qualified(read.alias.empty() ? read.table->name : read.alias, read.table->find_column(number)->name);
    texts.push_back(fmt::format("{} {} {}", column, name, sql::to_string(value)));
  };
  if (const auto* lookup = std::get_if<KeyLookup>(&node.node); lookup != nullptr && lookup->keys.size() == 1) {
    const std::vector<ExpressionPtr>& key = lookup->keys.front();
    for (std::size_t i = 0; i < key.size(); ++i) compare(read.table->primary_key[i], "=", *key[i]);
  }
  if (const auto* scan = std::get_if<OrderedScan>(&node.node); scan != nullptr && !read.condition && scan->column > 0) {
    for (std::size_t i = 0; i < scan->leading.columns.size(); ++i) compare(scan->leading.columns[i], "=", *scan->leading.values[i]);
    if (scan->lower) compare(scan->column, scan->lower->inclusive ? ">=" : ">", *scan->lower->value);
    if (scan->upper) compare(scan->column, scan->upper->inclusive ? "<=" : "<", *scan->upper->value);
  }
  return texts;
}

using Reasons = std::map<std::int16_t, std::string_view>;

void add_reasons(const TableRead& read, const Condition& condition, const sql::Expression& expression, Reasons& reasons) {
  const sql::TableDef& table = *read.table;
  if (condition.kind == Condition::Kind::kColumn) {
    if (is_indexed(table, condition.column.column)) reasons.try_emplace(condition.column.column, reason_against(table, condition.column));
    return;
  }
  const bool is_alternative = condition.kind == Condition::Kind::kOr;
  for (const std::int16_t column : columns_in(read, expression)) {
    if (!is_indexed(table, column)) continue;
    reasons.try_emplace(column, is_alternative ? "an alternative of OR has no index" : "the condition is no comparison of the column with a value");
  }
}

/// Returns the scan below row-wise nodes, and the number of the column that a column of the plan is there.
const TableRead* trace(const PhysicalNode& node, std::size_t& position) {
  if (const auto* project = std::get_if<PhysicalProject>(&node.node)) {
    const auto* column = std::get_if<sql::ColumnRef>(&project->expressions.at(position)->node);
    if (column == nullptr) return nullptr;
    position = column->column;
    return trace(*project->input, position);
  }
  if (const auto* filter = std::get_if<PhysicalFilter>(&node.node)) return trace(*filter->input, position);
  if (traits_of(node).reads != Reads::kRows) return nullptr;
  return read_of(node).read;
}

void add_reasons_of_sort(const PhysicalSort& sort, Reasons& reasons, const TableRead*& read) {
  if (sort.presorted > 0 || sort.keys.empty()) return;
  const auto* column = std::get_if<sql::ColumnRef>(&sort.keys[0].expression->node);
  if (column == nullptr) return;
  std::size_t position = column->column;
  read = trace(*sort.input, position);
  if (read == nullptr) return;
  const std::int16_t number = read->numbers.at(static_cast<std::size_t>(read->outputs.at(position)));
  if (number <= 0 || read->table->is_mapped() || !ordered_source(*read->table, number)) return;
  const PhysicalNode& scan = below_row_wise(*sort.input);
  const auto* sets = std::get_if<SetScan>(&scan.node);
  if (sets != nullptr && sets->first) return;  // the index gives the first rows
  const bool may_be_null = !read->table->find_column(number)->not_null && !read->table->in_primary_key(number);
  if (may_be_null && !has_structure_of(*read->table, sql::Structure::Kind::kNulls, number)) {
    reasons[number] = sort.keys[0].descending ? "nullable column, DESC, and the index has no NULLs" : "nullable column, and the index has no NULLs";
  } else if (!std::holds_alternative<FullScan>(scan.node)) {
    reasons[number] = "the rows come by another index";
  }
}

}  // namespace

DividedConditions divide_conditions(const PhysicalNode& node, const ShownColumns& columns) {
  const ReadOfNode found = read_of(node);
  DividedConditions divided;
  if (found.read == nullptr) return divided;
  divided.index = exact_bounds(node, *found.read, columns);
  for (const auto& [expression, meaning] : checked_conditions(*found.read)) {
    (found.answers.contain(meaning) ? divided.index : divided.filter).push_back(sql::to_string(*expression));
  }
  return divided;
}

std::vector<std::string> reasons_against_indexes(const PhysicalNode& node) {
  Reasons reasons;
  const TableRead* read = nullptr;
  if (const auto* sort = std::get_if<PhysicalSort>(&node.node)) {
    add_reasons_of_sort(*sort, reasons, read);
  } else if (traits_of(node).reads == Reads::kRows) {
    read = read_of(node).read;
    const Answers answers = read_of(node).answers;
    for (const auto& [expression, meaning] : checked_conditions(*read)) {
      if (!answers.contain(meaning)) add_reasons(*read, meaning, *expression, reasons);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [column, reason] : reasons) texts.push_back(fmt::format("{}: {}", read->table->find_column(column)->name, reason));
  return texts;
}

}  // namespace redquel::planner
