#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/expression_binder.h"
#include "planner/bind/from_binder.h"
#include "planner/bind/name_lookup.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/relation_lookup.h"
#include "planner/bind/subquery_placement.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

JoinKind join_kind(ast::JoinKind kind) {
  switch (kind) {
    case ast::JoinKind::kLeft:
      return JoinKind::kLeft;
    case ast::JoinKind::kRight:
      return JoinKind::kRight;
    case ast::JoinKind::kFull:
      return JoinKind::kFull;
    case ast::JoinKind::kInner:
    case ast::JoinKind::kCross:
      return JoinKind::kInner;
  }
  return JoinKind::kInner;
}

/// Every column that a side offers without a qualifier, in order.
std::vector<RelationColumn> visible_columns(const Namespace& names) {
  std::vector<RelationColumn> columns;
  for (const NamespaceItem& item : names) {
    if (item.by_column) columns.insert(columns.end(), item.relation->columns.begin(), item.relation->columns.end());
  }
  return columns;
}

std::size_t find_using_column(const std::vector<RelationColumn>& columns, const std::string& name,
                              std::string_view side) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name != name) continue;
    if (found) {
      throw SqlError(sqlstate::kAmbiguousColumn, fmt::format("common column name \"{}\" appears more than once in {} table", name, side));
    }
    found = i;
  }
  if (found) return *found;
  throw SqlError(sqlstate::kUndefinedColumn, fmt::format("column \"{}\" specified in USING clause does not exist in {} table", name, side));
}

std::vector<std::string> natural_columns(const std::vector<RelationColumn>& left,
                                         const std::vector<RelationColumn>& right) {
  std::vector<std::string> names;
  for (const RelationColumn& column : left) {
    if (std::ranges::find(right, column.name, &RelationColumn::name) != right.end()) names.push_back(column.name);
  }
  return names;
}

bool is_column(const ExpressionPtr& value) { return std::holds_alternative<sql::ColumnRef>(value->node); }

}  // namespace

FromBinder::Merged FromBinder::merge_columns(const ast::Join& node, JoinKind kind, const FromPart& left,
                                             const FromPart& right) {
  std::vector<RelationColumn> left_columns = visible_columns(left.names), right_columns = visible_columns(right.names);
  const std::vector<std::string> names =
      node.natural ? natural_columns(left_columns, right_columns) : node.using_columns;
  Merged result{std::make_shared<Relation>(Relation{.name = "unnamed_join", .is_join = true}), names.size(), {}};
  std::vector<bool> left_merged(left_columns.size(), false), right_merged(right_columns.size(), false);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw SqlError(sqlstate::kDuplicateColumn, fmt::format("column name \"{}\" appears more than once in USING clause", names[i]));
    }
    const std::size_t l = find_using_column(left_columns, names[i], "left"),
                      r = find_using_column(right_columns, names[i], "right");
    left_merged[l] = right_merged[r] = true;
    mark_read(left_columns[l]);
    mark_read(right_columns[r]);
    const ExpressionPtr& left_value = left_columns[l].value;
    const ExpressionPtr& right_value = right_columns[r].value;
    result.conditions.push_back(make_operator(state_, "=", left_value, right_value, std::nullopt));
    const sql::Type type = common_type({left_value, right_value}, "JOIN/USING");
    const ExpressionPtr l_node = coerce(state_, left_value, type, sql::CastContext::kImplicit);
    const ExpressionPtr r_node = coerce(state_, right_value, type, sql::CastContext::kImplicit);
    ExpressionPtr merged = l_node;
    if (kind == JoinKind::kRight) merged = r_node;
    if (kind == JoinKind::kInner && !is_column(l_node) && is_column(r_node)) merged = r_node;
    if (kind == JoinKind::kFull) merged = sql::make_expression(type, sql::CoalesceCall{{l_node, r_node}});
    result.relation->columns.push_back({names[i], merged});
  }
  for (std::size_t i = 0; i < left_columns.size(); ++i) {
    if (!left_merged[i]) result.relation->columns.push_back(left_columns[i]);
  }
  for (std::size_t i = 0; i < right_columns.size(); ++i) {
    if (!right_merged[i]) result.relation->columns.push_back(right_columns[i]);
  }
  return result;
}

FromPart FromBinder::item(const ast::Join& node, std::uint32_t) {
  const JoinKind kind = join_kind(node.kind);
  FromPart left = bind_item(*node.left);
  FromPart right;
  {
    // The right side may look at the left one if it is LATERAL.
    const std::size_t before = level_.names.size();
    const bool lateral_ok = kind == JoinKind::kInner || kind == JoinKind::kLeft;
    for (NamespaceItem item : left.names) {
      item.lateral_only = true;
      item.lateral_ok = lateral_ok;
      level_.names.push_back(std::move(item));
    }
    right = bind_item(*node.right);
    level_.names.resize(before);
  }
  for (const NamespaceItem& a : left.names) {
    for (const NamespaceItem& b : right.names) {
      if (!a.by_name || !b.by_name || a.relation->name != b.relation->name) continue;
      if (!are_different_relations(*a.relation, *b.relation)) throw sql::table_name_listed_twice(a.relation->name);
    }
  }
  Merged merged = merge_columns(node, kind, left, right);
  if (state_.names != nullptr && node.natural) {
    std::vector<std::string>& natural = state_.names->natural_columns[&node];
    natural.clear();
    for (std::size_t i = 0; i < merged.merged; ++i) natural.push_back(merged.relation->columns[i].name);
  }
  const std::size_t left_count = left.names.size();
  Namespace both = left.names;
  both.insert(both.end(), right.names.begin(), right.names.end());
  if (node.on) {
    // ON sees the two sides and nothing else of this FROM clause.
    Scoped names(level_.names, both);
    Scoped clause(level_.clause, Clause::kJoinOn);
    merged.conditions.push_back(ExpressionBinder(state_, level_).bind_boolean(*node.on, "JOIN/ON"));
  }
  std::vector<LogicalColumn> columns;
  FromPart part = join(kind, std::move(left), std::move(right), sql::conjunction(std::move(merged.conditions)));

  for (std::size_t i = 0; i < both.size(); ++i) {
    const bool extended = kind == JoinKind::kFull || kind == (i < left_count ? JoinKind::kRight : JoinKind::kLeft);
    both[i].null_extended = both[i].null_extended || extended;
  }
  apply_alias(*merged.relation, node.alias);
  level_.range_table.push_back(merged.relation);
  if (node.alias) {
    both.clear();  // an alias hides what is inside
  } else {
    for (NamespaceItem& item : both) item.by_column = false;
  }
  part.names = std::move(both);
  if (!node.using_alias.empty() && !node.alias) {
    for (const NamespaceItem& item : part.names) {
      if (item.by_name && item.relation->name == node.using_alias) {
        throw sql::table_name_listed_twice(node.using_alias);
      }
    }
    auto only_merged = std::make_shared<Relation>(Relation{.name = node.using_alias, .aliased = true, .is_join = true});
    only_merged->columns.assign(merged.relation->columns.begin(),
                                merged.relation->columns.begin() + static_cast<std::ptrdiff_t>(merged.merged));
    part.names.push_back({.relation = only_merged, .by_column = false});
    level_.unlockable.emplace_back(node.using_alias, "a join");
  }
  part.names.push_back({.relation = merged.relation, .by_name = node.alias.has_value()});
  return part;
}

FromPart FromBinder::join(JoinKind kind, FromPart left, FromPart right, const ExpressionPtr& condition) {
  FromPart result;
  result.lateral = std::move(left.lateral);
  CorrelationFrame here;
  const std::set<ColumnId> left_ids = ids_of(*left.plan);
  for (Correlation& entry : right.lateral) {
    (is_subset(columns_in(*entry.value), left_ids) ? here : result.lateral).push_back(std::move(entry));
  }
  result.plan = here.empty() ? plain_join(kind, std::move(left.plan), std::move(right.plan), condition)
                             : lateral_join(kind, std::move(left.plan), std::move(right.plan), here, condition);
  return result;
}

LogicalPtr FromBinder::plain_join(JoinKind kind, LogicalPtr left, LogicalPtr right, const ExpressionPtr& condition) {
  const auto comes_after = [&](const sql::Expression& part) { return needs_subquery(level_, part) || waits(part); };
  if (!condition || !comes_after(*condition)) return make_join(kind, std::move(left), std::move(right), condition);
  if (kind == JoinKind::kInner) {
    std::vector<ExpressionPtr> plain, others;
    for (const ExpressionPtr& conjunct : sql::split_conjunction(condition)) {
      (comes_after(*conjunct) ? others : plain).push_back(conjunct);
    }
    LogicalPtr joined = make_join(kind, std::move(left), std::move(right), sql::conjunction(std::move(plain)));
    return place_condition(state_, level_, std::move(joined), sql::conjunction(std::move(others)));
  }
  // The condition of an outer join cannot move: its subqueries are answered by one side alone, or for each pair of rows.
  for (ColumnId id : columns_in(*condition)) {
    const PendingSubquery* pending = level_.find_subquery(id);
    if (pending == nullptr) continue;
    std::set<ColumnId> needed = pending->comparison ? columns_in(*pending->comparison) : std::set<ColumnId>{};
    for (ColumnId own : ids_of(*pending->plan)) needed.erase(own);
    for (const Correlation& correlation : pending->correlations) needed.merge(columns_in(*correlation.value));
    const std::vector<ExpressionPtr> value = {sql::make_column(pending->type, id, pending->name)};
    if (is_subset(needed, ids_of(*right))) {
      right = place_subqueries(state_, level_, std::move(right), value);
    } else if (is_subset(needed, ids_of(*left))) {
      left = place_subqueries(state_, level_, std::move(left), value);
    } else if (kind == JoinKind::kFull) {
      throw sql::not_supported("subquery over both sides in the condition of FULL JOIN", condition->offset);
    } else {
      if (kind == JoinKind::kRight) std::swap(left, right);
      return lateral_join(JoinKind::kLeft, std::move(left), std::move(right), {}, condition);
    }
  }
  // A filter checks waiting conditions, for the rows of the other side that join each row.
  if (waits(*condition) && kind != JoinKind::kFull) {
    if (kind == JoinKind::kRight) std::swap(left, right);
    return lateral_join(JoinKind::kLeft, std::move(left), std::move(right), {}, condition);
  }
  return make_join(kind, std::move(left), std::move(right), condition);
}

LogicalPtr FromBinder::lateral_join(JoinKind kind, LogicalPtr left, LogicalPtr right, const CorrelationFrame& frame,
                                    const ExpressionPtr& condition) {
  CorrelationFrame slots = frame;
  LogicalApply apply{.kind = LogicalApply::Kind::kLateral};
  apply.join = kind;
  if (condition && kind == JoinKind::kLeft) {
    // Rows of the right side that do not satisfy the condition must vanish before the left row is given up for lost.
    const std::set<ColumnId> left_ids = ids_of(*left);
    const auto from_slots = [&](const ExpressionPtr& expression) {
      return sql::map_columns(expression, [&](const sql::Expression& whole, const sql::ColumnRef& column) {
        const ExpressionPtr value = sql::make_expression(whole.type, column, whole.offset);
        return left_ids.contains(column.column) ? correlate(state_, slots, value) : value;
      });
    };
    // Its subqueries are placed in the right side, too, and those that they need in turn.
    std::vector<ExpressionPtr> waiting = {condition};
    while (!waiting.empty()) {
      const ExpressionPtr expression = std::move(waiting.back());
      waiting.pop_back();
      for (ColumnId id : columns_in(*expression)) {
        PendingSubquery* pending = level_.find_subquery(id);
        if (pending == nullptr) continue;
        for (Correlation& correlation : pending->correlations) {
          waiting.push_back(correlation.value);
          correlation.value = from_slots(correlation.value);
        }
        if (!pending->comparison) continue;
        waiting.push_back(pending->comparison);
        pending->comparison = from_slots(pending->comparison);
      }
    }
    right = place_condition(state_, level_, std::move(right), from_slots(condition));
  }
  std::vector<ExpressionPtr> values;
  for (const Correlation& entry : slots) values.push_back(entry.value);
  const std::vector<ColumnId> ids = add_columns(state_, left, values);
  for (std::size_t i = 0; i < ids.size(); ++i) apply.correlations.push_back({slots[i].slot, ids[i]});
  std::vector<LogicalColumn> columns = left->columns;
  for (LogicalColumn column : right->columns) {
    column.nullable = column.nullable || kind == JoinKind::kLeft;
    columns.push_back(std::move(column));
  }
  apply.input = std::move(left);
  apply.subquery = std::move(right);
  LogicalPtr joined = make_logical(std::move(apply), std::move(columns));
  return kind == JoinKind::kInner ? place_condition(state_, level_, std::move(joined), condition) : joined;
}

}  // namespace redquel::planner
