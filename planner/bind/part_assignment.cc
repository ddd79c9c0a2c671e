#include "planner/bind/part_assignment.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/array_subscript.h"
#include "sql/functions/jsonb_assignment.h"
#include "sql/functions/resolve.h"
#include "sql/functions/row_functions.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

ExpressionPtr PartAssignment::assign(const ExpressionPtr& current, std::span<const ast::IndirectionStep> steps,
                                     const ExpressionPtr& value) {
  const sql::Type array = current->type;
  const auto end = std::ranges::find_if_not(steps, is_subscript);
  const auto count = static_cast<std::size_t>(end - steps.begin());
  if (const auto* field = count == 0 ? std::get_if<ast::FieldStep>(&steps[0]) : nullptr) {
    if (sql::is_composite_type(array.oid)) return assign_field(current, *field, steps.subspan(1), value);
    throw SqlError(sqlstate::kDatatypeMismatch,
                   fmt::format("cannot assign to field \"{}\" of column \"{}\" because its type {} is not a composite type", field->name, name_,
                               sql::format_type(sql::Type{array.oid})))
        .at(offset_);
  }
  if (array.oid == sql::oid::kJsonb && count == steps.size()) return assign_jsonb(current, steps, value);
  if (const sql::GeometricParts* parts = sql::find_geometric_parts(array.oid)) {
    return assign_geometric(*parts, current, steps, count, value);
  }
  if (!sql::is_array_type(array.oid) || sql::is_vector_type(array.oid)) {
    throw SqlError(sqlstate::kDatatypeMismatch,
                   fmt::format("cannot subscript type {} because it does not support subscripting", sql::format_type(sql::Type{array.oid})))
        .at(offset_);
  }
  ArraySubscripts subscripts = binder_.array_subscripts(steps.first(count));
  const sql::Type part = subscripts.is_slice ? array : sql::element_type_of(array);
  std::vector<ExpressionPtr> arguments = std::move(subscripts.arguments);
  arguments.insert(arguments.begin(), current);
  ExpressionPtr converted;
  if (count < steps.size()) {
    const sql::ScalarFunction& read = subscripts.is_slice ? sql::array_slice() : sql::array_subscript();
    converted = assign(sql::make_expression(part, sql::FunctionCall{&read, arguments}), steps.subspan(count), value);
  } else {
    converted = try_coerce(state_, value, part, sql::CastContext::kAssignment);
  }
  if (!converted) throw needs_type(part, value->type);
  arguments.push_back(std::move(converted));
  const sql::ScalarFunction& write = subscripts.is_slice ? sql::array_with_slice() : sql::array_with_element();
  return sql::make_expression(array, sql::FunctionCall{&write, std::move(arguments)}, value->offset);
}

SqlError PartAssignment::needs_type(sql::Type part, sql::Type given) const {
  return SqlError(sqlstate::kDatatypeMismatch, fmt::format("subscripted assignment to \"{}\" requires type {} but expression is of type {}", name_,
                                                           sql::format_type(sql::Type{part.oid}), sql::format_type(sql::Type{given.oid})))
      .hint("You will need to rewrite or cast the expression.")
      .at(offset_);
}

/// If the value or its new part is NULL, the value stays.
ExpressionPtr PartAssignment::assign_geometric(const sql::GeometricParts& parts, const ExpressionPtr& current,
                                               std::span<const ast::IndirectionStep> steps, std::size_t count,
                                               const ExpressionPtr& value) {
  const ArraySubscripts subscripts = binder_.array_subscripts(steps.first(count));
  if (subscripts.is_slice) {
    if (!try_coerce(state_, value, current->type, sql::CastContext::kAssignment)) throw needs_type(current->type, value->type);
    throw SqlError(sqlstate::kFeatureNotSupported, "updates on slices of fixed-length arrays not implemented");
  }
  if (subscripts.arguments.size() != 1) throw sql::wrong_subscript_count();
  const auto inner = [&] {
    const std::vector<ExpressionPtr> arguments = {current, subscripts.arguments[0]};
    return assign(sql::make_expression(parts.part, sql::FunctionCall{&parts.read, arguments}), steps.subspan(count), value);
  };
  const ExpressionPtr part = count < steps.size() ? inner() : try_coerce(state_, value, parts.part, sql::CastContext::kAssignment);
  if (!part) throw needs_type(parts.part, value->type);
  const ExpressionPtr changed =
      sql::make_expression(current->type, sql::FunctionCall{&parts.write, {current, subscripts.arguments[0], part}}, value->offset);
  return sql::make_expression(current->type, sql::CoalesceCall{{changed, current}}, value->offset);
}

ExpressionPtr PartAssignment::assign_jsonb(const ExpressionPtr& current, std::span<const ast::IndirectionStep> steps,
                                           const ExpressionPtr& value) {
  std::vector<ExpressionPtr> path;
  bool expects_array = false;
  for (const ast::IndirectionStep& step : steps) {
    if (const auto* slice = std::get_if<ast::SliceStep>(&step)) {
      const ast::ExpressionPtr& bound = slice->upper ? slice->upper : slice->lower;
      throw SqlError(sqlstate::kDatatypeMismatch, "jsonb subscript does not support slices")
          .at(bound ? state_.position(bound->start) : std::nullopt);
    }
    const ExpressionPtr index = binder_.bind(*std::get<ast::SubscriptStep>(step).index);
    const bool is_text = is_unknown(*index) || sql::can_coerce(index->type, sql::kText, sql::CastContext::kImplicit);
    if (!is_text && !sql::can_coerce(index->type, sql::kInt4, sql::CastContext::kImplicit)) {
      throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("subscript type {} is not supported", sql::format_type(sql::Type{index->type.oid})))
          .hint("jsonb subscript must be coercible to either integer or text.")
          .at(index->offset);
    }
    if (path.empty()) expects_array = !is_text;
    path.push_back(coerce(state_, index, sql::kText, sql::CastContext::kExplicit));
  }
  const ExpressionPtr converted = try_coerce(state_, value, sql::kJsonb, sql::CastContext::kAssignment);
  if (!converted) throw needs_type(sql::kJsonb, value->type);
  std::vector<ExpressionPtr> arguments = {current, sql::make_constant(sql::kBool, expects_array), converted};
  arguments.insert(arguments.end(), path.begin(), path.end());
  return sql::make_expression(sql::kJsonb, sql::FunctionCall{&sql::jsonb_with_part(), std::move(arguments)}, value->offset);
}

/// The row with the field changed; the rest of the steps goes on inside of the field.
ExpressionPtr PartAssignment::assign_field(const ExpressionPtr& current, const ast::FieldStep& step,
                                           std::span<const ast::IndirectionStep> steps, const ExpressionPtr& value) {
  const sql::Type row = current->type;
  const std::vector<sql::CompositeField>& fields = sql::user_type(row.oid).fields;
  const auto field = std::ranges::find(fields, step.name, &sql::CompositeField::name);
  if (field == fields.end()) {
    throw SqlError(sqlstate::kUndefinedColumn,
                   fmt::format("cannot assign to field \"{}\" of column \"{}\" because there is no such column in data type {}", step.name, name_,
                               sql::format_type(row)))
        .at(offset_);
  }
  const ExpressionPtr place = sql::make_constant(sql::kInt4, static_cast<std::int32_t>(field - fields.begin()));
  ExpressionPtr converted;
  if (steps.empty()) {
    converted = try_coerce(state_, value, field->type, sql::CastContext::kAssignment);
  } else {
    converted = assign(sql::make_expression(field->type, sql::FunctionCall{&sql::row_field(), {current, place}}), steps, value);
  }
  if (!converted) {
    throw SqlError(sqlstate::kDatatypeMismatch,
                   fmt::format("subfield \"{}\" is of type {} but expression is of type {}", step.name,
                               sql::format_type(sql::Type{field->type.oid}), sql::format_type(sql::Type{value->type.oid})))
        .hint("You will need to rewrite or cast the expression.")
        .at(offset_);
  }
  return sql::make_expression(row, sql::FunctionCall{&sql::row_with_field(), {current, place, std::move(converted)}}, value->offset);
}

}  // namespace redquel::planner
