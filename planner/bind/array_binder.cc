// ARRAY[…], ARRAY(SELECT …), array[i] and array[a:b].

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/array_parts.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/row_shape.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/functions/array_subscript.h"
#include "sql/functions/geometric_subscript.h"
#include "sql/functions/polymorphic.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// value['a'][0].
ExpressionPtr jsonb_part(BindState& state, ExpressionBinder& binder, const ExpressionPtr& base,
                         std::span<const ast::IndirectionStep> subscripts, std::optional<std::uint32_t> offset) {
  std::vector<ExpressionPtr> arguments = {base};
  for (const ast::IndirectionStep& step : subscripts) {
    if (const auto* slice = std::get_if<ast::SliceStep>(&step)) {
      const ast::ExpressionPtr& bound = slice->upper ? slice->upper : slice->lower;
      throw SqlError(sqlstate::kDatatypeMismatch, "jsonb subscript does not support slices")
          .at(bound ? state.position(bound->start) : std::nullopt);
    }
    const auto* subscript = std::get_if<ast::SubscriptStep>(&step);
    if (subscript == nullptr) throw sql::not_supported("field selection", offset);
    ExpressionPtr index = binder.bind(*subscript->index);
    const bool is_text = index->type.oid == sql::oid::kUnknown || sql::can_coerce(index->type, sql::kText, sql::CastContext::kImplicit);
    if (!is_text && !sql::can_coerce(index->type, sql::kInt4, sql::CastContext::kImplicit)) {
      throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("subscript type {} is not supported", sql::format_type(sql::Type{index->type.oid})))
          .hint("jsonb subscript must be coercible to either integer or text.")
          .at(index->offset);
    }
    arguments.push_back(coerce(state, index, sql::kText, sql::CastContext::kExplicit));
  }
  return sql::make_expression(sql::kJsonb, sql::FunctionCall{&sql::jsonb_subscript(), std::move(arguments)}, offset);
}

/// A character of a name, counted from 0, as the "char" that it is made of.
ExpressionPtr name_part(BindState& state, const ExpressionPtr& name, const ExpressionPtr& index, std::optional<std::uint32_t> offset) {
  const ExpressionPtr one = sql::make_constant(sql::kInt4, std::int32_t{1});
  std::vector<ExpressionPtr> arguments = {coerce(state, name, sql::kText, sql::CastContext::kImplicit),
                                          make_operator(state, "+", index, one, offset), one};
  const sql::Type types[] = {sql::kText, sql::kInt4, sql::kInt4};
  const sql::ResolvedFunction resolved = sql::resolve_function("substr", types, offset);
  const ExpressionPtr letter = sql::make_expression(sql::kText, sql::FunctionCall{resolved.function, std::move(arguments)}, offset);
  return coerce(state, letter, sql::Type{sql::oid::kChar}, sql::CastContext::kExplicit);
}

/// point[0] and the like; more than one subscript names no part.
ExpressionPtr geometric_part(const sql::GeometricParts& parts, const ExpressionPtr& value, ArraySubscripts subscripts,
                             std::optional<std::uint32_t> offset) {
  if (subscripts.is_slice) throw SqlError(sqlstate::kFeatureNotSupported, "slices of fixed-length arrays not implemented");
  if (subscripts.arguments.size() > 1) return sql::make_constant(parts.part, {});
  return sql::make_expression(parts.part, sql::FunctionCall{&parts.read, {value, subscripts.arguments[0]}}, offset);
}

}  // namespace

sql::Type array_over(sql::Type element, std::optional<std::uint32_t> offset) {
  const sql::Oid array = sql::array_type_over(element.oid);
  if (array != 0) return sql::Type{array};
  throw SqlError(sqlstate::kUndefinedObject, fmt::format("could not find array type for data type {}", sql::format_type(sql::Type{element.oid})))
      .at(offset);
}

ExpressionPtr ExpressionBinder::node(const ast::ArrayLiteral& literal, const Whole& whole) {
  return array_literal(literal, std::nullopt, whole);
}

ExpressionPtr ExpressionBinder::array_literal(const ast::ArrayLiteral& literal, std::optional<sql::Type> wanted, const Whole& whole) {
  const auto offset = start(whole);
  bool nested = false;
  Operands items;
  for (const ast::ExpressionPtr& item : literal.items) {
    if (const auto* inner = std::get_if<ast::ArrayLiteral>(&item->node)) {
      items.push_back(array_literal(*inner, wanted, *item));
      nested = true;
    } else {
      items.push_back(bind(*item));
      nested = nested || (sql::is_array_type(items.back()->type.oid) && !sql::is_vector_type(items.back()->type.oid));
    }
  }
  sql::Type type;
  if (wanted) {
    type = *wanted;
    const sql::Type part = nested ? type : sql::element_type_of(type);
    for (ExpressionPtr& item : items) item = coerce(state_, item, part, sql::CastContext::kExplicit);
  } else {
    if (items.empty()) {
      throw SqlError(sqlstate::kIndeterminateDatatype, "cannot determine type of empty array")
          .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
          .at(offset);
    }
    sql::Type common;
    items = coerce_to_common(items, "ARRAY", common);
    type = nested ? common : array_over(common, offset);
    if (!nested) type.modifier = common.modifier;
  }
  const sql::ScalarFunction& constructor = nested ? sql::nested_array_constructor() : sql::array_constructor();
  return sql::make_expression(type, sql::FunctionCall{&constructor, std::move(items)}, offset);
}

ArraySubscripts ExpressionBinder::array_subscripts(std::span<const ast::IndirectionStep> steps) {
  if (steps.size() > sql::kMaxArrayDimensions) {
    throw SqlError(sqlstate::kProgramLimitExceeded,
                   fmt::format("number of array dimensions ({}) exceeds the maximum allowed ({})", steps.size(), sql::kMaxArrayDimensions));
  }
  const auto bound = [&](const ast::ExpressionPtr& written) {
    const ExpressionPtr value = try_coerce(state_, bind(*written), sql::kInt4, sql::CastContext::kAssignment);
    if (!value) throw SqlError(sqlstate::kDatatypeMismatch, "array subscript must have type integer").at(start(*written));
    return value;
  };
  ArraySubscripts result;
  result.is_slice = std::ranges::any_of(steps, [](const auto& step) { return std::holds_alternative<ast::SliceStep>(step); });
  std::int32_t omitted = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ExpressionPtr one = sql::make_constant(sql::kInt4, std::int32_t{1});
    if (const auto* index = std::get_if<ast::SubscriptStep>(&steps[i])) {
      if (result.is_slice) result.arguments.push_back(one);  // [n] beside slices is [1:n]
      result.arguments.push_back(bound(index->index));
      continue;
    }
    const auto& slice = std::get<ast::SliceStep>(steps[i]);
    if (!slice.lower) omitted |= 1 << (2 * i);
    if (!slice.upper) omitted |= 2 << (2 * i);
    result.arguments.push_back(slice.lower ? bound(slice.lower) : one);
    result.arguments.push_back(slice.upper ? bound(slice.upper) : one);
  }
  if (result.is_slice) result.arguments.insert(result.arguments.begin(), sql::make_constant(sql::kInt4, omitted));
  return result;
}

ExpressionPtr ExpressionBinder::node(const ast::Indirection& indirection, const Whole& whole) {
  return follow_steps(indirection, indirection.steps.size(), start(whole));
}

ExpressionPtr ExpressionBinder::follow_steps(const ast::Indirection& indirection, std::size_t count, std::optional<std::uint32_t> offset) {
  ExpressionPtr value = bind(*indirection.base);
  // a literal has no parts, regardless of its type
  if (!std::holds_alternative<sql::Constant>(value->node)) value = resolve_unknown(state_, value);
  if (const auto* row = std::get_if<ast::ColumnRef>(&indirection.base->node);
      state_.names != nullptr && row != nullptr && state_.names->rows.contains(row)) {
    throw sql::not_supported("a field of a whole row in a view", offset);  // its text would not follow the column's name
  }
  const std::span<const ast::IndirectionStep> steps(indirection.steps.data(), count);
  for (std::size_t next = 0; next < steps.size();) {
    const std::size_t first = next;
    while (next < steps.size() && is_subscript(steps[next])) ++next;
    if (next == first) {
      const auto* field = std::get_if<ast::FieldStep>(&steps[next++]);
      if (field == nullptr) throw sql::not_supported("row expansion via \"*\" here", offset);
      const auto* relation = std::get_if<ast::ColumnRef>(&indirection.base->node);
      const bool is_whole_row = relation != nullptr && std::holds_alternative<sql::FunctionCall>(value->node);
      const auto shape = is_whole_row ? row_shape(*value) : std::nullopt;
      if (shape && next == 1 && std::ranges::find(*shape, field->name, &RowField::name) == shape->end()) {
        throw SqlError(sqlstate::kUndefinedColumn, fmt::format("column {}.{} does not exist", relation->names.back(), field->name)).at(offset);
      }
      value = select_field(value, field->name, offset);
      continue;
    }
    if (value->type.oid == sql::oid::kJsonb) {
      value = jsonb_part(state_, *this, value, steps.subspan(first, next - first), offset);
      continue;
    }
    const auto* letter = next == first + 1 ? std::get_if<ast::SubscriptStep>(&steps[first]) : nullptr;
    if (value->type.oid == sql::oid::kName && letter != nullptr) {
      value = name_part(state_, value, array_subscripts(steps.subspan(first, 1)).arguments[0], offset);
      continue;
    }
    if (const sql::GeometricParts* parts = sql::find_geometric_parts(value->type.oid)) {
      value = geometric_part(*parts, value, array_subscripts(steps.subspan(first, next - first)), offset);
      continue;
    }
    if (!sql::is_array_type(value->type.oid)) {
      throw SqlError(sqlstate::kDatatypeMismatch,
                     fmt::format("cannot subscript type {} because it does not support subscripting", sql::format_type(sql::Type{value->type.oid})))
          .at(offset);
    }
    const sql::Type array = value->type, element = sql::element_type_of(array);
    ArraySubscripts subscripts = array_subscripts(steps.subspan(first, next - first));
    subscripts.arguments.insert(subscripts.arguments.begin(), value);
    const sql::ScalarFunction& function = subscripts.is_slice ? sql::array_slice() : sql::array_subscript();
    sql::Type type = element;
    if (subscripts.is_slice) type = sql::is_vector_type(array.oid) ? array_over(element, offset) : array;
    value = sql::make_expression(type, sql::FunctionCall{&function, std::move(subscripts.arguments)}, offset);
  }
  return value;
}

/// The subquery's rows collected by array_agg(); no row is an empty array.
ExpressionPtr ExpressionBinder::array_subquery(PendingSubquery pending, const Whole& whole) {
  const auto offset = token(whole);
  const std::vector<LogicalColumn>& columns = pending.plan->columns;
  if (columns.size() != 1) throw SqlError(sqlstate::kSyntaxError, "subquery must return only one column").at(offset);
  const bool nested = sql::is_array_type(columns[0].type.oid);
  const sql::Type array = nested ? sql::Type{columns[0].type.oid} : array_over(columns[0].type, offset);
  const sql::ResolvedAggregate collect = sql::resolve_aggregate("array_agg", std::vector{columns[0].type}, offset);
  LogicalAggregate aggregate{pending.plan, {}, {{.function = collect.function, .arguments = {reference(columns[0])}, .filter = nullptr, .order_by = {}}}, true};
  pending.plan = make_logical(std::move(aggregate), {{.id = state_.new_column(), .name = "array", .type = array}});
  pending.kind = LogicalApply::Kind::kScalar;
  pending.name = "array";
  pending.type = array;
  ExpressionPtr collected = add_subquery(std::move(pending), start(whole));
  return sql::make_expression(
      array, sql::CoalesceCall{{std::move(collected), sql::make_constant(array, std::string("{}"))}}, start(whole));
}

}  // namespace redquel::planner
