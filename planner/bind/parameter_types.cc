#include "planner/bind/parameter_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/domain_value.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using sql::SqlError;
using sql::Type;

namespace {
/// Bind's count of parameters is 16 bits wide: no value could ever be given to a higher one.
constexpr std::int32_t kLastParameter = 65535;
}  // namespace

ExpressionPtr ParameterTypes::reference(std::int32_t number, std::optional<std::uint32_t> offset) {
  if (!allowed_ || number <= 0 || number > kLastParameter) {
    throw SqlError(sqlstate::kUndefinedParameter, fmt::format("there is no parameter ${}", number)).at(offset);
  }
  const auto slot = static_cast<std::uint32_t>(number - 1);
  if (types_.size() <= slot) types_.resize(slot + 1, sql::kUnknown);
  ExpressionPtr expression = sql::make_expression(sql::value_type(types_[slot]), sql::ParameterRef{slot}, offset);
  if (types_[slot] == sql::kUnknown) undecided_.push_back(expression);
  return expression;
}

bool ParameterTypes::is_undecided(const sql::Expression& expression) {
  return expression.type.oid == sql::oid::kUnknown && std::holds_alternative<sql::ParameterRef>(expression.node);
}

ExpressionPtr ParameterTypes::decide(const ExpressionPtr& parameter, Type target) {
  const std::uint32_t slot = std::get<sql::ParameterRef>(parameter->node).slot;
  const Type type{target.oid};
  if (types_[slot] == sql::kUnknown) {
    types_[slot] = type;
  } else if (sql::value_type(types_[slot]).oid != sql::value_type(type).oid) {
    throw SqlError(sqlstate::kAmbiguousParameter, fmt::format("inconsistent types deduced for parameter ${}", slot + 1))
        .detail(fmt::format("{} versus {}", sql::format_type(Type{types_[slot].oid}), sql::format_type(type)))
        .at(parameter->offset);
  }
  std::erase(undecided_, parameter);
  return sql::make_expression(sql::value_type(type), sql::ParameterRef{slot}, parameter->offset);
}

std::vector<Type> ParameterTypes::finish() const {
  for (const ExpressionPtr& reference : undecided_) {
    const std::uint32_t slot = std::get<sql::ParameterRef>(reference->node).slot;
    if (types_[slot] != sql::kUnknown) {
      throw SqlError(sqlstate::kAmbiguousParameter, fmt::format("could not determine data type of parameter ${}", slot + 1))
          .at(reference->offset);
    }
  }
  for (std::size_t slot = 0; slot < types_.size(); ++slot) {
    if (types_[slot] == sql::kUnknown) {
      throw SqlError(sqlstate::kIndeterminateDatatype, fmt::format("could not determine data type of parameter ${}", slot + 1));
    }
  }
  return types_;
}

}  // namespace redquel::planner
