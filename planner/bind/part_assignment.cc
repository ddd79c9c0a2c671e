#include "planner/bind/part_assignment.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/array_subscript.h"
#include "sql/types/array_value.h"

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
    throw SqlError("42804", fmt::format("cannot assign to field \"{}\" of column \"{}\" because its type {} is not a composite type",
                                        field->name, name_, sql::format_type(sql::Type{array.oid})))
        .at(offset_);
  }
  if (!sql::is_array_type(array.oid) || sql::is_vector_type(array.oid)) {
    throw SqlError("42804", fmt::format("cannot subscript type {} because it does not support subscripting",
                                        sql::format_type(sql::Type{array.oid})))
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
  if (!converted) {
    throw SqlError("42804", fmt::format("subscripted assignment to \"{}\" requires type {} but expression is of type {}", name_,
                                        sql::format_type(sql::Type{part.oid}), sql::format_type(sql::Type{value->type.oid})))
        .hint("You will need to rewrite or cast the expression.")
        .at(offset_);
  }
  arguments.push_back(std::move(converted));
  const sql::ScalarFunction& write = subscripts.is_slice ? sql::array_with_slice() : sql::array_with_element();
  return sql::make_expression(array, sql::FunctionCall{&write, std::move(arguments)}, value->offset);
}

}  // namespace redquel::planner
