#include "planner/physical/part_sets.h"

#include <algorithm>
#include <set>

#include "planner/physical/all_values.h"
#include "planner/physical/member_sets.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/member_form.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using SetKind = SetExpression::Kind;

namespace {

/// A column of a plan: one of the other part, or a value that all rows have.
struct PartOutput {
  std::int16_t number = 0;
  ExpressionPtr value = nullptr;
};

/// Sets over the same columns, which are a part of the primary key, and the columns of the plan that reads them.
struct PartSets {
  const IndexKeys* keys = nullptr;
  std::vector<std::int16_t> other_part;  // in the key's order
  bool is_unique = false;                // has each combination of the other part's values once
  std::vector<PartOutput> outputs;       // parallel to the plan's columns
};

/// The columns of the sets, if all of them are over the same ones; empty: they are not, or their members are whole.
std::vector<std::int16_t> columns_of_sets(const sql::TableDef& table, const SetExpression& sets) {
  if (sets.operands.empty()) {
    const bool is_short = sets.kind == SetKind::kSet && sql::omitted_parts(table, sets.columns).any();
    return is_short ? sets.columns : std::vector<std::int16_t>();
  }
  const std::vector<std::int16_t> columns = columns_of_sets(table, sets.operands.front());
  const bool are_same = std::ranges::all_of(sets.operands, [&](const SetExpression& operand) { return columns_of_sets(table, operand) == columns; });
  return are_same ? columns : std::vector<std::int16_t>();
}

std::optional<PartSets> match_keys(const IndexKeys& keys) {
  // For whole members, only a union is equivalent to a union of short members, except for rows that differ in the index's columns alone.
  const bool is_leaf = keys.sets.operands.empty();
  if (!keys.by_parts && !is_leaf && keys.sets.kind != SetKind::kUnion) return {};
  const std::vector<std::int16_t> columns = columns_of_sets(*keys.table, keys.sets);
  if (columns.empty()) return {};
  PartSets sets{&keys, {}, keys.by_parts || is_leaf, {}};
  for (const std::int16_t number : keys.table->primary_key) {
    if (std::ranges::find(columns, number) == columns.end()) sets.other_part.push_back(number);
  }
  for (const std::int16_t number : keys.numbers) {
    const auto column = std::ranges::find(columns, number);
    if (column == columns.end()) {
      if (std::ranges::find(sets.other_part, number) == sets.other_part.end()) return {};
      sets.outputs.push_back({number, nullptr});
    } else {
      if (!is_leaf) return {};
      sets.outputs.push_back({0, keys.sets.values[static_cast<std::size_t>(column - columns.begin())]});
    }
  }
  return sets;
}

std::optional<PartSets> match_parts(const PhysicalNode& node) {
  if (const auto* keys = std::get_if<IndexKeys>(&node.node)) return match_keys(*keys);
  const auto* project = std::get_if<PhysicalProject>(&node.node);
  const auto* keys = project ? std::get_if<IndexKeys>(&project->input->node) : nullptr;
  auto sets = keys ? match_keys(*keys) : std::nullopt;
  if (!sets) return {};
  std::vector<PartOutput> outputs;
  for (const ExpressionPtr& expression : project->expressions) {
    if (const auto* column = std::get_if<sql::ColumnRef>(&expression->node)) {
      outputs.push_back(sets->outputs[column->column]);
    } else if (columns_in(*expression).empty() && !sql::is_volatile(*expression)) {
      outputs.push_back({0, expression});
    } else {
      return {};
    }
  }
  sets->outputs = std::move(outputs);
  return sets;
}

bool are_of_one_index(const PartSets& a, const PartSets& b) {
  return a.keys->table->oid == b.keys->table->oid &&
         columns_of_sets(*a.keys->table, a.keys->sets) == columns_of_sets(*b.keys->table, b.keys->sets);
}

/// The columns of the plan are those of the other part, each once.
bool has_other_part_alone(const PartSets& sets) {
  std::set<std::int16_t> numbers;
  for (const PartOutput& output : sets.outputs) numbers.insert(output.number);
  return sets.outputs.size() == sets.other_part.size() && numbers == std::set<std::int16_t>(sets.other_part.begin(), sets.other_part.end());
}

std::int16_t number_of_side(const sql::Expression& side, const Planned& input, const PartSets& sets) {
  const auto* column = std::get_if<sql::ColumnRef>(&side.node);
  if (column == nullptr) return 0;
  const auto found = std::ranges::find(input.ids, column->column);
  return found == input.ids.end() ? std::int16_t{0} : sets.outputs[static_cast<std::size_t>(found - input.ids.begin())].number;
}

/// Returns true if the condition compares each column of the other part with itself, and asks nothing else.
bool joins_other_parts(const ExpressionPtr& condition, const Planned& left, const Planned& right, const PartSets& a, const PartSets& b) {
  if (!condition) return false;
  std::set<std::int16_t> compared;
  for (const ExpressionPtr& part : sql::split_conjunction(condition)) {
    const auto* call = std::get_if<sql::FunctionCall>(&part->node);
    if (call == nullptr || call->function->name != "=" || call->arguments.size() != 2) return false;
    const sql::Expression &first = *call->arguments[0], &second = *call->arguments[1];
    std::int16_t number = number_of_side(first, left, a), other = number_of_side(second, right, b);
    if (number == 0 || other == 0) number = number_of_side(second, left, a), other = number_of_side(first, right, b);
    if (number == 0 || number != other) return false;
    compared.insert(number);
  }
  return compared == std::set<std::int16_t>(a.other_part.begin(), a.other_part.end());
}

IndexKeys keys_by_parts(const PartSets& from, SetExpression sets, std::vector<std::int16_t> numbers, PhysicalPlan fallback) {
  IndexKeys keys{from.keys->table, from.keys->alias, std::move(sets), std::move(numbers), std::move(fallback)};
  keys.by_parts = true;
  return keys;
}

std::vector<std::int16_t> numbers_of(const PartSets& sets) {
  std::vector<std::int16_t> numbers;
  for (const PartOutput& output : sets.outputs) numbers.push_back(output.number);
  return numbers;
}

PhysicalColumn column_of_table(const sql::TableDef& table, std::int16_t number) {
  const sql::ColumnDef& column = *table.find_column(number);
  return PhysicalColumn{column.name, column.type};
}

/// `sets` with these columns of its plan, parallel to `outputs`; `fallback` has the columns of the other part.
std::optional<PhysicalPlan> with_outputs(const PartSets& from, SetExpression sets, const std::vector<PartOutput>& outputs,
                                         std::vector<PhysicalColumn> columns, PhysicalPlan fallback) {
  std::vector<PhysicalColumn> parts;
  for (const std::int16_t number : from.other_part) parts.push_back(column_of_table(*from.keys->table, number));
  PhysicalPlan keys = make_physical(keys_by_parts(from, std::move(sets), from.other_part, std::move(fallback)), parts);
  PhysicalProject project{std::move(keys), {}};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].value) {
      if (outputs[i].value->type.oid != columns[i].type.oid) return {};
      project.expressions.push_back(outputs[i].value);
      continue;
    }
    const auto part = std::ranges::find(from.other_part, outputs[i].number);
    const auto position = static_cast<std::uint32_t>(part - from.other_part.begin());
    project.expressions.push_back(sql::make_column(parts[position].type, position, columns[i].name));
  }
  return make_physical(std::move(project), std::move(columns));
}

/// The columns of the other part, of a plan that has them under these ids.
PhysicalPlan pick_other_part(const Planned& input, const PartSets& sets, const std::vector<ColumnId>& ids) {
  PhysicalProject project{input.plan, {}};
  std::vector<PhysicalColumn> columns;
  for (const std::int16_t number : sets.other_part) {
    const auto output = std::ranges::find(sets.outputs, number, &PartOutput::number);
    const ColumnId id = ids[static_cast<std::size_t>(output - sets.outputs.begin())];
    columns.push_back(column_of_table(*sets.keys->table, number));
    project.expressions.push_back(sql::make_column(columns.back().type, static_cast<std::uint32_t>(position_of(id, input.ids)), columns.back().name));
  }
  return make_physical(std::move(project), std::move(columns));
}

}  // namespace

std::optional<Planned> join_part_sets(JoinKind kind, const ExpressionPtr& condition, const Planned& left, const Planned& right,
                                      const std::function<Planned()>& fallback) {
  if (kind != JoinKind::kInner && kind != JoinKind::kSemi && kind != JoinKind::kAnti) return {};
  const auto a = match_parts(*left.plan), b = match_parts(*right.plan);
  if (!a || !b || !are_of_one_index(*a, *b) || !a->is_unique || (kind == JoinKind::kInner && !b->is_unique)) return {};
  if (!joins_other_parts(condition, left, right, *a, *b)) return {};
  std::vector<PartOutput> outputs = a->outputs;
  std::vector<PhysicalColumn> columns = left.plan->columns;
  std::vector<ColumnId> ids = left.ids;
  if (kind == JoinKind::kInner) {
    outputs.insert(outputs.end(), b->outputs.begin(), b->outputs.end());
    columns.insert(columns.end(), right.plan->columns.begin(), right.plan->columns.end());
    ids.insert(ids.end(), right.ids.begin(), right.ids.end());
  }
  SetExpression sets = combine_sets(kind == JoinKind::kAnti ? SetKind::kDifference : SetKind::kIntersection, a->keys->sets, b->keys->sets);
  auto plan = with_outputs(*a, std::move(sets), outputs, std::move(columns), pick_other_part(fallback(), *a, left.ids));
  if (!plan) return {};
  return Planned{*std::move(plan), std::move(ids)};
}

std::optional<PhysicalPlan> combine_part_sets(LogicalSetOperation::Kind kind, const PhysicalPlan& left, const PhysicalPlan& right,
                                              const std::function<PhysicalPlan()>& fallback) {
  const auto a = match_parts(*left), b = match_parts(*right);
  if (!a || !b || !are_of_one_index(*a, *b) || !has_other_part_alone(*a) || numbers_of(*a) != numbers_of(*b)) return {};
  const SetKind operation = kind == LogicalSetOperation::Kind::kUnion ? SetKind::kUnion
                            : kind == LogicalSetOperation::Kind::kIntersect ? SetKind::kIntersection
                                                                            : SetKind::kDifference;
  SetExpression sets = combine_sets(operation, a->keys->sets, b->keys->sets);
  return make_physical(keys_by_parts(*a, std::move(sets), numbers_of(*a), fallback()), left->columns);
}

std::optional<PhysicalPlan> distinct_parts(const PhysicalPlan& input, const std::function<PhysicalPlan()>& fallback) {
  const auto sets = match_parts(*input);
  if (!sets || !has_other_part_alone(*sets)) return {};
  return make_physical(keys_by_parts(*sets, sets->keys->sets, numbers_of(*sets), fallback()), input->columns);
}

std::optional<Planned> groups_with_all_values(const LogicalAggregate& aggregate, const std::vector<LogicalColumn>& columns,
                                              const ExpressionPtr& having, const Planned& input, const std::function<Planned()>& fallback) {
  if (columns.size() != aggregate.group_by.size() + 1) return {};
  auto rows = match_parts(*input.plan);
  if (!rows || rows->keys->by_parts || rows->keys->sets.kind != SetKind::kUnion) return {};
  const auto conditions = different_values(rows->keys->sets);
  if (!conditions) return {};
  const SetExpression& first = rows->keys->sets.operands.front();
  if (first.columns.size() != 1 || !counts_values(aggregate, first.columns.front())) return {};
  const auto wanted = least_count(having, columns.back().id);
  if (!wanted || *wanted != static_cast<std::int64_t>(rows->keys->sets.operands.size())) return {};
  PartSets groups = *rows;
  groups.outputs.clear();
  for (const ExpressionPtr& key : aggregate.group_by) groups.outputs.push_back({number_of_side(*key, input, *rows), nullptr});
  if (!has_other_part_alone(groups)) return {};
  SetExpression sets = rows->keys->sets;
  sets.kind = SetKind::kIntersection;
  std::vector<PartOutput> outputs = groups.outputs;
  outputs.push_back({0, sql::make_constant(sql::kInt8, *wanted)});
  const std::vector<ColumnId> ids = column_ids(columns);
  auto plan = with_outputs(groups, std::move(sets), outputs, physical_columns(columns), pick_other_part(fallback(), groups, ids));
  if (!plan) return {};
  return Planned{checked_before(*std::move(plan), *conditions), ids};
}

std::optional<PhysicalPlan> number_of_parts(const PhysicalPlan& input) {
  const PhysicalNode* node = input.get();
  while (const auto* project = std::get_if<PhysicalProject>(&node->node)) {
    const bool has_effects = std::ranges::any_of(project->expressions, [](const ExpressionPtr& expression) { return sql::is_volatile(*expression); });
    if (has_effects) return {};
    node = project->input.get();
  }
  const auto* keys = std::get_if<IndexKeys>(&node->node);
  if (keys == nullptr || !keys->by_parts) return {};
  IndexKeys counted = *keys;
  counted.numbers.clear();
  counted.fallback = make_physical(PhysicalProject{keys->fallback, {}}, {});
  return make_physical(std::move(counted), {});
}

}  // namespace redquel::planner
