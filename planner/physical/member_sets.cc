#include "planner/physical/member_sets.h"

#include <algorithm>

#include "planner/physical/all_values.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/mapping.h"
#include "sql/types/compare.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using sql::Mapping;

namespace {

/// Sets of one mapped table, and the columns of the plan that reads them.
struct MemberSets {
  const MappedScan* scan = nullptr;
  SetExpression sets;
  std::int16_t member = 0;
};

std::int16_t member_of(const sql::TableDef& table) { return table.mapping().with_role(Mapping::Role::kMember)->number; }

/// Returns true if all conditions of the scan fix its slots.
bool has_only_slots(const MappedScan& scan) {
  const std::vector<ExpressionPtr> conditions = scan.read.condition ? sql::split_conjunction(scan.read.condition) : std::vector<ExpressionPtr>();
  return conditions.size() == scan.fixed.size() && std::all_of(scan.fixed.begin(), scan.fixed.end(), [&](const MappedScan::Fixed& fixed) {
           return scan.read.table->mapping().key.has_slot(fixed.column);
         });
}

/// One set, or the union of several: the slots' values combined.
SetExpression sets_of(const MappedScan& scan) {
  std::vector<std::int16_t> columns;
  std::vector<std::vector<ExpressionPtr>> product{{}};
  for (const MappedScan::Fixed& fixed : scan.fixed) {
    columns.push_back(fixed.column);
    std::vector<std::vector<ExpressionPtr>> longer;
    for (const auto& head : product) {
      for (const ExpressionPtr& value : fixed.values) {
        longer.push_back(head);
        longer.back().push_back(value);
      }
    }
    product = std::move(longer);
  }
  std::vector<SetExpression> sets;
  for (auto& values : product) sets.push_back({SetExpression::Kind::kSet, columns, std::move(values), {}});
  if (sets.size() == 1) return std::move(sets.front());
  return {SetExpression::Kind::kUnion, {}, {}, std::move(sets)};
}

std::optional<MemberSets> match_sets(const PhysicalNode& node) {
  const auto* scan = std::get_if<MappedScan>(&node.node);
  if (scan == nullptr || scan->read.table->mapping().layout != Mapping::Layout::kSet) return {};
  const bool reads_ttl = std::any_of(scan->read.numbers.begin(), scan->read.numbers.end(), [&](std::int16_t number) {
    return number > 0 && scan->read.table->mapping().column(number).role == Mapping::Role::kTtl;
  });
  if (reads_ttl || !scan->member.empty()) return {};
  MemberSets sets{scan, {}, member_of(*scan->read.table)};
  if (scan->path == MappedScan::Path::kSets) {
    sets.sets = *scan->sets;
    return sets;
  }
  if (scan->path != MappedScan::Path::kKeys || !has_only_slots(*scan)) return {};
  sets.sets = sets_of(*scan);
  return sets;
}

/// Plans that give the members and nothing else.
std::optional<MemberSets> match_members(const PhysicalNode& node) {
  if (const auto* project = std::get_if<PhysicalProject>(&node.node)) {
    auto sets = match_sets(*project->input);
    const auto* column = project->expressions.size() == 1 ? std::get_if<sql::ColumnRef>(&project->expressions[0]->node) : nullptr;
    if (!sets || column == nullptr || sets->scan->read.numbers[static_cast<std::size_t>(sets->scan->read.outputs[column->column])] != sets->member) return {};
    return sets;
  }
  auto sets = match_sets(node);
  const bool is_member = sets && sets->scan->read.outputs.size() == 1 &&
                         sets->scan->read.numbers[static_cast<std::size_t>(sets->scan->read.outputs[0])] == sets->member;
  return is_member ? sets : std::nullopt;
}

/// The members alone, without a condition that only one of the sets fulfils.
PhysicalPlan member_scan(const MemberSets& from, SetExpression sets, std::vector<PhysicalColumn> columns) {
  MappedScan scan;
  scan.read.table = from.scan->read.table;
  scan.read.alias = from.scan->read.alias;
  scan.read.numbers = {from.member};
  scan.read.outputs = {0};
  scan.path = MappedScan::Path::kSets;
  scan.sets = std::move(sets);
  return make_physical(std::move(scan), std::move(columns));
}

bool is_single(const MappedScan& scan) {
  return std::all_of(scan.fixed.begin(), scan.fixed.end(), [](const MappedScan::Fixed& fixed) { return fixed.values.size() == 1; });
}

/// `left.member = right.member`, the positions over both inputs' columns.
bool joins_members(const ExpressionPtr& condition, const Planned& left, const Planned& right, const MemberSets& a, const MemberSets& b) {
  const auto* call = condition ? std::get_if<sql::FunctionCall>(&condition->node) : nullptr;
  if (call == nullptr || call->function->name != "=" || call->arguments.size() != 2) return false;
  const auto number = [](const sql::Expression& side, const Planned& input, const MemberSets& sets) -> std::int16_t {
    const auto* column = std::get_if<sql::ColumnRef>(&side.node);
    if (column == nullptr) return 0;
    const auto found = std::find(input.ids.begin(), input.ids.end(), column->column);
    if (found == input.ids.end()) return 0;
    return sets.scan->read.numbers[static_cast<std::size_t>(sets.scan->read.outputs[static_cast<std::size_t>(found - input.ids.begin())])];
  };
  const auto meets = [&](std::size_t x, std::size_t y) {
    return number(*call->arguments[x], left, a) == a.member && number(*call->arguments[y], right, b) == b.member;
  };
  return meets(0, 1) || meets(1, 0);
}

}  // namespace

SetExpression combine_sets(SetExpression::Kind kind, SetExpression left, SetExpression right) {
  SetExpression result{kind, {}, {}, {}};
  const auto add = [&](SetExpression operand, bool merges) {
    if (merges && operand.kind == kind) {
      std::move(operand.operands.begin(), operand.operands.end(), std::back_inserter(result.operands));
    } else {
      result.operands.push_back(std::move(operand));
    }
  };
  const bool is_difference = kind == SetExpression::Kind::kDifference;
  add(std::move(left), true);
  // The operands of a subtracted union may be subtracted one by one.
  if (is_difference && right.kind == SetExpression::Kind::kUnion) {
    std::move(right.operands.begin(), right.operands.end(), std::back_inserter(result.operands));
  } else {
    add(std::move(right), !is_difference);
  }
  return result;
}

std::optional<Planned> join_member_sets(JoinKind kind, const ExpressionPtr& condition, const Planned& left, const Planned& right) {
  if (kind != JoinKind::kInner && kind != JoinKind::kSemi && kind != JoinKind::kAnti) return {};
  const auto a = match_sets(*left.plan), b = match_sets(*right.plan);
  if (!a || !b || a->scan->read.table->oid != b->scan->read.table->oid || !is_single(*a->scan)) return {};
  if (kind == JoinKind::kInner && (!is_single(*b->scan) || b->scan->path != MappedScan::Path::kKeys)) return {};
  if (!joins_members(condition, left, right, *a, *b)) return {};
  MappedScan scan = *a->scan;
  scan.path = MappedScan::Path::kSets;
  scan.sets = combine_sets(kind == JoinKind::kAnti ? SetExpression::Kind::kDifference : SetExpression::Kind::kIntersection, a->sets, b->sets);
  scan.goal = {};
  PhysicalPlan members = make_physical(std::move(scan), left.plan->columns);
  if (kind != JoinKind::kInner) return Planned{std::move(members), left.ids};
  // The right side's columns: its slots are constants, its member is the left's.
  PhysicalProject project{members, {}};
  std::vector<PhysicalColumn> columns = left.plan->columns;
  std::vector<ColumnId> ids = left.ids;
  std::uint32_t member = UINT32_MAX;
  for (std::uint32_t i = 0; i < left.ids.size(); ++i) {
    const PhysicalColumn& column = left.plan->columns[i];
    project.expressions.push_back(sql::make_column(column.type, i, column.name));
    if (a->scan->read.numbers[static_cast<std::size_t>(a->scan->read.outputs[i])] == a->member) member = i;
  }
  for (std::size_t i = 0; i < right.ids.size(); ++i) {
    const std::int16_t number = b->scan->read.numbers[static_cast<std::size_t>(b->scan->read.outputs[i])];
    const PhysicalColumn& column = right.plan->columns[i];
    const auto fixed = std::find_if(b->scan->fixed.begin(), b->scan->fixed.end(), [&](const MappedScan::Fixed& f) { return f.column == number; });
    if (fixed != b->scan->fixed.end()) {
      if (fixed->values[0]->type.oid != column.type.oid) return {};
      project.expressions.push_back(fixed->values[0]);
    } else if (number == b->member && member != UINT32_MAX) {
      project.expressions.push_back(sql::make_column(column.type, member, column.name));
    } else {
      return {};
    }
    columns.push_back(column);
    ids.push_back(right.ids[i]);
  }
  return Planned{make_physical(std::move(project), std::move(columns)), std::move(ids)};
}

std::optional<PhysicalPlan> combine_member_sets(LogicalSetOperation::Kind kind, const PhysicalPlan& left, const PhysicalPlan& right) {
  auto a = match_members(*left), b = match_members(*right);
  if (!a || !b || a->scan->read.table->oid != b->scan->read.table->oid) return {};
  using Kind = SetExpression::Kind;
  const Kind operation = kind == LogicalSetOperation::Kind::kUnion       ? Kind::kUnion
                         : kind == LogicalSetOperation::Kind::kIntersect ? Kind::kIntersection
                                                                         : Kind::kDifference;
  return member_scan(*a, combine_sets(operation, a->sets, b->sets), left->columns);
}

std::optional<Planned> groups_in_all_sets(const LogicalAggregate& aggregate, const std::vector<LogicalColumn>& columns, const ExpressionPtr& having,
                                          const Planned& input) {
  if (columns.size() != 2 || aggregate.group_by.size() != 1) return {};
  auto rows = match_sets(*input.plan);
  if (!rows || rows->sets.kind != SetExpression::Kind::kUnion) return {};
  const auto conditions = different_values(rows->sets);
  if (!conditions) return {};
  const SetExpression& first = rows->sets.operands.front();
  if (first.columns.size() != 1 || !counts_values(aggregate, first.columns.front())) return {};
  const auto wanted = least_count(having, columns.back().id);
  if (!wanted || *wanted != static_cast<std::int64_t>(rows->sets.operands.size())) return {};
  const auto* key = std::get_if<sql::ColumnRef>(&aggregate.group_by[0]->node);
  const auto found = key == nullptr ? input.ids.end() : std::ranges::find(input.ids, key->column);
  if (found == input.ids.end()) return {};
  const auto& read = rows->scan->read;
  if (read.numbers[static_cast<std::size_t>(read.outputs[static_cast<std::size_t>(found - input.ids.begin())])] != rows->member) return {};
  SetExpression sets = rows->sets;
  sets.kind = SetExpression::Kind::kIntersection;
  const std::vector<PhysicalColumn> made = physical_columns(columns);
  const std::vector<PhysicalColumn> member{made.front()};
  PhysicalProject project{member_scan(*rows, std::move(sets), member), {}};
  project.expressions.push_back(sql::make_column(member.front().type, 0, member.front().name));
  project.expressions.push_back(sql::make_constant(sql::kInt8, *wanted));
  return Planned{checked_before(make_physical(std::move(project), made), *conditions), column_ids(columns)};
}

std::optional<PhysicalPlan> distinct_members(const PhysicalPlan& input) {
  auto sets = match_members(*input);
  if (!sets) return {};
  return member_scan(*sets, sets->sets, input->columns);
}

}  // namespace redquel::planner
