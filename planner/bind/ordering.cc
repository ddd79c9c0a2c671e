#include "planner/bind/ordering.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/deparse.h"
#include "planner/bind/collation.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/name_lookup.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/subquery_placement.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

bool is_other_constant(const ast::Expression& expression) {
  return std::holds_alternative<ast::StringLiteral>(expression.node) ||
         std::holds_alternative<ast::NullLiteral>(expression.node) ||
         std::holds_alternative<ast::NumericLiteral>(expression.node) ||
         std::holds_alternative<ast::BooleanLiteral>(expression.node) ||
         std::holds_alternative<ast::BitStringLiteral>(expression.node);
}

bool has_conflict(const sql::Expression& value) { return value.collation.strength == sql::Collation::Strength::kConflict; }

}  // namespace

SortOrder sort_order(const ast::SortKey& key, sql::Type type) {
  SortOrder order;
  order.descending = key.direction == ast::SortDirection::kDescending;
  if (key.direction == ast::SortDirection::kUsing) {
    const std::string& name = key.using_operator.back();
    const bool is_pattern_order = name == "~<~" || name == "~>~";  // all texts are ordered by their bytes
    if (name != "<" && name != ">") sql::resolve_operator(name, type, type, key.offset);
    if (name != "<" && name != ">" && !is_pattern_order) {
      throw SqlError(sqlstate::kWrongObjectType, fmt::format("operator {} is not a valid ordering operator", name))
          .hint("Ordering operators must be \"<\" or \">\" members of btree operator families.")
          .at(key.offset);
    }
    order.descending = name == ">" || name == "~>~";
  }
  order.nulls_first = key.nulls == ast::SortNulls::kDefault ? order.descending : key.nulls == ast::SortNulls::kFirst;
  return order;
}

std::size_t TargetList::visible() const {
  return static_cast<std::size_t>(std::ranges::count(targets_, false, &Target::junk));
}

std::size_t TargetList::settle(std::size_t index, Clause clause) {
  if (clause == Clause::kGroupBy) check_groupable(*targets_[index].value);
  targets_[index].value = resolve_unknown(state_, targets_[index].value);
  return index;
}

void TargetList::check_groupable(const sql::Expression& value) const {
  std::vector<std::uint32_t> used;
  sql::collect_columns(value, used);
  for (const std::uint32_t column : used) {
    if (const PendingAggregate* aggregate = level_.find_aggregate(column)) {
      throw SqlError(sqlstate::kGroupingError, "aggregate functions are not allowed in GROUP BY").at(aggregate->offset);
    }
    if (level_.is_window_call(column)) throw SqlError(sqlstate::kWindowingError, "window functions are not allowed in GROUP BY").at(value.offset);
  }
}

std::vector<std::pair<std::string, ExpressionPtr>> TargetList::with_subqueries() const {
  std::vector<std::pair<std::string, ExpressionPtr>> found;
  for (const Target& target : targets_) {
    if (target.written != nullptr && needs_subquery(level_, *target.value)) found.emplace_back(parser::to_sql(*target.written), target.value);
  }
  return found;
}

std::optional<std::size_t> TargetList::find_with_subqueries(const ast::Expression& item) const {
  std::optional<std::string> text;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (targets_[i].written == nullptr || !needs_subquery(level_, *targets_[i].value)) continue;
    if (!text) text = parser::to_sql(item);
    if (parser::to_sql(*targets_[i].written) == *text) return i;
  }
  return std::nullopt;
}

std::size_t TargetList::find_or_add(const ast::Expression& item, Clause clause) {
  const auto offset = state_.position(item.start);
  if (const auto* column = std::get_if<ast::ColumnRef>(&item.node);
      column && column->names.size() == 1 && !column->star) {
    const std::string& name = column->names[0];
    // SQL99's input columns win in GROUP BY, SQL92's output columns in ORDER BY and DISTINCT ON.
    if (clause != Clause::kGroupBy || !find_local_column(level_, name, offset)) {
      std::optional<std::size_t> found;
      for (std::size_t i = 0; i < targets_.size(); ++i) {
        if (targets_[i].junk || targets_[i].name != name) continue;
        if (found && !sql::equal(*targets_[*found].value, *targets_[i].value)) {
          throw SqlError(sqlstate::kAmbiguousColumn, fmt::format("{} \"{}\" is ambiguous", clause_name(clause), name)).at(offset);
        }
        if (!found) found = i;
      }
      if (found) return settle(*found, clause);
    }
  }
  if (const auto* ordinal = std::get_if<ast::IntegerLiteral>(&item.node)) {
    if (ordinal->value >= 1 && static_cast<std::size_t>(ordinal->value) <= visible()) {
      return settle(static_cast<std::size_t>(ordinal->value) - 1, clause);
    }
    throw SqlError(sqlstate::kInvalidColumnReference, fmt::format("{} position {} is not in select list", clause_name(clause), ordinal->value))
        .at(offset);
  }
  if (is_other_constant(item)) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("non-integer constant in {}", clause_name(clause))).at(offset);
  }
  if (const auto same = find_with_subqueries(item)) return settle(*same, clause);
  Scoped scope(level_.clause, clause);
  const ExpressionPtr value = ExpressionBinder(state_, level_).bind(item);
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    // COLLATE makes another key only where it settles a conflict: all collations order alike.
    const bool is_same = sql::equal(*targets_[i].value, *value) && has_conflict(*targets_[i].value) == has_conflict(*value);
    if (is_same) return settle(i, clause);
  }
  targets_.push_back({"?column?", value, true, &item});
  return settle(targets_.size() - 1, clause);
}

void bind_order_by(BindState& state, TargetList& targets, QueryTail& tail, const ast::Select& select) {
  tail.has_order_by = !select.order_by.empty();
  for (const ast::SortKey& key : select.order_by) {
    const std::size_t target = targets.find_or_add(*key.value, Clause::kOrderBy);
    if (state.names != nullptr && select.set_operator != ast::SetOperator::kNone) state.names->sort_positions[key.value.get()] = target + 1;
    const sql::Expression& value = *targets.items()[target].value;
    const SortOrder order = sort_order(key, value.type);
    sql::ordering_operator(value.type, order.descending, value.offset);
    check_key_collation(value);
    // A key that was given before cannot order anything any more.
    if (std::ranges::find(tail.order_by, target, &QueryTail::Key::target) == tail.order_by.end()) {
      tail.order_by.push_back({target, order});
    }
  }
}

namespace {

void bind_distinct_on(BindState& state, TargetList& targets, QueryTail& tail, const ast::Select& select) {
  const auto mismatch = [](std::optional<std::uint32_t> offset) {
    return SqlError(sqlstate::kInvalidColumnReference, "SELECT DISTINCT ON expressions must match initial ORDER BY expressions").at(offset);
  };
  std::vector<std::optional<std::uint32_t>> offsets;
  for (const ast::ExpressionPtr& item : select.distinct_on) {
    const std::size_t target = targets.find_or_add(*item, Clause::kDistinctOn);
    const sql::Expression& value = *targets.items()[target].value;
    sql::equality_operator(value.type, value.offset);
    check_key_collation(value);
    if (std::ranges::find(tail.distinct_on, target) != tail.distinct_on.end()) continue;
    tail.distinct_on.push_back(target);
    offsets.push_back(state.position(item->start));
  }
  bool skipped = false;
  std::vector<bool> ordered(tail.distinct_on.size(), false);
  for (const QueryTail::Key& key : tail.order_by) {
    const auto found = std::ranges::find(tail.distinct_on, key.target);
    if (found == tail.distinct_on.end()) {
      skipped = true;
      continue;
    }
    const auto index = static_cast<std::size_t>(found - tail.distinct_on.begin());
    if (skipped) throw mismatch(offsets[index]);
    ordered[index] = true;
  }
  // Adds the columns that ORDER BY does not mention to the sort, so that equal rows are adjacent.
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (ordered[i]) continue;
    if (skipped) throw mismatch(offsets[i]);
    tail.order_by.push_back({tail.distinct_on[i], {}});
  }
}

/// LIMIT's or OFFSET's bigint, which no row of the query may decide.
ExpressionPtr bind_count(BindState& state, QueryLevel& level, const ast::ExpressionPtr& expression, Clause clause) {
  if (!expression || std::holds_alternative<ast::NullLiteral>(expression->node)) return nullptr;
  Scoped scope(level.clause, clause);
  const ExpressionPtr bound = ExpressionBinder(state, level).bind(*expression);
  const ExpressionPtr count = try_coerce(state, bound, sql::kInt8, sql::CastContext::kAssignment);
  if (!count) {
    throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("argument of {} must be type bigint, not type {}", clause_name(clause),
                                                            sql::format_type(sql::Type{bound->type.oid})))
        .at(bound->offset);
  }
  std::vector<ColumnId> columns;
  sql::collect_columns(*count, columns);
  for (ColumnId id : columns) {
    const PendingSubquery* subquery = level.find_subquery(id);
    if (subquery == nullptr || !subquery->correlations.empty()) {
      throw SqlError(sqlstate::kInvalidColumnReference, fmt::format("argument of {} must not contain variables", clause_name(clause)))
          .at(bound->offset);
    }
  }
  return count;
}

}  // namespace

void bind_distinct(BindState& state, TargetList& targets, QueryTail& tail, const ast::Select& select) {
  if (!select.distinct && select.distinct_on.empty()) return;
  if (!select.distinct_on.empty()) return bind_distinct_on(state, targets, tail, select);
  tail.distinct = true;
  for (Target& target : targets.items()) {
    if (target.junk) continue;
    target.value = resolve_unknown(state, target.value);
    sql::equality_operator(target.value->type, target.value->offset);
    check_key_collation(*target.value);
  }
  for (const QueryTail::Key& key : tail.order_by) {
    const Target& target = targets.items()[key.target];
    if (!target.junk) continue;
    throw SqlError(sqlstate::kInvalidColumnReference, "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
        .at(target.value->offset);
  }
}

void bind_limit(BindState& state, QueryLevel& level, QueryTail& tail, const ast::Select& select) {
  tail.offset = bind_count(state, level, select.limit_offset, Clause::kOffset);
  tail.limit = bind_count(state, level, select.limit_count, Clause::kLimit);
  tail.with_ties = select.with_ties;
  if (tail.with_ties && !tail.limit) {
    throw SqlError(sqlstate::kInvalidRowCountInLimitClause, "row count cannot be null in FETCH FIRST ... WITH TIES clause");
  }
}

}  // namespace redquel::planner
