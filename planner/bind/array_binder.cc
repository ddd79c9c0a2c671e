// ARRAY[…], ARRAY(SELECT …) and array[i].

#include <fmt/format.h>

#include "planner/bind/expression_binder.h"
#include "planner/bind/plan_nodes.h"
#include "planner/rules/rule.h"
#include "sql/error.h"
#include "sql/functions/function.h"
#include "sql/functions/resolve.h"
#include "sql/types/array_text.h"
#include "sql/types/more_types.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// 42704 where there is no array over that type.
sql::Type array_over(sql::Type element, std::optional<std::uint32_t> offset) {
  const sql::Oid array = sql::type_info(element.oid).array;
  if (array != 0) return sql::Type{array};
  throw SqlError("42704", fmt::format("could not find array type for data type {}", sql::format_type(sql::Type{element.oid}))).at(offset);
}

/// Of the functions over arrays that have no name in SQL.
const sql::ScalarFunction& function_over(std::string_view name, sql::Type first, std::optional<std::uint32_t> offset) {
  for (const sql::ScalarFunction* function : sql::find_functions(name)) {
    if (function->arguments.front() == first.oid) return *function;
  }
  throw sql::not_supported(fmt::format("array over type {}", sql::format_type(first)), offset);
}

/// value['a'][0]: the same as jsonb_extract_path(value, 'a', '0').
ExpressionPtr jsonb_part(BindState& state, ExpressionBinder& binder, const ExpressionPtr& base,
                         const ast::Indirection& indirection, std::optional<std::uint32_t> offset) {
  std::vector<ExpressionPtr> arguments = {base};
  std::vector<sql::Type> types = {base->type};
  for (const ast::IndirectionStep& step : indirection.steps) {
    if (std::holds_alternative<ast::SliceStep>(step)) {
      throw SqlError("0A000", "jsonb subscript does not support slices").at(offset);
    }
    const auto* subscript = std::get_if<ast::SubscriptStep>(&step);
    if (subscript == nullptr) throw sql::not_supported("field selection", offset);
    ExpressionPtr index = binder.bind(*subscript->index);
    const bool is_text = index->type.oid == sql::oid::kUnknown || sql::can_coerce(index->type, sql::kText, sql::CastContext::kImplicit);
    if (!is_text && !sql::can_coerce(index->type, sql::kInt4, sql::CastContext::kImplicit)) {
      throw SqlError("42804", fmt::format("subscript type {} is not supported", sql::format_type(sql::Type{index->type.oid})))
          .hint("jsonb subscript must be coercible to either integer or text.")
          .at(index->offset);
    }
    arguments.push_back(coerce(state, index, sql::kText, sql::CastContext::kExplicit));
    types.push_back(sql::kText);
  }
  const sql::ResolvedFunction resolved = sql::resolve_function("jsonb_extract_path", types, offset);
  return sql::make_expression(sql::kJsonb, sql::FunctionCall{resolved.function, std::move(arguments)}, offset);
}

}  // namespace

ExpressionPtr ExpressionBinder::node(const ast::ArrayLiteral& literal, const Whole& whole) {
  const auto offset = start(whole);
  if (literal.items.empty()) {
    throw SqlError("42P18", "cannot determine type of empty array")
        .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
        .at(offset);
  }
  for (const ast::ExpressionPtr& item : literal.items) {
    if (std::holds_alternative<ast::ArrayLiteral>(item->node)) throw sql::not_supported("multidimensional array", offset);
  }
  sql::Type element;
  Operands items = coerce_to_common(bind_all(literal.items), "ARRAY", element);
  if (sql::is_array_type(element.oid)) throw sql::not_supported("multidimensional array", offset);
  const sql::ScalarFunction& constructor = function_over("ARRAY", sql::Type{element.oid}, offset);
  return sql::make_expression(array_over(element, offset), sql::FunctionCall{&constructor, std::move(items)}, offset);
}

ExpressionPtr ExpressionBinder::node(const ast::Indirection& indirection, const Whole& whole) {
  const auto offset = start(whole);
  const ExpressionPtr array = resolve_unknown(state_, bind(*indirection.base));
  if (array->type.oid == sql::oid::kJsonb) return jsonb_part(state_, *this, array, indirection, offset);
  const auto* step = std::get_if<ast::SubscriptStep>(&indirection.steps.front());
  if (step == nullptr || indirection.steps.size() != 1) throw sql::not_supported("slice or field selection", offset);
  if (!sql::is_array_type(array->type.oid)) {
    throw SqlError("42804", fmt::format("cannot subscript type {} because it does not support subscripting",
                                        sql::format_type(sql::Type{array->type.oid})))
        .at(offset);
  }
  const ExpressionPtr index = try_coerce(state_, bind(*step->index), sql::kInt4, sql::CastContext::kAssignment);
  if (!index) throw SqlError("42804", "array subscript must have type integer").at(start(*step->index));
  const sql::ScalarFunction& subscript = function_over("[]", sql::Type{array->type.oid}, offset);
  return sql::make_expression(sql::Type{subscript.result}, sql::FunctionCall{&subscript, {array, index}}, offset);
}

/// The subquery's rows collected by array_agg(); no row is an empty array.
ExpressionPtr ExpressionBinder::array_subquery(PendingSubquery pending, const Whole& whole) {
  const auto offset = token(whole);
  const std::vector<LogicalColumn>& columns = pending.plan->columns;
  if (columns.size() != 1) throw SqlError("42601", "subquery must return only one column").at(offset);
  const sql::Type array = array_over(columns[0].type, offset);
  const sql::AggregateFunction* collect = nullptr;
  for (const sql::AggregateFunction* candidate : sql::find_aggregates("array_agg")) {
    if (candidate->arguments.front() == columns[0].type.oid) collect = candidate;
  }
  if (collect == nullptr) throw sql::not_supported(fmt::format("ARRAY over type {}", sql::format_type(columns[0].type)), offset);
  LogicalAggregate aggregate{pending.plan, {}, {{.function = collect, .arguments = {reference(columns[0])}, .filter = nullptr, .order_by = {}}}, true};
  pending.plan = make_logical(std::move(aggregate), {{.id = state_.new_column(), .name = "array", .type = array}});
  pending.kind = LogicalApply::Kind::kScalar;
  pending.name = "array";
  pending.type = array;
  ExpressionPtr collected = add_subquery(std::move(pending), start(whole));
  return sql::make_expression(
      array, sql::CoalesceCall{{std::move(collected), sql::make_constant(array, std::string("{}"))}}, start(whole));
}

}  // namespace redquel::planner
