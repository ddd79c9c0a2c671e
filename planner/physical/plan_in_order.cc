// Order and LIMIT through joins and subqueries: the outer rows come in the wanted order, a window at a time, and what belongs to a row is looked up for
// those of the window.

#include <algorithm>
#include <map>

#include "planner/access/ordered_source.h"
#include "planner/bind/plan_nodes.h"
#include "planner/physical/join_equality.h"
#include "planner/physical/physical_planner.h"
#include "planner/rules/cardinality.h"
#include "planner/tree/bounded_scan.h"
#include "planner/tree/logical_walk.h"
#include "planner/tree/plan_walk.h"
#include "sql/catalog/table_keys.h"
#include "sql/functions/resolve.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// Subqueries and lookups for more rows than this are not worth a round trip a window.
constexpr std::int64_t kMostWanted = 5000;
/// The rows after which a walk is given up, if nothing is known of the rows that pass: at least, and of those of its table.
constexpr double kLeastWalk = 512, kShareOfWalk = 0.02;
constexpr double kMostWalked = 10000;

/// Returns true if the node gives the rows of its first input in their order, or rows made of them.
bool keeps_order(const PhysicalNode& node) {
  if (const auto* sort = std::get_if<PhysicalSort>(&node.node)) return sort->presorted > 0;
  if (const auto* aggregate = std::get_if<PhysicalAggregate>(&node.node)) return aggregate->in_order;
  return std::holds_alternative<LookupJoin>(node.node) || std::holds_alternative<MappedJoin>(node.node) || std::holds_alternative<PhysicalApply>(node.node) ||
         std::holds_alternative<PhysicalFilter>(node.node) || std::holds_alternative<PhysicalProject>(node.node);
}

void set_outer(PhysicalNode& node, PhysicalPlan outer) {
  if (auto* sort = std::get_if<PhysicalSort>(&node.node)) sort->input = std::move(outer);
  else if (auto* aggregate = std::get_if<PhysicalAggregate>(&node.node)) aggregate->input = std::move(outer);
  else if (auto* lookup = std::get_if<LookupJoin>(&node.node)) lookup->outer = std::move(outer);
  else if (auto* mapped = std::get_if<MappedJoin>(&node.node)) mapped->outer = std::move(outer);
  else if (auto* apply = std::get_if<PhysicalApply>(&node.node)) apply->input = std::move(outer);
  else if (auto* filter = std::get_if<PhysicalFilter>(&node.node)) filter->input = std::move(outer);
  else if (auto* project = std::get_if<PhysicalProject>(&node.node)) project->input = std::move(outer);
}

/// The plan whose walk is given up after so many rows.
PhysicalPlan with_most_rows(const PhysicalPlan& plan, std::size_t rows) {
  PhysicalNode node = *plan;
  if (auto* scan = std::get_if<OrderedScan>(&node.node)) scan->most_rows = rows;
  else if (!keeps_order(node)) return plan;
  else set_outer(node, with_most_rows(inputs_of(node).front(), rows));
  return std::make_shared<const PhysicalNode>(std::move(node));
}

std::optional<std::int64_t> known_count(const ExpressionPtr& expression) {
  if (!expression) return 0;
  const auto* constant = std::get_if<sql::Constant>(&expression->node);
  const auto* number = constant != nullptr ? std::get_if<std::int64_t>(&constant->value) : nullptr;
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

/// Returns true if the goal is not known to be more than the rows that are worth a lookup each.
bool is_moderate(const RowGoal& goal) {
  return goal.limit && known_count(goal.limit).value_or(0) <= kMostWanted && known_count(goal.offset).value_or(0) <= kMostWanted;
}

/// Some more rows than the goal, where it is known.
RowGoal with_more_rows(const RowGoal& goal) {
  const auto limit = known_count(goal.limit), offset = known_count(goal.offset);
  if (!goal.limit || !limit || !offset || *limit > kMostWanted || *offset > kMostWanted) return {};
  return {sql::make_constant(sql::kInt8, std::int64_t{2 * (*limit + *offset) + 20}), nullptr};
}

/// The scan of a table, filtered or not; null: it is another node.
const LogicalScan* scan_of(const Logical& node) {
  const auto* filter = std::get_if<LogicalFilter>(&node.node);
  return std::get_if<LogicalScan>(&(filter != nullptr ? *filter->input : node).node);
}

/// Returns true if something is looked up for the rows: a join or a subquery, filtered, projected and grouped perhaps.
bool has_lookups(const Logical& node) {
  if (const auto* filter = std::get_if<LogicalFilter>(&node.node)) return has_lookups(*filter->input);
  if (const auto* project = std::get_if<LogicalProject>(&node.node)) return has_lookups(*project->input);
  if (const auto* aggregate = std::get_if<LogicalAggregate>(&node.node)) return has_lookups(*aggregate->input);
  return std::holds_alternative<LogicalJoin>(node.node) || std::holds_alternative<LogicalApply>(node.node);
}

std::vector<ExpressionPtr> conditions_of(const ExpressionPtr& condition) {
  return condition ? sql::split_conjunction(condition) : std::vector<ExpressionPtr>{};
}

const sql::ColumnRef* column_ref(const ExpressionPtr& expression) { return std::get_if<sql::ColumnRef>(&expression->node); }

/// The leading keys of the order that are over columns of the outer side. A column that the join equals with one of these counts as this one.
std::vector<SortKey> keys_over(const std::vector<SortKey>& order, const std::set<ColumnId>& outer, const LogicalJoin* join, const std::set<ColumnId>& inner) {
  std::vector<SortKey> keys;
  for (SortKey key : order) {
    const auto* column = column_ref(key.expression);
    if (join != nullptr && join->kind == JoinKind::kInner && column != nullptr && inner.contains(column->column)) {
      for (const ExpressionPtr& condition : conditions_of(join->condition)) {
        const auto equality = match_equality(condition, outer, inner);
        const auto *left = equality ? column_ref(equality->left) : nullptr, *right = equality ? column_ref(equality->right) : nullptr;
        if (left == nullptr || right == nullptr || right->column != column->column || equality->left->type != equality->right->type) continue;
        key.expression = equality->left;
        break;
      }
    }
    if (!is_subset(columns_in(*key.expression), outer)) break;
    keys.push_back(std::move(key));
  }
  return keys;
}

/// The columns of the inner table that equalities of the join fix for an outer row.
std::map<std::int16_t, ExpressionPtr> columns_of_join(const LogicalJoin& join, const LogicalPtr& inner, const std::set<ColumnId>& outer_ids) {
  std::map<std::int16_t, ExpressionPtr> columns;
  const LogicalScan* scan = scan_of(*inner);
  if (scan == nullptr) return columns;
  const auto* filter = std::get_if<LogicalFilter>(&inner->node);
  const ColumnNumber number = number_of(*scan, (filter != nullptr ? filter->input : inner)->columns);
  for (const ExpressionPtr& condition : conditions_of(join.condition)) {
    const auto equality = match_equality(condition, outer_ids, ids_of(*inner));
    const auto* column = equality ? column_ref(equality->right) : nullptr;
    const auto found = column != nullptr ? number(column->column) : std::nullopt;
    if (found) columns.emplace(*found, equality->left);
  }
  return columns;
}

/// Returns true if the columns hold those of a key: no two rows are alike in them.
bool hold_key(const sql::TableDef& table, const std::map<std::int16_t, ExpressionPtr>& columns) {
  const auto are_held = [&](const std::vector<std::int16_t>& key) {
    return !key.empty() && std::ranges::all_of(key, [&](std::int16_t number) { return columns.contains(number); });
  };
  if (table.is_mapped()) return false;
  return are_held(table.primary_key) || std::ranges::any_of(sql::structures_of(table), [&](const sql::Structure& structure) {
           return structure.kind == sql::Structure::Kind::kUnique && structure.readable && !sql::is_deferrable(table, structure.columns) && are_held(structure.columns);
         });
}

const sql::TableDef* table_with(const Logical& node, sql::Oid oid) {
  if (const auto* scan = std::get_if<LogicalScan>(&node.node); scan != nullptr && scan->table->oid == oid) return scan->table.get();
  for (const LogicalPtr& input : inputs_of(node)) {
    if (const sql::TableDef* found = table_with(*input, oid)) return found;
  }
  return nullptr;
}

/// Returns true if a foreign key of the outer rows says that each of them has its inner row.
bool is_by_foreign_key(const LogicalJoin& join, const LogicalPtr& outer, const LogicalPtr& inner) {
  const auto* scan = std::get_if<LogicalScan>(&inner->node);
  if (scan == nullptr || scan->table->is_mapped() || !scan->table->parts.empty() || scan->table->rows_expire()) return false;
  const std::vector<ExpressionPtr> conditions = conditions_of(join.condition);
  std::map<std::int16_t, std::int16_t> referenced;  // by column of the outer table
  sql::Oid oid = 0;
  for (const auto& [number, expression] : columns_of_join(join, inner, ids_of(*outer))) {
    const auto* reference = column_ref(expression);
    const LogicalColumn* column = reference != nullptr ? find_column(*outer, reference->column) : nullptr;
    if (column == nullptr || column->nullable || column->table == 0 || (oid != 0 && column->table != oid)) return false;
    oid = column->table;
    referenced[column->attribute] = number;
  }
  const sql::TableDef* table = oid != 0 ? table_with(*outer, oid) : nullptr;
  if (table == nullptr || referenced.size() != conditions.size()) return false;
  return std::ranges::any_of(table->foreign_keys, [&](const sql::ForeignKeyDef& key) {
    if (key.referenced != scan->table->oid || key.deferrable || key.not_valid || key.columns.size() != referenced.size()) return false;
    for (std::size_t i = 0; i < key.columns.size(); ++i) {
      const auto found = referenced.find(key.columns[i]);
      if (found == referenced.end() || found->second != key.referenced_columns[i]) return false;
    }
    return true;
  });
}

/// Returns true if the plan reads a few rows of its table, found by an index.
bool reads_few(const PhysicalNode& node) {
  const PhysicalNode& below = below_row_wise(node);
  return std::holds_alternative<KeyLookup>(below.node) || std::holds_alternative<UniqueLookup>(below.node);
}
bool looks_up_part(const PhysicalNode& node) {
  const PhysicalNode& below = below_row_wise(node);
  const auto* whole = std::get_if<FullScan>(&below.node);
  return reads_few(below) || std::holds_alternative<SetScan>(below.node) || std::holds_alternative<IndexCount>(below.node) ||
         std::holds_alternative<IndexKeys>(below.node) || (whole != nullptr && !whole->key_start.empty());
}

/// Returns true if a cardinality says for each outer row whether it passes.
bool asks_for_count(const PhysicalNode& node) {
  const auto* filter = std::get_if<PhysicalFilter>(&node.node);
  const auto* apply = filter != nullptr ? std::get_if<PhysicalApply>(&filter->input->node) : nullptr;
  return apply != nullptr && std::holds_alternative<IndexCount>(below_row_wise(*apply->subquery).node);
}

/// Returns true if the subquery gives exactly one row for each outer one.
bool gives_one_row(const Logical& subquery) {
  if (const auto* project = std::get_if<LogicalProject>(&subquery.node)) return gives_one_row(*project->input);
  const auto* aggregate = std::get_if<LogicalAggregate>(&subquery.node);
  return aggregate != nullptr && aggregate->scalar;
}

/// The rows of the largest table that has been counted.
double largest_table(const Logical& node) {
  double rows = 0;
  if (const auto* scan = std::get_if<LogicalScan>(&node.node)) rows = scan->table_rows;
  for (const LogicalPtr& input : inputs_of(node)) rows = std::max(rows, largest_table(*input));
  return rows;
}

std::vector<LogicalColumn> columns_in_both(const std::vector<LogicalColumn>& columns, const Planned& one, const Planned& other) {
  std::vector<LogicalColumn> both;
  for (const LogicalColumn& column : columns) {
    const auto has = [&](const Planned& planned) { return std::ranges::find(planned.ids, column.id) != planned.ids.end(); };
    if (has(one) && has(other)) both.push_back(column);
  }
  return both;
}

}  // namespace

bool is_limited(const Logical& node) {
  if (const auto* limit = std::get_if<LogicalLimit>(&node.node)) return !limit->with_ties && is_moderate({limit->limit, limit->offset});
  if (const auto* apply = std::get_if<LogicalApply>(&node.node)) return apply->kind != LogicalApply::Kind::kLateral && is_limited(*apply->input);
  const auto* project = std::get_if<LogicalProject>(&node.node);
  return project != nullptr && is_limited(*project->input);
}

bool reads_whole_table(const PhysicalNode& plan) { return !all_nodes(plan, is_bounded_scan); }

bool is_walk(const PhysicalNode& node) {
  if (const auto* sort = std::get_if<PhysicalSort>(&node.node); sort != nullptr && sort->goal.open) return true;
  if (const auto* scan = std::get_if<OrderedScan>(&node.node)) return scan->in_order && scan->goal;
  return keeps_order(node) && is_walk(*inputs_of(node).front());
}

std::optional<Planned> PhysicalPlanner::plan_in_order(const LogicalPtr& rows, const std::vector<SortKey>& keys, const Wish& wish) {
  if (!wish.goal) {
    if (sorts_outer_ && !has_lookups(*rows)) return plan_sorted_outer(rows, keys, wish);
    Planned walk = plan(rows, Wish{keys, {}, wish.needed, wish.window});
    if (walk.ordered == 0 || !is_walk(*walk.plan)) return {};
    walk.limited = false;
    return sorted(std::move(walk), keys, {});
  }
  LogicalPtr in_order = keys.empty() ? rows : make_logical(LogicalSort{rows, keys}, rows->columns);
  if (wish.goal.exact) in_order = make_logical(LogicalLimit{in_order, wish.goal.limit, wish.goal.offset}, rows->columns);
  Planned planned = plan(in_order, wish.goal.exact ? Wish{{}, {}, wish.needed} : Wish{keys, wish.goal, wish.needed});
  planned.ordered = keys.size();
  planned.limited = wish.goal.exact;
  return planned;
}

std::optional<Planned> PhysicalPlanner::plan_sorted_outer(const LogicalPtr& rows, const std::vector<SortKey>& keys, const Wish& wish) {
  Planned planned = plan(rows, Wish{{}, {}, wish.needed});
  if (reads_whole_table(*planned.plan)) return {};
  planned.ordered = 0;
  RowGoal first = wish.window;
  first.open = true;
  planned = sorted(std::move(planned), keys, first);
  planned.walk.reset();
  return planned;
}

std::optional<Planned> PhysicalPlanner::plan_over_sorted(const LogicalSort& sort, const Wish& below) {
  if (!walks_ || sorts_outer_ || !is_moderate(below.goal) || !has_lookups(*sort.input)) return {};
  sorts_outer_ = true;
  Planned planned = plan(sort.input, Wish{sort.keys, {}, below.needed, below.goal});
  sorts_outer_ = false;
  if (planned.ordered == 0 || !is_walk(*planned.plan)) return {};
  planned.walk.reset();
  planned.limited = false;
  return planned;
}

std::optional<Planned> PhysicalPlanner::plan_join_in_order(const Logical& node, const LogicalJoin& join, const Wish& wish) {
  const RowGoal& first = wish.goal.limit ? wish.goal : wish.window;
  const bool keeps_outer = join.kind == JoinKind::kLeft;
  const bool is_existence = join.kind == JoinKind::kSemi || join.kind == JoinKind::kAnti;
  if (!walks_ || wish.order.empty() || !is_moderate(first) || !join.condition || (join.kind != JoinKind::kInner && !keeps_outer && !is_existence)) return {};
  if (has_volatile(node)) return {};
  for (const bool from_right : {false, true}) {
    if (from_right && join.kind != JoinKind::kInner) continue;
    const LogicalPtr &outer = from_right ? join.right : join.left, &inner = from_right ? join.left : join.right;
    const std::set<ColumnId> outer_ids = ids_of(*outer);
    const std::vector<SortKey> keys = keys_over(wish.order, outer_ids, &join, ids_of(*inner));
    const LogicalScan* scan = scan_of(*inner);
    if (keys.empty() || scan == nullptr) continue;
    const bool is_referenced = join.kind == JoinKind::kInner && is_by_foreign_key(join, outer, inner);
    const bool is_single = is_referenced || hold_key(*scan->table, columns_of_join(join, inner, outer_ids));
    Wish sides;
    sides.needed = wish.needed ? *wish.needed : ids_of(node);
    sides.needed->merge(columns_in(*join.condition));
    Wish below{{}, {}, sides.needed};
    for (const SortKey& key : keys) below.needed->merge(columns_in(*key.expression));
    if (wish.goal.limit && keys.size() == wish.order.size() && (keeps_outer || is_referenced)) {
      below.goal = wish.goal;
      below.goal.exact = wish.goal.exact && is_single;
    } else {
      below.window = first;
    }
    std::optional<Planned> from = plan_in_order(outer, keys, below);
    const bool is_cut = !from && wish.goal.limit && keys.size() == wish.order.size();
    if (is_cut) {
      below.goal = with_more_rows(wish.goal);
      if (below.goal) from = plan_in_order(outer, keys, below);
      if (from && !reads_first_rows(*from->plan)) from.reset();
    }
    if (!from) continue;
    const Planned whole = plan(inner, sides);
    if (below.window && !keeps_outer && reads_few(*whole.plan)) continue;  // these rows find the few outer ones
    std::optional<Planned> joined = is_existence ? plan_existence_join(join, *from) : std::nullopt;
    if (!joined || !asks_for_count(*joined->plan)) {
      if (auto lookup = plan_lookup_join(join, outer, *from, inner, whole, Cardinality(node), LookupChoice::kWindow)) joined = *std::move(lookup);
    }
    if (!joined) continue;
    joined->ordered = keys.size();
    joined->limited = from->limited;
    if (is_cut) {
      joined->walk = Walk{.is_cut = true};
      return joined;
    }
    if (!below.window) return joined;
    joined->walk = from->walk;
    const bool drops = !keeps_outer && !is_referenced;
    if (!drops || joined->walk) return joined;
    joined->walk.emplace();
    const bool is_counted = !std::holds_alternative<LogicalScan>(inner->node) && join.kind != JoinKind::kAnti;
    const double outer_rows = largest_table(*outer);
    if (is_counted && scan->table_rows > 0 && outer_rows > 0) {
      // A row of a semi-join passes by one of the counted rows at most.
      if (is_existence) joined->walk = Walk{inner, outer_rows, 1};
      else joined->walk = Walk{inner, scan->table_rows, outer_rows / scan->table_rows};
    }
    return joined;
  }
  return {};
}

std::optional<Planned> PhysicalPlanner::plan_existence_join(const LogicalJoin& join, const Planned& outer) {
  const auto* filter = std::get_if<LogicalFilter>(&join.right->node);
  if (filter != nullptr && filter->barrier && !is_leakproof(*join.condition)) return {};
  PhysicalApply apply{LogicalApply::Kind::kExists, JoinKind::kInner, outer.plan, nullptr, nullptr, false, {}};
  std::map<ColumnId, std::uint32_t> slots;
  const ExpressionPtr condition = sql::map_columns(join.condition, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
    const auto position = std::ranges::find(outer.ids, column.column);
    if (position == outer.ids.end()) return sql::make_column(whole.type, column.column, column.name);
    const auto [slot, is_new] = slots.try_emplace(column.column, next_slot_);
    if (is_new) apply.correlations.push_back({next_slot_++, static_cast<std::size_t>(position - outer.ids.begin())});
    return sql::make_expression(whole.type, sql::ParameterRef{slot->second}, whole.offset);
  });
  std::vector<ExpressionPtr> conditions = conditions_of(filter != nullptr ? filter->condition : nullptr);
  std::ranges::copy(conditions_of(condition), std::back_inserter(conditions));
  const LogicalPtr& rows = filter != nullptr ? filter->input : join.right;
  LogicalFilter filtered_rows{rows, sql::conjunction(std::move(conditions)), filter != nullptr && filter->barrier};
  const Planned subquery = plan_existence(make_logical(std::move(filtered_rows), rows->columns));
  if (!looks_up_part(*subquery.plan)) return {};
  apply.subquery = subquery.plan;
  auto columns = outer.plan->columns;
  columns.push_back({"exists", sql::kBool, 0, 0});
  ExpressionPtr test = sql::make_column(sql::kBool, static_cast<std::uint32_t>(outer.ids.size()), "exists");
  if (join.kind == JoinKind::kAnti) test = sql::make_expression(sql::kBool, sql::Logical{sql::Logical::Kind::kNot, {std::move(test)}});
  Planned planned{make_physical(std::move(apply), columns), outer.ids};
  planned.ids.push_back(next_column_++);
  planned.plan = make_physical(PhysicalFilter{planned.plan, std::move(test)}, std::move(columns));
  return planned;
}

PhysicalPlan PhysicalPlanner::plan_count(const LogicalPtr& rows) {
  if (!index_answers_ || !changed_tables_.empty()) return nullptr;
  LogicalAggregate count{rows, {}, {}, true};
  count.calls.push_back({.function = sql::resolve_aggregate("count", {}).function});
  const LogicalPtr node = make_logical(std::move(count), {{next_column_++, "count", sql::kInt8, false}});
  const auto planned = plan_index_aggregate(*node, std::get<LogicalAggregate>(node->node));
  return planned && std::holds_alternative<IndexCount>(planned->plan->node) ? planned->plan : nullptr;
}

PhysicalPlan PhysicalPlanner::plan_count_of_one(const LogicalPtr& rows) {
  if (PhysicalPlan count = plan_count(rows)) return count;
  const std::optional<ScanPattern> pattern = match_scan(rows);
  if (!pattern || pattern->barrier) return nullptr;
  const LogicalPtr scan = make_logical(*pattern->scan, *pattern->columns);
  for (const ExpressionPtr& condition : pattern->conditions) {
    if (PhysicalPlan count = plan_count(make_logical(LogicalFilter{scan, condition}, *pattern->columns))) return count;
  }
  return nullptr;
}

Planned PhysicalPlanner::plan_existence(const LogicalPtr& subquery) {
  const RowGoal one{sql::make_constant(sql::kInt8, std::int64_t{1}), nullptr};
  Planned rows = plan(subquery, Wish{{}, one});
  if (reads_few(*rows.plan)) return rows;
  const PhysicalPlan count = plan_count(subquery);
  if (!count) return rows;
  const ExpressionPtr zero = sql::make_constant(sql::kInt8, std::int64_t{0});
  const std::vector<sql::ExpressionPtr> arguments{sql::make_column(sql::kInt8, 0, "count"), zero};
  const sql::ScalarFunction* more = sql::resolve_operator(">", sql::kInt8, sql::kInt8).function;
  ExpressionPtr is_there = sql::make_expression(sql::kBool, sql::FunctionCall{more, arguments});
  return {make_physical(PhysicalFilter{count, std::move(is_there)}, count->columns), {next_column_++}};
}

std::optional<Planned> PhysicalPlanner::plan_apply_in_order(const Logical& node, const LogicalApply& apply, const Wish& wish) {
  const RowGoal& first = wish.goal.limit ? wish.goal : wish.window;
  if (!walks_ || !is_moderate(first) || is_one_row(*apply.input) || has_volatile(*apply.input)) return {};
  const bool is_lateral = apply.kind == LogicalApply::Kind::kLateral;
  const bool is_single = !is_lateral || gives_one_row(*apply.subquery);
  const bool keeps_outer = is_single || apply.join == JoinKind::kLeft;
  const std::vector<SortKey> keys = keys_over(wish.order, ids_of(*apply.input), nullptr, {});
  Wish below;
  below.needed = wish.needed ? *wish.needed : ids_of(node);
  for (const SortKey& key : keys) below.needed->merge(columns_in(*key.expression));
  for (const auto& correlation : apply.correlations) below.needed->insert(correlation.column);
  if (apply.comparison) below.needed->merge(columns_in(*apply.comparison));
  if (wish.goal.limit && keys.size() == wish.order.size() && keeps_outer) {
    below.goal = wish.goal;
    below.goal.exact = wish.goal.exact && is_single;
    if (!below.goal.exact && keys.empty()) return {};
  } else if (keys.empty()) {
    return {};
  } else {
    below.window = first;
  }
  std::optional<Planned> from = plan_in_order(apply.input, keys, below);
  if (!from) return {};
  const std::optional<Walk> walk = from->walk;
  const bool is_limited = from->limited;
  auto grouped = plan_grouped_lookups(node, apply, *from);
  Planned planned = grouped ? *std::move(grouped) : plan_apply_over(node, apply, *std::move(from), {});
  if (!grouped && !apply.correlations.empty() && reads_whole_table(*std::get<PhysicalApply>(planned.plan->node).subquery)) return {};
  planned.ordered = keys.size();
  planned.limited = is_limited;
  if (!below.window) return planned;
  planned.walk = walk;
  if (!keeps_outer && !planned.walk) planned.walk.emplace();
  return planned;
}

std::optional<Planned> PhysicalPlanner::plan_groups_in_order(const Logical& node, const LogicalAggregate& aggregate, const Wish& wish) {
  const RowGoal& first = wish.goal.limit ? wish.goal : wish.window;
  if (!walks_ || wish.order.empty() || !is_moderate(first) || aggregate.scalar || has_volatile(node)) return {};
  if (sorts_outer_ && !has_lookups(*aggregate.input)) return {};  // nothing is looked up for the rows
  std::vector<SortKey> keys;
  std::set<std::size_t> ordered;  // groups' columns
  for (const SortKey& key : wish.order) {
    const auto* column = column_ref(key.expression);
    const auto position = column != nullptr ? std::ranges::find(node.columns, column->column, &LogicalColumn::id) - node.columns.begin() : 0;
    if (column == nullptr || static_cast<std::size_t>(position) >= aggregate.group_by.size()) return {};
    ordered.insert(static_cast<std::size_t>(position));
    keys.push_back({aggregate.group_by[static_cast<std::size_t>(position)], key.descending, key.nulls_first});
  }
  for (std::size_t i = 0; i < aggregate.group_by.size(); ++i) {
    if (!ordered.contains(i)) keys.push_back({aggregate.group_by[i]});
  }
  Wish below{{}, {}, columns_read(aggregate), first};
  std::optional<Planned> from = plan_in_order(aggregate.input, keys, below);
  if (const LogicalPtr joined = from ? nullptr : with_referenced_rows(aggregate.input, keys.front())) from = plan_in_order(joined, keys, below);
  if (!from) return {};
  const std::optional<Walk> walk = from->walk;
  Planned planned = plan_aggregate_over(node, aggregate, *std::move(from));
  PhysicalNode groups = *planned.plan;
  std::get<PhysicalAggregate>(groups.node).in_order = true;
  planned.plan = std::make_shared<const PhysicalNode>(std::move(groups));
  planned.ordered = wish.order.size();
  planned.walk = walk;
  return planned;
}

LogicalPtr PhysicalPlanner::with_referenced_rows(const LogicalPtr& rows, const SortKey& key) {
  const LogicalScan* scan = scan_of(*rows);
  const auto* referring = column_ref(key.expression);
  const LogicalColumn* column = referring != nullptr ? find_column(*rows, referring->column) : nullptr;
  if (catalog_ == nullptr || scan == nullptr || column == nullptr || column->nullable || scan->table->is_mapped() || !changed_tables_.empty()) return nullptr;
  for (const sql::ForeignKeyDef& foreign : scan->table->foreign_keys) {
    if (foreign.columns != std::vector{column->attribute} || foreign.deferrable || foreign.not_valid) continue;
    const sql::CatalogSnapshot::TablePtr table = catalog_->find_table(foreign.referenced);
    if (!table || table->is_mapped() || !table->parts.empty() || table->rows_expire() || table->primary_key != foreign.referenced_columns) continue;
    const std::int16_t number = table->primary_key.front();
    const sql::ColumnDef& of_key = *table->find_column(number);
    if (of_key.type.oid != column->type.oid || !ordered_source(*table, number)) continue;
    if (!reads_whole_table(*plan(rows).plan)) return nullptr;  // an index finds the few rows
    const LogicalPtr keys = make_logical(LogicalScan{table, table->name, {number}}, {{next_column_++, of_key.name, of_key.type, false, table->oid, number}});
    const sql::ScalarFunction* equal = &sql::equality_operator(of_key.type);
    const std::vector<ExpressionPtr> sides{reference(keys->columns.front()), key.expression};
    return make_join(JoinKind::kInner, keys, rows, sql::make_expression(sql::kBool, sql::FunctionCall{equal, sides}));
  }
  return nullptr;
}

std::optional<Planned> PhysicalPlanner::plan_walk_beside(const LogicalSort& sort, const Wish& below, const Planned& planned) {
  if (!walks_ || planned.ordered > 0 || !is_moderate(below.goal) || has_volatile(*sort.input)) return {};
  const std::optional<ScanPattern> pattern = match_scan(sort.input);
  if (!pattern) return {};
  const bool reads_range = std::holds_alternative<OrderedScan>(below_row_wise(*planned.plan).node);
  const LogicalPtr rows = reads_range ? sort.input : with_referenced_rows(sort.input, sort.keys.front());
  if (!rows) return {};
  Planned walk = plan(rows, Wish{sort.keys, {}, below.needed, below.goal});
  if (walk.ordered == 0 || !is_walk(*walk.plan)) return {};
  if (reads_range) walk.walk = Walk{sort.input, pattern->scan->table_rows};
  if (!walk.walk) walk.walk.emplace();
  return walk;
}

Planned PhysicalPlanner::plan_choice(const LogicalSort& sort, const Wish& below, Planned walk) {
  const Walk known = *std::exchange(walk.walk, std::nullopt);
  const bool walked = std::exchange(walks_, false);
  Wish in_any_order = below;
  in_any_order.goal.exact = false;
  Planned otherwise = plan(sort.input, in_any_order);
  walks_ = walked;
  const bool is_small = reads_few(*otherwise.plan);
  if (!is_small) {
    if (auto over_sorted = plan_over_sorted(sort, below)) otherwise = *std::move(over_sorted);
  }
  if (is_small) return sorted(std::move(otherwise), sort.keys, below.goal);
  const double rows = std::clamp(kShareOfWalk * largest_table(*sort.input), kLeastWalk, kMostWalked);
  walk = sorted(std::move(walk), sort.keys, below.goal);
  otherwise = sorted(std::move(otherwise), sort.keys, below.goal);
  const std::vector<LogicalColumn> columns = columns_in_both(sort.input->columns, walk, otherwise);
  walk = arrange(std::move(walk), columns);
  otherwise = arrange(std::move(otherwise), columns);
  Choice choice{nullptr, otherwise.plan, nullptr, known.counted_rows, known.rows_for_each, below.goal, known.is_cut};
  choice.goal.exact = false;
  if (known.counted && known.counted_rows > 0) choice.count = plan_count_of_one(known.counted);
  choice.walk = with_most_rows(walk.plan, static_cast<std::size_t>(choice.count ? kMostWalked : rows));
  return {make_physical(std::move(choice), physical_columns(columns)), column_ids(columns), sort.keys.size()};
}

}  // namespace redquel::planner
