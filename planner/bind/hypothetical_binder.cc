// rank(5) WITHIN GROUP (ORDER BY x): where a row would stand. It is a matter of counting the rows before it.

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/expression_binder.h"
#include "planner/bind/named_arguments.h"
#include "planner/bind/ordering.h"
#include "planner/bind/plan_nodes.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;
using BooleanKind = sql::Logical::Kind;

namespace {

/// One key of WITHIN GROUP, and the hypothetical row's value for it.
struct Key {
  ExpressionPtr value, given;
  SortOrder order;
};

ExpressionPtr is_null(const ExpressionPtr& value, bool negated) { return sql::make_expression(sql::kBool, sql::NullTest{value, negated}); }

/// Returns the condition that the row's key comes before the given value.
ExpressionPtr is_before(BindState& state, const Key& key) {
  const ExpressionPtr by_value = make_operator(state, key.order.descending ? ">" : "<", key.value, key.given, {});
  const ExpressionPtr& first_null = key.order.nulls_first ? key.value : key.given;
  const ExpressionPtr& second = key.order.nulls_first ? key.given : key.value;
  const ExpressionPtr by_null = make_boolean(BooleanKind::kAnd, {is_null(first_null, false), is_null(second, true)});
  return make_boolean(BooleanKind::kOr, {by_null, by_value});
}

ExpressionPtr is_tie(BindState& state, const Key& key) {
  const ExpressionPtr equal = make_operator(state, "=", key.value, key.given, {});
  const ExpressionPtr both_null = make_boolean(BooleanKind::kAnd, {is_null(key.value, false), is_null(key.given, false)});
  return make_boolean(BooleanKind::kOr, {both_null, equal});
}

/// Rows before the hypothetical one; with `or_equal` its peers, too.
ExpressionPtr rows_before(BindState& state, const std::vector<Key>& keys, bool or_equal) {
  ExpressionPtr result = or_equal ? sql::make_constant(sql::kBool, true) : sql::make_constant(sql::kBool, false);
  for (std::size_t i = keys.size(); i-- > 0;) {
    const ExpressionPtr tie = make_boolean(BooleanKind::kAnd, {is_tie(state, keys[i]), result});
    result = make_boolean(BooleanKind::kOr, {is_before(state, keys[i]), tie});
  }
  return result;
}

}  // namespace

bool is_hypothetical_set(std::string_view function) {
  return function == "rank" || function == "dense_rank" || function == "percent_rank" || function == "cume_dist";
}

ExpressionPtr ExpressionBinder::bind_hypothetical_set(const ast::FunctionCall& function, const std::string& name, const Whole& whole) {
  const auto offset = token(whole);
  const std::size_t count = function.order_by.size();
  if (function.arguments.size() != count) {
    std::vector<std::string> types;
    for (const ExpressionPtr& argument : bind_call_arguments(function, name, offset).values) types.push_back(sql::format_type(sql::Type{argument->type.oid}));
    throw SqlError(sqlstate::kUndefinedFunction, fmt::format("function {}({}) does not exist", name, fmt::join(types, ", ")))
        .hint(fmt::format("To use the hypothetical-set aggregate {}, the number of hypothetical direct arguments (here {}) must match the "
                          "number of ordering columns (here {}).",
                          name, function.arguments.size(), count))
        .at(offset);
  }
  QueryLevel& owner = aggregate_level(function);
  std::vector<Key> keys;
  ExpressionPtr filter;
  {
    Scoped inside(owner.inside_aggregate, true);
    ExpressionBinder binder(state_, owner);
    Operands given;
    for (const ast::Argument& argument : function.arguments) given.push_back(binder.bind(*argument.value));
    given = arrange_arguments(state_, name, function.arguments, std::move(given), offset);
    for (std::size_t i = 0; i < count; ++i) {
      const ExpressionPtr value = binder.bind(*function.order_by[i].value);
      const sql::Type common = common_type({value, given[i]}, "WITHIN GROUP");
      keys.push_back({in_common_type(state_, value, common), in_common_type(state_, given[i], common), sort_order(function.order_by[i], common)});
      sql::ordering_operator(common, keys.back().order.descending, value->offset);
    }
    if (function.filter) {
      Scoped clause(owner.clause, Clause::kFilter);
      Scoped outside(owner.inside_aggregate, false);
      filter = binder.bind_boolean(*function.filter, "FILTER");
    }
  }
  check_aggregate_allowed(owner, "aggregate functions", offset);
  const sql::AggregateFunction& counter = *sql::resolve_aggregate("count", {}).function;
  const sql::Type any_type = sql::kBool;
  const sql::AggregateFunction& value_counter = *sql::resolve_aggregate("count", {&any_type, 1}).function;
  const auto rows = [&](const ExpressionPtr& condition, bool distinct) {
    PendingAggregate pending{.type = sql::kInt8, .call = {.function = distinct ? &value_counter : &counter, .distinct = distinct}};
    for (const Key& key : keys) pending.direct.push_back(key.given);
    if (distinct) {
      pending.call.arguments.push_back(sql::make_constant(sql::kBool, true));  // counts rows of NULLs, too
      for (const Key& key : keys) pending.call.arguments.push_back(key.value);
    }
    std::vector<ExpressionPtr> conditions;
    if (condition) conditions.push_back(condition);
    if (filter) conditions.push_back(filter);
    pending.call.filter = sql::conjunction(std::move(conditions));
    return add_aggregate(owner, std::move(pending), start(whole));
  };
  const auto apply = [&](std::string_view op, const ExpressionPtr& a, const ExpressionPtr& b) { return make_operator(state_, op, a, b, offset); };
  const ExpressionPtr one = sql::make_constant(sql::kInt8, std::int64_t{1});
  const auto as_float = [&](const ExpressionPtr& value) { return coerce(state_, value, sql::kFloat8, sql::CastContext::kExplicit); };
  if (name == "rank" || name == "dense_rank") {
    return with_offset(apply("+", rows(rows_before(state_, keys, false), name == "dense_rank"), one), start(whole));
  }
  if (name == "cume_dist") {
    const ExpressionPtr before = apply("+", rows(rows_before(state_, keys, true), false), one);
    return with_offset(apply("/", as_float(before), as_float(apply("+", rows(nullptr, false), one))), start(whole));
  }
  // percent_rank: 0 where there are no rows.
  const ExpressionPtr before = rows(rows_before(state_, keys, false), false);
  const ExpressionPtr all = sql::make_expression(sql::kInt8, sql::GreatestLeast{true, {rows(nullptr, false), one}});
  return with_offset(apply("/", as_float(before), as_float(all)), start(whole));
}

}  // namespace redquel::planner
