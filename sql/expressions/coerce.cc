#include "sql/expressions/coerce.h"

#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/functions/resolve.h"
#include "sql/functions/row_functions.h"
#include "sql/sqlstate.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

/// An untyped literal read by the target's input function, as type `target` without its modifier.
ExpressionPtr read_literal(const Expression& expression, const Datum& literal, Type target,
                           const SessionSettings& settings, Now now) {
  const Type plain{target.oid};
  if (is_null(literal)) return make_expression(plain, Constant{Datum{}}, expression.offset);
  // The fields of an interval's modifier say what a bare number means.
  const Type read_as = target.oid == oid::kInterval ? target : plain;
  try {
    return make_expression(plain, Constant{parse_value(read_as, std::get<std::string>(literal), settings, now)},
                           expression.offset);
  } catch (SqlError& error) {
    error.set_position(expression.offset);
    throw;
  }
}

ExpressionPtr convert(const ExpressionPtr& expression, Type target, const CastPath& path, bool is_explicit) {
  const Type plain{target.oid};
  CastCall call{CastCall::Method::kRelabel, nullptr, is_explicit, expression};
  switch (path.method) {
    case CastPath::Method::kNone:
      return expression;
    case CastPath::Method::kRelabel:
      if (const auto* constant = std::get_if<Constant>(&expression->node)) {
        return make_expression(plain, *constant, expression->offset);
      }
      break;
    case CastPath::Method::kFunction:
      call.method = CastCall::Method::kFunction;
      call.function = path.function;
      break;
    case CastPath::Method::kInputOutput:
      call.method = CastCall::Method::kInputOutput;
      break;
  }
  // An integer becomes as many bits as bit(n) says.
  const bool makes_bits = target.oid == oid::kBit && path.method == CastPath::Method::kFunction;
  return make_expression(makes_bits ? target : plain, std::move(call), expression->offset);
}

/// The length coercion. Constants take it at once, unless they do not fit: that error belongs to the run.
ExpressionPtr with_modifier(const ExpressionPtr& expression, Type target, bool is_explicit) {
  if (target.modifier < 0 || expression->type.modifier == target.modifier) return expression;
  if (const auto* constant = std::get_if<Constant>(&expression->node)) {
    try {
      return make_expression(target, Constant{apply_modifier(target, constant->value, is_explicit)},
                             expression->offset);
    } catch (const SqlError&) {
    }
  }
  return make_expression(target, CastCall{CastCall::Method::kModifier, nullptr, is_explicit, expression},
                         expression->offset);
}

/// ROW(…) as a composite type: every item as its field. 42846 with the reason.
ExpressionPtr make_composite(const Expression& row, const FunctionCall& call, Type target, CastContext context,
                             const SessionSettings& settings, Now now) {
  const std::vector<CompositeField>& fields = user_type(target.oid).fields;
  const auto refuse = [&](std::string detail) {
    return SqlError(sqlstate::kCannotCoerce, "cannot cast type record to " + format_type(Type{target.oid})).detail(std::move(detail));
  };
  std::vector<ExpressionPtr> values;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i >= call.arguments.size()) throw refuse("Input has too few columns.");
    values.push_back(try_coerce(call.arguments[i], fields[i].type, context, settings, now));
    if (values.back()) continue;
    throw refuse("Cannot cast type " + format_type(Type{call.arguments[i]->type.oid}) + " to " + format_type(Type{fields[i].type.oid}) +
                 " in column " + std::to_string(i + 1) + ".");
  }
  if (call.arguments.size() > fields.size()) throw refuse("Input has too many columns.");
  return make_expression(Type{target.oid}, FunctionCall{&row_constructor(), std::move(values)}, row.offset);
}

}  // namespace

ExpressionPtr try_coerce(const ExpressionPtr& expression, Type target, CastContext context,
                         const SessionSettings& settings, Now now) {
  if (expression->type == target) return expression;
  const bool is_literal = expression->type.oid == oid::kUnknown && std::holds_alternative<Constant>(expression->node);
  if (const Type under = array_under(target); under.oid != target.oid && !is_literal) {
    const ExpressionPtr made = try_coerce(expression, under, context, settings, now);
    return made ? convert(made, target, CastPath{CastPath::Method::kRelabel}, context == CastContext::kExplicit) : nullptr;
  }
  const std::optional<CastPath> path = find_cast_path(expression->type.oid, target.oid, context);
  if (!path) return nullptr;
  const bool is_explicit = context == CastContext::kExplicit;
  if (const auto* call = std::get_if<FunctionCall>(&expression->node);
      call != nullptr && call->function == &row_constructor() && is_composite_type(target.oid)) {
    return make_composite(*expression, *call, target, context, settings, now);
  }
  const auto* constant = std::get_if<Constant>(&expression->node);
  if (expression->type.oid == oid::kUnknown && constant != nullptr && target.oid == oid::kRegclass &&
      !is_null(constant->value)) {
    // The name's meaning is the run's: the catalog is asked by the cast from text.
    return try_coerce(make_expression(kText, *constant, expression->offset), target, context, settings, now);
  }
  if (expression->type.oid == oid::kUnknown && constant != nullptr) {
    return with_modifier(read_literal(*expression, constant->value, target, settings, now), target, is_explicit);
  }
  return with_modifier(convert(expression, target, *path, is_explicit), target, is_explicit);
}

ExpressionPtr coerce(const ExpressionPtr& expression, Type target, CastContext context, const SessionSettings& settings,
                     std::optional<std::uint32_t> offset, Now now) {
  note_analysis();
  try {
    if (ExpressionPtr coerced = try_coerce(expression, target, context, settings, now)) return coerced;
  } catch (SqlError& error) {
    error.set_position(offset ? offset : expression->offset);
    throw;
  }
  throw SqlError(sqlstate::kCannotCoerce, "cannot cast type " + format_type(Type{expression->type.oid}) + " to " + format_type(Type{target.oid}))
      .at(offset ? offset : expression->offset);
}

}  // namespace redquel::sql
