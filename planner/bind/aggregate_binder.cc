#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/ast_walk.h"
#include "planner/bind/built_in_call.h"
#include "planner/bind/collation.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/name_lookup.h"
#include "planner/bind/named_arguments.h"
#include "planner/bind/ordering.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_walk.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/array_value.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::CastContext;
using sql::ExpressionPtr;
using sql::SqlError;

bool is_ordered_set(std::string_view aggregate) { return aggregate == "mode" || aggregate.starts_with("percentile_"); }

void check_aggregate_allowed(const QueryLevel& level, std::string_view what, std::optional<std::uint32_t> offset) {
  std::string place;
  switch (level.clause) {
    case Clause::kSelectList:
    case Clause::kHaving:
    case Clause::kOrderBy:
    case Clause::kDistinctOn:
    case Clause::kWindowPartition:
    case Clause::kWindowOrder:
      break;
    case Clause::kFrameRows:
    case Clause::kFrameRange:
    case Clause::kFrameGroups:
      place = fmt::format("window {}", clause_name(level.clause));
      break;
    case Clause::kFromSubquery:
      throw SqlError(sqlstate::kGroupingError, fmt::format("{} are not allowed in FROM clause of their own query level", what)).at(offset);
    default:
      place = clause_place(level.clause);
      break;
  }
  if (!place.empty())
    throw SqlError(sqlstate::kGroupingError, fmt::format("{} are not allowed in {}", what, place)).at(offset);
  if (level.inside_aggregate) throw SqlError(sqlstate::kGroupingError, "aggregate function calls cannot be nested").at(offset);
}

namespace {

/// The levels of the columns in an aggregate's arguments: how far out the innermost of them is.
class ColumnLevels {
 public:
  ColumnLevels(BindState& state, QueryLevel& level) : state_(state), level_(level) {}

  void visit(const ast::Expression& expression) {
    sql::check_stack_depth();
    if (const auto* column = std::get_if<ast::ColumnRef>(&expression.node)) {
      note(*column, expression);
    } else if (const auto* link = std::get_if<ast::SubLink>(&expression.node)) {
      visit_subquery(*link->query);
    }
    for_each_child(expression, [this](const ast::Expression& child) { visit(child); });
  }

  /// Returns true if a column is of that level.
  bool names(const QueryLevel& level) const {
    return (local_ && &level == &level_) || std::ranges::find(levels_, &level) != levels_.end();
  }

  QueryLevel& innermost() const {
    if (local_ || levels_.empty()) return level_;
    for (QueryLevel* level = &level_; level != nullptr; level = level->outer) {
      if (std::ranges::find(levels_, level) != levels_.end()) return *level;
    }
    return level_;
  }

 private:
  /// The outer columns of a subquery count as well: names of relations that are not its own. A column without a relation's name is assumed
  /// to be the subquery's own, unless this level has one of that name.
  void visit_subquery(const ast::Select& query) {
    const WrittenNames names = written_names(query);
    for (const ast::Expression* written : names.columns) {
      const auto& column = std::get<ast::ColumnRef>(written->node);
      const auto offset = state_.position(written->start);
      if (column.names.empty()) continue;  // *
      if (column.names.size() == 1 && !column.star) {
        local_ = local_ || find_local_column(level_, column.names[0], offset).has_value();
      } else if (!names.relations.contains(column.names[column.names.size() - (column.star ? 1 : 2)])) {
        note(column, *written);
      }
    }
  }

  void note(const ast::ColumnRef& column, const ast::Expression& whole) {
    const auto offset = state_.position(whole.start);
    const ColumnName name = split_column_name(state_, column.names, column.star, offset);
    if (name.relation.empty()) {
      if (const auto found = find_column(level_, name.column, offset)) levels_.push_back(found->level);
    } else if (const auto found = find_relation(state_, level_, name.schema, name.relation, offset)) {
      levels_.push_back(found->level);
    }
  }

  BindState& state_;
  QueryLevel& level_;
  std::vector<QueryLevel*> levels_;
  bool local_ = false;
};

bool same_call(const AggregateCall& a, const AggregateCall& b) {
  const auto same = [](const ExpressionPtr& x, const ExpressionPtr& y) {
    return (!x && !y) || (x && y && sql::equal(*x, *y));
  };
  return a.function == b.function && a.distinct == b.distinct && same(a.filter, b.filter) &&
         std::ranges::equal(a.arguments, b.arguments, same) &&
         std::ranges::equal(a.order_by, b.order_by, [&](const auto& x, const auto& y) {
           return same(x.expression, y.expression) && x.descending == y.descending && x.nulls_first == y.nulls_first;
         });
}

}  // namespace

QueryLevel& ExpressionBinder::aggregate_level(const ast::FunctionCall& function) {
  ColumnLevels levels(state_, level_);
  if (!function.within_group) {
    for (const ast::Argument& argument : function.arguments) levels.visit(*argument.value);
  }
  for (const ast::SortKey& key : function.order_by) levels.visit(*key.value);
  if (function.filter) levels.visit(*function.filter);
  QueryLevel& owner = levels.innermost();
  if (!function.within_group) return owner;
  // Direct arguments have no say in that; they must know what they name there.
  for (const ast::Argument& argument : function.arguments) {
    ColumnLevels direct(state_, level_);
    direct.visit(*argument.value);
    for (const QueryLevel* inner = &level_; inner != &owner; inner = inner->outer) {
      if (!direct.names(*inner)) continue;
      throw SqlError(sqlstate::kGroupingError, "outer-level aggregate cannot contain a lower-level variable in its direct arguments")
          .at(state_.position(argument.value->start));
    }
  }
  return owner;
}

QueryLevel& ExpressionBinder::grouping_level(const ast::GroupingCall& call) {
  ColumnLevels levels(state_, level_);
  for (const ast::ExpressionPtr& argument : call.arguments) levels.visit(*argument);
  return levels.innermost();
}

void check_within_group(const ast::FunctionCall& call, std::string_view name, std::optional<std::uint32_t> offset) {
  const bool ordered_set = is_ordered_set(name);
  if (call.within_group && !ordered_set) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("{} is not an ordered-set aggregate, so it cannot have WITHIN GROUP", name)).at(offset);
  }
  if (!call.within_group && ordered_set) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("WITHIN GROUP is required for ordered-set aggregate {}", name)).at(offset);
  }
}

void check_star(const ast::FunctionCall& call, std::optional<std::uint32_t> offset) {
  if (call.star || !call.arguments.empty() || call.within_group) return;
  throw SqlError(sqlstate::kWrongObjectType,
                 fmt::format("{}(*) must be used to call a parameterless aggregate function", fmt::join(call.name, ".")))
      .at(offset);
}

ExpressionPtr ExpressionBinder::bind_aggregate(const ast::FunctionCall& function, const std::string& name,
                                               const Whole& whole) {
  const auto offset = token(whole);
  QueryLevel& owner = aggregate_level(function);
  ExpressionBinder binder(state_, owner);
  AggregateCall call{.function = nullptr, .distinct = function.distinct};
  Operands arguments, keys;
  std::optional<Scoped<bool>> inside(std::in_place, owner.inside_aggregate, true);
  for (const ast::Argument& argument : function.arguments) arguments.push_back(binder.bind(*argument.value));
  if (function.within_group) {
    for (const ast::SortKey& key : function.order_by) keys.push_back(binder.bind(*key.value));
  }
  if (function.filter) {
    // The filter of an aggregate that belongs to an outer query counts as inside of that aggregate.
    const bool is_own = &owner == &level_;
    Scoped clause(owner.clause, is_own ? Clause::kFilter : owner.clause);
    Scoped outside(owner.inside_aggregate, !is_own);
    call.filter = binder.bind_boolean(*function.filter, "FILTER");
  }
  arguments = arrange_arguments(state_, name, function.arguments, std::move(arguments), offset);
  arguments.insert(arguments.end(), keys.begin(), keys.end());
  std::vector<sql::Type> types;
  for (const ExpressionPtr& argument : arguments) types.push_back(argument->type);
  const sql::ResolvedAggregate resolved = sql::resolve_aggregate(name, types, offset);
  require_execute(state_, name, resolved.function->arguments);
  check_within_group(function, name, offset);
  check_star(function, offset);
  call.function = resolved.function;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    call.arguments.push_back(coerce(state_, arguments[i], resolved.arguments[i], CastContext::kImplicit));
  }
  for (std::size_t i = 0; i < function.order_by.size(); ++i) {
    const ast::SortKey& key = function.order_by[i];
    const ExpressionPtr known = resolve_unknown(state_, function.within_group ? keys[i] : binder.bind(*key.value));
    const SortOrder order = sort_order(key, known->type);
    call.order_by.push_back({known, order.descending, order.nulls_first});
  }
  inside.reset();
  if (call.distinct) {
    for (const ExpressionPtr& argument : call.arguments) {
      sql::equality_operator(argument->type, argument->offset);
      check_key_collation(*argument);
    }
  }
  const bool ordered_set = is_ordered_set(name);
  if (ordered_set) {
    call.order_by.back().expression = call.arguments.back();
  } else {
    // A key that is an argument means it as the aggregate takes it: string_agg(DISTINCT varchar, ',' ORDER BY varchar).
    for (auto& order : call.order_by) {
      const auto same = std::ranges::find_if(arguments, [&](const ExpressionPtr& argument) { return sql::equal(*argument, *order.expression); });
      if (same != arguments.end()) order.expression = call.arguments[static_cast<std::size_t>(same - arguments.begin())];
    }
  }
  for (const auto& order : call.order_by) {
    sql::ordering_operator(order.expression->type, order.descending, order.expression->offset);
    check_key_collation(*order.expression);
    const bool listed = std::ranges::any_of(
        call.arguments, [&](const ExpressionPtr& argument) { return sql::equal(*argument, *order.expression); });
    if (call.distinct && !listed) {
      throw SqlError(sqlstate::kInvalidColumnReference, "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list")
          .at(order.expression->offset);
    }
  }
  check_aggregate_allowed(owner, "aggregate functions", offset);
  PendingAggregate pending;
  // min and max of a char(n) are one of its values: without blanks until they leave the aggregate.
  pending.type = resolved.result.oid == sql::oid::kBpchar ? call.arguments.back()->type : resolved.result;
  if (ordered_set) pending.direct.assign(call.arguments.begin(), call.arguments.end() - 1);
  pending.call = std::move(call);
  return in_common_type(state_, add_aggregate(owner, std::move(pending), start(whole)), resolved.result);
}

ExpressionPtr ExpressionBinder::add_aggregate(QueryLevel& owner, PendingAggregate pending, std::optional<std::uint32_t> offset) {
  const AggregateCall& call = pending.call;
  const bool repeatable = std::ranges::none_of(call.arguments, [](const auto& e) { return sql::is_volatile(*e); });
  auto known = std::ranges::find_if(
      owner.aggregates, [&](const PendingAggregate& other) { return repeatable && same_call(other.call, call); });
  if (known == owner.aggregates.end()) {
    pending.column = state_.new_column();
    pending.offset = offset;
    owner.aggregates.push_back(std::move(pending));
    known = std::prev(owner.aggregates.end());
  }
  const std::string name(known->call.function->name);
  return use(sql::make_expression(known->type, sql::ColumnRef{known->column, name}, offset), owner, offset);
}

ExpressionPtr ExpressionBinder::node(const ast::GroupingCall& call, const Whole& whole) {
  const auto offset = token(whole);
  if (call.arguments.size() > 31) throw SqlError(sqlstate::kTooManyArguments, "GROUPING must have fewer than 32 arguments").at(offset);
  QueryLevel& owner = grouping_level(call);
  check_aggregate_allowed(owner, "grouping operations", offset);
  PendingGrouping grouping{.column = state_.new_column(), .arguments = ExpressionBinder(state_, owner).bind_all(call.arguments)};
  const ExpressionPtr value = sql::make_expression(sql::kInt4, sql::ColumnRef{grouping.column, "grouping"}, start(whole));
  owner.groupings.push_back(std::move(grouping));
  return use(value, owner, start(whole));
}

}  // namespace redquel::planner
