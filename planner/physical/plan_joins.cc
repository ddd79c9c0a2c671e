#include <algorithm>
#include <map>

#include "planner/access/index_condition.h"
#include "planner/access/indexed_expressions.h"
#include "planner/access/set_algebra.h"
#include "planner/cost/cost_model.h"
#include "planner/physical/join_equality.h"
#include "planner/physical/mapped_path.h"
#include "planner/physical/member_sets.h"
#include "planner/physical/part_sets.h"
#include "planner/physical/physical_planner.h"
#include "planner/rules/cardinality.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/mapping.h"
#include "sql/catalog/member_form.h"
#include "sql/catalog/spread_table.h"
#include "sql/error.h"
#include "sql/expressions/coerce.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

using sql::ExpressionPtr;

bool has_equality(sql::Type type) {
  try {
    sql::equality_operator(type);
    return true;
  } catch (const sql::SqlError&) {
    return false;
  }
}

std::optional<Equality> match_equality(const ExpressionPtr& condition, const std::set<ColumnId>& left, const std::set<ColumnId>& right) {
  const auto* call = std::get_if<sql::FunctionCall>(&condition->node);
  if (!call || call->function->name != "=" || call->arguments.size() != 2) return {};
  auto first = columns_in(*call->arguments[0]), second = columns_in(*call->arguments[1]);
  if (first.empty() || second.empty()) return {};
  if (!has_equality(call->arguments[0]->type)) return {};
  if (is_subset(first, left) && is_subset(second, right)) return Equality{call->arguments[0], call->arguments[1]};
  if (is_subset(first, right) && is_subset(second, left)) return Equality{call->arguments[1], call->arguments[0]};
  return {};
}

namespace {

/// Both sides in one type whose equality is the operator's; false where the operator compares different types otherwise.
bool unify(Equality& equality, const sql::SessionSettings& settings) {
  if (equality.left->type.oid == equality.right->type.oid) return true;
  if (!sql::is_integer_type(equality.left->type.oid) || !sql::is_integer_type(equality.right->type.oid)) return false;
  equality.left = sql::coerce(equality.left, sql::kInt8, sql::CastContext::kImplicit, settings);
  equality.right = sql::coerce(equality.right, sql::kInt8, sql::CastContext::kImplicit, settings);
  return true;
}

std::vector<PhysicalColumn> joined_columns(JoinKind kind, const PhysicalNode& left, const PhysicalNode& right) {
  auto columns = left.columns;
  if (kind != JoinKind::kSemi && kind != JoinKind::kAnti) columns.insert(columns.end(), right.columns.begin(), right.columns.end());
  return columns;
}

/// A guess that knows no sizes of tables.
double expected_rows(const PhysicalNode& node) { return CostModel().rows(node); }

/// Outer inputs up to this many rows are joined by lookups rather than by reading the whole inner table.
constexpr double kMaxLookupRows = 5000;
/// A lookup, and a row that it finds, cost about so many times what a row of a scan does.
constexpr double kLookupsForScan = 3;
/// A number of rows that certainly counts as few.
constexpr double kFewRows = 100;

}  // namespace

bool is_equality_of_groups(const sql::FunctionCall& call) {
  if (call.function->name != "=" || call.arguments.size() != 2) return false;
  const sql::Oid left = call.arguments[0]->type.oid, right = call.arguments[1]->type.oid;
  if (left != right) return sql::is_integer_type(left) && sql::is_integer_type(right);
  return has_equality(call.arguments[0]->type);
}

namespace {

/// The table of a filtered scan, or of the first of several that are joined, if one of its indexes is over a part of the key; nullptr: there is
/// none.
const sql::TableDef* table_with_part_sets(const Logical& node) {
  if (const auto* join = std::get_if<LogicalJoin>(&node.node)) return table_with_part_sets(*join->left);
  const auto* filter = std::get_if<LogicalFilter>(&node.node);
  const auto* scan = filter && !filter->barrier ? std::get_if<LogicalScan>(&filter->input->node) : nullptr;
  if (scan == nullptr || scan->table->is_mapped() || !scan->table->parts.empty()) return nullptr;
  const bool has_sets = std::ranges::any_of(sql::structures_of(*scan->table), [&](const sql::Structure& structure) {
    return structure.kind == sql::Structure::Kind::kSets && sql::omitted_parts(*scan->table, structure.columns).any();
  });
  return has_sets ? scan->table.get() : nullptr;
}

/// The condition that links `right` with columns of `twin`, where `condition` links it with columns that are equal to these by `links`.
ExpressionPtr condition_with_twin(const ExpressionPtr& condition, const ExpressionPtr& links, const Logical& twin, const Logical& rest, const Logical& right) {
  const std::set<ColumnId> twin_ids = ids_of(twin), rest_ids = ids_of(rest), right_ids = ids_of(right);
  std::set<ColumnId> left_ids = twin_ids;
  left_ids.insert(rest_ids.begin(), rest_ids.end());
  const auto column_of = [](const ExpressionPtr& expression) { return std::get_if<sql::ColumnRef>(&expression->node); };
  std::vector<ExpressionPtr> conditions;
  for (const ExpressionPtr& part : sql::split_conjunction(condition)) {
    const auto equality = match_equality(part, left_ids, right_ids);
    if (!equality || !column_of(equality->left) || !column_of(equality->right)) return nullptr;
    const ColumnId column = column_of(equality->left)->column;
    ExpressionPtr of_twin = twin_ids.contains(column) ? equality->left : nullptr;
    for (const ExpressionPtr& link : sql::split_conjunction(links)) {
      const auto linked = of_twin ? std::nullopt : match_equality(link, rest_ids, twin_ids);
      if (!linked || !column_of(linked->left) || !column_of(linked->right) || column_of(linked->left)->column != column) continue;
      if (linked->right->type.oid == equality->left->type.oid) of_twin = linked->right;
    }
    if (!of_twin) return nullptr;
    auto changed = std::make_shared<sql::Expression>(*part);
    for (ExpressionPtr& argument : std::get<sql::FunctionCall>(changed->node).arguments) {
      if (argument == equality->left) argument = of_twin;
    }
    conditions.push_back(std::move(changed));
  }
  return sql::conjunction(std::move(conditions));
}

bool reads_part_sets(const PhysicalNode& node) {
  const auto* project = std::get_if<PhysicalProject>(&node.node);
  const auto* keys = std::get_if<IndexKeys>(&(project ? *project->input : node).node);
  return keys && keys->by_parts;
}

std::vector<LogicalColumn> logical_columns(JoinKind kind, const Logical& left, const Logical& right) {
  std::vector<LogicalColumn> columns = left.columns;
  if (kind == JoinKind::kInner) columns.insert(columns.end(), right.columns.begin(), right.columns.end());
  return columns;
}

}  // namespace

std::optional<Planned> PhysicalPlanner::plan_join_with_parts(const LogicalJoin& join, const Wish& wish) {
  const auto* below = std::get_if<LogicalJoin>(&join.left->node);
  const sql::TableDef* table = below && join.condition && below->condition ? table_with_part_sets(*join.right) : nullptr;
  if (table == nullptr || (join.kind != JoinKind::kInner && join.kind != JoinKind::kSemi && join.kind != JoinKind::kAnti)) return {};
  if (below->kind != JoinKind::kInner && (below->kind != JoinKind::kSemi || join.kind == JoinKind::kInner)) return {};
  for (const bool is_first : {false, true}) {
    const LogicalPtr &twin = is_first ? below->left : below->right, &rest = is_first ? below->right : below->left;
    const sql::TableDef* other = is_first && below->kind == JoinKind::kSemi ? nullptr : table_with_part_sets(*twin);
    if (other == nullptr || other->oid != table->oid) continue;
    ExpressionPtr condition = condition_with_twin(join.condition, below->condition, *twin, *rest, *join.right);
    if (!condition) continue;
    const LogicalPtr pair = make_logical(LogicalJoin{join.kind, twin, join.right, std::move(condition)}, logical_columns(join.kind, *twin, *join.right));
    Wish needed{{}, {}, wish.needed};
    needed.needed->merge(columns_in(*below->condition));
    if (!reads_part_sets(*plan(pair, needed).plan)) continue;
    const LogicalPtr &left = is_first ? pair : rest, &right = is_first ? rest : pair;
    return plan(make_logical(LogicalJoin{below->kind, left, right, below->condition}, logical_columns(below->kind, *left, *right)), needed);
  }
  return {};
}

Planned PhysicalPlanner::plan_node(const Logical& node, const LogicalJoin& join, const Wish& wish) {
  if (join.kind == JoinKind::kRight) {  // the same join seen from the other side
    return plan_node(node, LogicalJoin{JoinKind::kLeft, join.right, join.left, join.condition}, wish);
  }
  if (auto in_order = tried(AccessRule::kJoinInOrder, [&] { return plan_join_in_order(node, join, wish); })) return *std::move(in_order);
  Planned planned = plan_whole_join(node, join, wish);
  auto parts = tried(AccessRule::kJoinOfParts, [&] { return plan_join_of_parts(node, join, wish, *planned.plan); });
  return parts ? *std::move(parts) : planned;
}

Planned PhysicalPlanner::plan_whole_join(const Logical& node, const LogicalJoin& join, const Wish& wish) {
  Wish sides;
  sides.needed = wish.needed ? *wish.needed : ids_of(node);
  if (join.condition) sides.needed->merge(columns_in(*join.condition));
  Planned left = plan(join.left, sides), right = plan(join.right, sides);
  const Cardinality cardinality(node);
  if (changed_tables_.empty() && index_answers_ && rules_.allow(AccessRule::kPartSets)) {
    auto parts = join_part_sets(join.kind, join.condition, left, right, [&] { return plan_hash_join(join, left, right); });
    if (parts) return std::move(*parts);
    if (auto regrouped = plan_join_with_parts(join, sides)) return std::move(*regrouped);
  }
  const bool right_is_smaller = cardinality.is_known() && cardinality.rows(*join.right) < cardinality.rows(*join.left);
  for (const LookupChoice choice : {LookupChoice::kFew, LookupChoice::kAdaptive}) {
    if (!rules_.allow(choice == LookupChoice::kFew ? AccessRule::kFewLookups : AccessRule::kManyLookups)) continue;
    for (const bool from_right : {right_is_smaller, !right_is_smaller}) {
      if (from_right && join.kind != JoinKind::kInner) continue;
      auto lookup = from_right ? plan_lookup_join(join, join.right, right, join.left, left, cardinality, choice)
                               : plan_lookup_join(join, join.left, left, join.right, right, cardinality, choice);
      if (lookup) return std::move(*lookup);
    }
    if (auto reduced = tried(AccessRule::kSemiJoinReduction, [&] { return plan_semi_join_reduction(join, left, right, choice); })) return std::move(*reduced);
  }
  if (auto members = !changed_tables_.empty() || !rules_.allow(AccessRule::kMemberSets) ? std::nullopt : join_member_sets(join.kind, join.condition, left, right)) return std::move(*members);
  const bool left_is_smaller = cardinality.is_known() ? !right_is_smaller : expected_rows(*left.plan) < expected_rows(*right.plan);
  if (join.kind == JoinKind::kInner && left_is_smaller) std::swap(left, right);
  return plan_hash_join(join, std::move(left), std::move(right));
}

Planned PhysicalPlanner::plan_hash_join(const LogicalJoin& join, Planned left, Planned right) {
  std::set<ColumnId> left_ids(left.ids.begin(), left.ids.end()), right_ids(right.ids.begin(), right.ids.end());
  std::vector<ColumnId> both = left.ids;
  both.insert(both.end(), right.ids.begin(), right.ids.end());
  auto columns = joined_columns(join.kind, *left.plan, *right.plan);
  std::vector<ColumnId> ids = columns.size() == left.ids.size() ? left.ids : both;

  HashJoin hash{join.kind, left.plan, right.plan, {}, {}, nullptr};
  std::vector<ExpressionPtr> residual;
  bool has_equality = false, is_constant = true;
  for (const ExpressionPtr& condition : join.condition ? sql::split_conjunction(join.condition) : std::vector<ExpressionPtr>{}) {
    auto equality = match_equality(condition, left_ids, right_ids);
    if (equality && unify(*equality, settings_)) {
      hash.left_keys.push_back(resolve(equality->left, left.ids));
      hash.right_keys.push_back(resolve(equality->right, right.ids));
    } else {
      has_equality = has_equality || equality.has_value();
      is_constant = is_constant && std::holds_alternative<sql::Constant>(condition->node);
      residual.push_back(condition);
    }
  }
  if (hash.left_keys.empty()) {
    if (join.kind == JoinKind::kFull && !has_equality && !is_constant) {
      throw sql::SqlError(sqlstate::kFeatureNotSupported, "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions");
    }
    NestedLoopJoin nested{join.kind, left.plan, right.plan, resolve(join.condition, both)};
    return {make_physical(std::move(nested), std::move(columns)), std::move(ids)};
  }
  hash.residual = resolve(sql::conjunction(std::move(residual)), both);
  return {make_physical(std::move(hash), std::move(columns)), std::move(ids)};
}

namespace {

/// The way to find the inner table's rows from equalities of the join.
struct LookupKey {
  LookupJoin::By by;
  std::vector<std::int16_t> columns;
};

std::vector<LookupKey> lookup_keys(const sql::TableDef& table) {
  std::vector<LookupKey> keys;
  if (!table.primary_key.empty()) keys.push_back({LookupJoin::By::kPrimaryKey, table.primary_key});
  for (const sql::Structure& structure : sql::structures_of(table)) {
    if (structure.readable && structure.kind == sql::Structure::Kind::kUnique) keys.push_back({LookupJoin::By::kUnique, structure.columns});
  }
  for (const sql::Structure& structure : sql::structures_of(table)) {
    if (structure.readable && structure.kind == sql::Structure::Kind::kSets) keys.push_back({LookupJoin::By::kSet, structure.columns});
  }
  for (std::size_t count = table.primary_key.size(); count-- > 1;) {
    keys.push_back({LookupJoin::By::kKeyStart, {table.primary_key.begin(), table.primary_key.begin() + static_cast<std::ptrdiff_t>(count)}});
  }
  return keys;
}

/// The join with its condition over the outer's and the inner table's columns.
template <class Lookup>
Planned lookup_plan(const LogicalJoin& join, Lookup lookup, const Planned& from, const Logical& inner_scan) {
  std::vector<ColumnId> scan_ids = column_ids(inner_scan.columns), both = from.ids;
  both.insert(both.end(), scan_ids.begin(), scan_ids.end());
  lookup.residual = resolve(join.condition, both);
  auto columns = from.plan->columns;
  const bool keeps_inner = join.kind != JoinKind::kSemi && join.kind != JoinKind::kAnti;
  if (keeps_inner) {
    auto added = physical_columns(inner_scan.columns);
    columns.insert(columns.end(), added.begin(), added.end());
  }
  return Planned{make_physical(std::move(lookup), std::move(columns)), keeps_inner ? both : from.ids};
}

/// `number` is a column of the scan: the equalities of the inner table's own filter that fix it.
void add_fixed_values(const LogicalFilter& filter, const sql::TableDef& table, const ColumnNumber& number,
                      std::map<std::int16_t, ExpressionPtr>& values) {
  for (const ExpressionPtr& expression : sql::split_conjunction(filter.condition)) {
    const Condition condition = analyse_condition(*expression, table, number);
    if (condition.kind != Condition::Kind::kColumn || condition.column.kind != ColumnCondition::Kind::kEqual) continue;
    values.emplace(condition.column.column, condition.column.values[0]);
  }
}

bool is_mapped(const Logical& node) {
  const auto* filter = std::get_if<LogicalFilter>(&node.node);
  const auto* scan = std::get_if<LogicalScan>(&(filter ? *filter->input : node).node);
  return scan && scan->table->is_mapped();
}

bool is_whole_table(const PhysicalNode& node) {
  if (const auto* gather = std::get_if<Gather>(&node.node)) return gather->limits.empty() && gather->numbers.size() == gather->table->parts.size() && is_whole_table(*gather->parts.front());
  const auto* scan = std::get_if<FullScan>(&node.node);
  return (scan && scan->key_start.empty()) || std::holds_alternative<OrderedScan>(node.node);
}

/// Returns true if the node reads each key of a mapped table.
bool scans_keyspace(const PhysicalNode& node) {
  const auto* scan = std::get_if<MappedScan>(&node.node);
  return scan && (scan->path == MappedScan::Path::kScan || (scan->path == MappedScan::Path::kSets && scan->sets->operands.empty() && scan->sets->columns.empty()));
}

/// Returns true if no two rows of the plan are alike: members of a set, with all of the key that does not stand in the set's name.
bool has_distinct_rows(const PhysicalNode& node) {
  const auto* keys = std::get_if<IndexKeys>(&node.node);
  if (keys == nullptr || keys->sets.kind != SetExpression::Kind::kSet) return false;
  return std::ranges::all_of(keys->table->primary_key, [&](std::int16_t number) {
    return std::ranges::find(keys->numbers, number) != keys->numbers.end() || std::ranges::find(keys->sets.columns, number) != keys->sets.columns.end();
  });
}

/// The distinct values of some columns of a planned input.
Planned distinct_rows(const Planned& input, const std::vector<LogicalColumn>& columns) {
  if (input.ids == column_ids(columns) && has_distinct_rows(*input.plan)) return input;
  PhysicalProject project{input.plan, {}};
  for (const LogicalColumn& column : columns) {
    project.expressions.push_back(sql::make_column(column.type, static_cast<std::uint32_t>(position_of(column.id, input.ids)), column.name));
  }
  PhysicalPlan projected = make_physical(std::move(project), physical_columns(columns));
  return {make_physical(PhysicalDistinct{std::move(projected), {}}, physical_columns(columns)), column_ids(columns)};
}

/// Like distinct_columns() above, as a logical plan: Redis gives the union of the members of an application's sets.
LogicalPtr distinct_columns(const LogicalPtr& input, const std::vector<LogicalColumn>& columns) {
  std::vector<ExpressionPtr> expressions;
  for (const LogicalColumn& column : columns) expressions.push_back(sql::make_column(column.type, column.id, column.name));
  LogicalPtr picked = std::make_shared<const Logical>(Logical{LogicalProject{input, std::move(expressions)}, columns});
  return std::make_shared<const Logical>(Logical{LogicalDistinct{std::move(picked), {}}, columns});
}

bool finds_several(const LookupKey& key) { return key.by == LookupJoin::By::kSet || key.by == LookupJoin::By::kKeyStart; }

/// The share of a table's rows that a key finds for one outer row; `shares` are those of its columns, by number.
double share_found(const LookupKey& key, const std::map<std::int16_t, double>& shares) {
  double share = finds_several(key) ? 1 : 0;
  for (const std::int16_t column : key.columns) {
    const auto found = shares.find(column);
    if (found != shares.end()) share *= found->second;
  }
  return share;
}

}  // namespace

std::optional<Planned> PhysicalPlanner::plan_lookup_join(const LogicalJoin& join, const LogicalPtr& outer, const Planned& from,
                                                         const LogicalPtr& inner, const Planned& whole, const Cardinality& cardinality,
                                                         LookupChoice choice) {
  if (join.kind == JoinKind::kFull || !join.condition) return {};
  const auto* filter = std::get_if<LogicalFilter>(&inner->node);
  const LogicalPtr& inner_scan = filter ? filter->input : inner;
  const auto* scan = std::get_if<LogicalScan>(&inner_scan->node);
  if (!scan || std::ranges::find(scan->numbers, sql::kTableOidColumn) != scan->numbers.end()) return {};
  if (scan->table->partition_key && (scan->table->has_hidden_key() || !sql::are_read_alike(*scan->table))) return {};
  const auto is_changed = [&](const std::shared_ptr<const sql::TableDef>& table) { return !table->is_mapped() && changed_tables_.contains(table->oid); };
  if (std::ranges::any_of(sql::stored_tables(scan->table), is_changed)) return {};
  const double outer_rows = expected_rows(*from.plan), inner_rows = expected_rows(*whole.plan);
  const bool is_window = choice == LookupChoice::kWindow;
  const bool few = is_window || outer_rows <= kFewRows;
  const bool is_counted = cardinality.is_known();
  // The number of rows of a mapped table is unknown.
  if (!is_window && !scan->table->is_mapped() && !is_counted && inner_rows < outer_rows) return {};
  if (!few && std::holds_alternative<IndexKeys>(whole.plan->node)) return {};
  // Nothing is cheaper than the cardinalities of sets that are known by name.
  const auto* index_values = std::get_if<IndexValues>(&whole.plan->node);
  if (!is_window && index_values && (!few || !index_values->values.empty())) return {};

  const std::set<ColumnId> outer_ids(from.ids.begin(), from.ids.end());
  const std::set<ColumnId> inner_ids = ids_of(*inner);
  ColumnNumber number = number_of(*scan, inner_scan->columns);
  std::vector<ExpressionPtr> inner_conditions;
  if (filter) inner_conditions = sql::split_conjunction(filter->condition);
  const IndexedExpressions indexed(*scan, inner_scan->columns, inner_conditions);
  std::map<std::int16_t, ExpressionPtr> values;
  std::map<std::int16_t, double> shares;
  for (const ExpressionPtr& condition : sql::split_conjunction(join.condition)) {
    if (filter && filter->barrier && !is_leakproof(*condition)) continue;
    auto equality = match_equality(condition, outer_ids, inner_ids);
    const auto* column = equality ? std::get_if<sql::ColumnRef>(&equality->right->node) : nullptr;
    auto found = equality ? indexed.number_of(*equality->right) : std::nullopt;
    if (!found && column) found = number(column->column);
    if (!found || *found == 0) continue;
    const sql::Oid left = equality->left->type.oid, right = equality->right->type.oid;
    const bool fits = left == right || (sql::is_integer_type(left) && sql::is_integer_type(right));
    if (fits && values.emplace(*found, equality->left).second) shares[*found] = cardinality.selectivity(*condition);
  }
  if (values.empty()) return {};
  if (scan->table->is_mapped()) {
    auto path = plan_mapped_join(inner_scan->columns, *scan, inner_conditions, values);
    if (!path) return {};
    // A structure of many outer rows is worth a lookup each where nothing but a scan of the keyspace finds the rows.
    const bool has_structure = path->inner.path != MappedScan::Path::kKeys;
    if (has_structure && !is_window && (!scans_keyspace(*whole.plan) || (choice == LookupChoice::kFew && outer_rows > kMaxLookupRows))) return {};
    MappedJoin lookup{join.kind, from.plan, std::move(path->inner), {}, nullptr};
    for (const auto& [column, value] : path->keys) lookup.keys.push_back({column, resolve(value, from.ids)});
    return lookup_plan(join, std::move(lookup), from, *inner_scan);
  }
  if (filter) add_fixed_values(*filter, *scan->table, number, values);
  std::vector<LookupKey> keys = lookup_keys(*scan->table);
  // A row of a table in several buckets is found by its key, which names its bucket, or by a value that lies by value.
  if (!scan->table->parts.empty()) {
    std::erase_if(keys, [&](const LookupKey& key) {
      const bool is_by_value = key.by == LookupJoin::By::kUnique && sql::lies_by_value(*scan->table, key.columns);
      return key.by != LookupJoin::By::kPrimaryKey && !is_by_value;
    });
  }
  std::erase_if(keys, [&](const LookupKey& key) { return !std::ranges::all_of(key.columns, [&](std::int16_t n) { return values.contains(n); }); });
  if (is_counted) std::ranges::stable_sort(keys, {}, [&](const LookupKey& key) { return share_found(key, shares); });
  for (const LookupKey& key : keys) {
    // The number of an outer input's rows, and of the rows that its keys find, is known only at run time. If a key finds several rows,
    // lookups are worth a try if they are expected to find far fewer rows than the table has.
    if (finds_several(key) && is_counted && !is_window) {
      const double found = cardinality.rows(*outer) * (1 + share_found(key, shares) * scan->table_rows);
      if (kLookupsForScan * found > scan->table_rows) continue;
    }
    const bool may_scan = is_whole_table(*whole.plan) || (is_counted && std::holds_alternative<SetScan>(whole.plan->node));
    const bool adapts = !few && (!finds_several(key) || is_counted) && may_scan;
    if (adapts != (choice == LookupChoice::kAdaptive) || (!adapts && !is_window && outer_rows > kMaxLookupRows)) continue;
    // All rows that a key finds are read to join them: too many if one of them is enough.
    const bool is_existence = join.kind == JoinKind::kSemi || join.kind == JoinKind::kAnti;
    if (is_window && is_existence && finds_several(key) && !(is_counted && share_found(key, shares) * scan->table_rows <= kFewOfRow)) continue;

    LookupJoin lookup{join.kind, from.plan, {}, key.by, key.columns, {}, nullptr};
    for (std::int16_t column : key.columns) lookup.values.push_back(resolve(values.at(column), from.ids));
    lookup.read.table = scan->table;
    lookup.read.alias = scan->alias;
    lookup.read.numbers = scan->numbers;
    std::vector<ColumnId> scan_ids = column_ids(inner_scan->columns);
    if (filter) lookup.read.condition = resolve(filter->condition, scan_ids);
    for (std::size_t i = 0; i < scan_ids.size(); ++i) lookup.read.outputs.push_back(static_cast<std::int16_t>(i));
    Planned planned = lookup_plan(join, std::move(lookup), from, *inner_scan);
    if (!adapts) return planned;
    Planned hash = plan_hash_join(join, from, whole);
    if (!std::holds_alternative<HashJoin>(hash.plan->node) || hash.ids != planned.ids) return {};
    auto columns = planned.plan->columns;
    AdaptiveJoin adaptive{from.plan, whole.plan, std::move(planned.plan), std::move(hash.plan), static_cast<std::size_t>(kMaxLookupRows)};
    return Planned{make_physical(std::move(adaptive), std::move(columns)), std::move(planned.ids)};
  }
  return {};
}

std::optional<Planned> PhysicalPlanner::plan_semi_join_reduction(const LogicalJoin& join, const Planned& left, const Planned& right, LookupChoice choice) {
  if (join.kind != JoinKind::kSemi || !join.condition) return {};
  const double rows = expected_rows(*right.plan);
  if (!is_mapped(*join.left) && (rows > kMaxLookupRows || expected_rows(*left.plan) <= rows)) return {};
  const std::set<ColumnId> left_ids = ids_of(*join.left), right_ids = ids_of(*join.right);
  // One row of distinct right keys at most matches a left row, where equalities are all that is asked.
  std::vector<LogicalColumn> keys;
  for (const ExpressionPtr& condition : sql::split_conjunction(join.condition)) {
    const auto equality = match_equality(condition, left_ids, right_ids);
    const auto* column = equality ? std::get_if<sql::ColumnRef>(&equality->right->node) : nullptr;
    if (column == nullptr) return {};
    const auto found = std::ranges::find(join.right->columns, column->column, &LogicalColumn::id);
    if (std::ranges::find(keys, column->column, &LogicalColumn::id) == keys.end()) keys.push_back(*found);
  }
  const Planned distinct = is_mapped(*join.left) ? plan(distinct_columns(join.right, keys)) : distinct_rows(right, keys);
  const LogicalJoin inner{JoinKind::kInner, join.left, join.right, join.condition};
  return plan_lookup_join(inner, join.right, distinct, join.left, left, Cardinality(), choice);
}

}  // namespace redquel::planner
