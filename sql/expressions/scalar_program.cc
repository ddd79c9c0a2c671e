#include "sql/expressions/scalar_program.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::sql {

namespace {

bool is_computed(Oid type) { return is_integer_type(type) || type == oid::kBool; }

std::int64_t least_of(Oid type) {
  return type == oid::kInt2 ? std::numeric_limits<std::int16_t>::min()
         : type == oid::kInt4 ? std::numeric_limits<std::int32_t>::min()
                              : std::numeric_limits<std::int64_t>::min();
}
std::int64_t greatest_of(Oid type) {
  return type == oid::kInt2 ? std::numeric_limits<std::int16_t>::max()
         : type == oid::kInt4 ? std::numeric_limits<std::int32_t>::max()
                              : std::numeric_limits<std::int64_t>::max();
}

std::optional<std::int64_t> number_of(const Datum& value) {
  if (const auto* four = std::get_if<std::int32_t>(&value)) return *four;
  if (const auto* eight = std::get_if<std::int64_t>(&value)) return *eight;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* two = std::get_if<std::int16_t>(&value)) return *two;
  return std::nullopt;
}

Datum datum_of(Oid type, std::int64_t value) {
  if (type == oid::kInt4) return static_cast<std::int32_t>(value);
  if (type == oid::kInt8) return value;
  if (type == oid::kBool) return value != 0;
  return static_cast<std::int16_t>(value);
}

std::int64_t in_range(Oid type, std::int64_t value, bool overflows) {
  if (overflows || value < least_of(type) || value > greatest_of(type)) {
    throw number_out_of_range(type == oid::kInt2 ? "smallint" : type == oid::kInt4 ? "integer" : "bigint");
  }
  return value;
}

}  // namespace

std::optional<ScalarProgram> ScalarProgram::compile(const Expression& expression) {
  if (!is_computed(expression.type.oid)) return std::nullopt;
  ScalarProgram program;
  if (!program.add(expression)) return std::nullopt;
  return program;
}

std::optional<std::size_t> ScalarProgram::add(const Expression& expression) {
  const auto& node = expression.node;
  Step step{.operation = Operation::kConstant, .type = expression.type.oid};
  const auto push = [&] {
    steps_.push_back(step);
    return std::optional(steps_.size() - 1);
  };
  if (const auto* test = std::get_if<NullTest>(&node)) {
    step.operation = test->negated ? Operation::kIsNotNull : Operation::kIsNull;
    const auto* parameter = std::get_if<ParameterRef>(&test->operand->node);
    if (parameter == nullptr) return std::nullopt;
    step.slot = parameter->slot;
    return push();
  }
  if (!is_computed(expression.type.oid)) return std::nullopt;
  if (const auto* constant = std::get_if<Constant>(&node)) {
    step.value = number_of(constant->value);
    return push();
  }
  if (const auto* parameter = std::get_if<ParameterRef>(&node)) {
    step.operation = Operation::kParameter;
    step.slot = parameter->slot;
    return push();
  }
  if (const auto* call = std::get_if<FunctionCall>(&node)) return add_call(expression, *call);
  if (const auto* cast = std::get_if<CastCall>(&node)) {
    const Oid from = cast->operand->type.oid;
    const bool widens = cast->method == CastCall::Method::kFunction && is_integer_type(from) && is_integer_type(expression.type.oid) &&
                        greatest_of(from) <= greatest_of(expression.type.oid);
    if (!widens) return std::nullopt;
    const auto operand = add(*cast->operand);
    if (!operand) return std::nullopt;
    step.operation = Operation::kWiden;
    step.left = *operand;
    return push();
  }
  const auto* logical = std::get_if<Logical>(&node);
  if (logical == nullptr) return std::nullopt;
  std::optional<std::size_t> left = add(*logical->operands[0]);
  if (!left) return std::nullopt;
  if (logical->kind == Logical::Kind::kNot) {
    step.operation = Operation::kNot;
    step.left = *left;
    return push();
  }
  step.operation = logical->kind == Logical::Kind::kAnd ? Operation::kAnd : Operation::kOr;
  for (std::size_t i = 1; i < logical->operands.size(); ++i) {
    const auto right = add(*logical->operands[i]);
    if (!right) return std::nullopt;
    step.left = *left;
    step.right = *right;
    left = push();
  }
  return left;
}

std::optional<std::size_t> ScalarProgram::add_call(const Expression& expression, const FunctionCall& call) {
  struct Operator {
    std::string_view name;
    Operation operation;
  };
  static constexpr Operator kOperators[] = {
      {"+", Operation::kAdd},    {"-", Operation::kSubtract}, {"*", Operation::kMultiply},     {"/", Operation::kDivide}, {"%", Operation::kRemainder},
      {"=", Operation::kEqual},  {"<>", Operation::kUnequal}, {"<", Operation::kLess},         {"<=", Operation::kLessOrEqual},
      {">", Operation::kGreater}, {">=", Operation::kGreaterOrEqual},
  };
  const auto found = std::ranges::find(kOperators, call.function->name, &Operator::name);
  const bool are_integers = std::ranges::all_of(call.arguments, [](const ExpressionPtr& one) { return is_integer_type(one->type.oid); });
  if (found == std::end(kOperators) || !are_integers || call.arguments.empty() || call.arguments.size() > 2) return std::nullopt;
  Step step{.operation = found->operation, .type = expression.type.oid};
  if (call.arguments.size() == 1 && step.operation != Operation::kSubtract) return std::nullopt;
  const auto left = add(*call.arguments[0]);
  if (!left) return std::nullopt;
  step.left = *left;
  if (call.arguments.size() == 1) {
    step.operation = Operation::kNegate;
  } else {
    const auto right = add(*call.arguments[1]);
    if (!right) return std::nullopt;
    step.right = *right;
  }
  steps_.push_back(step);
  return steps_.size() - 1;
}

ScalarProgram::Value ScalarProgram::compute(std::size_t number, std::span<const Datum> parameters) const {
  const Step& step = steps_[number];
  switch (step.operation) {
    case Operation::kConstant:
      return step.value;
    case Operation::kParameter:
      return number_of(parameters[step.slot]);
    case Operation::kIsNull:
      return is_null(parameters[step.slot]) ? 1 : 0;
    case Operation::kIsNotNull:
      return is_null(parameters[step.slot]) ? 0 : 1;
    default:
      break;
  }
  const Value left = compute(step.left, parameters);
  if (step.operation == Operation::kWiden) return left;
  if (step.operation == Operation::kNot) return left ? Value(*left == 0 ? 1 : 0) : left;
  if (step.operation == Operation::kNegate) return left ? Value(in_range(step.type, 0 - (*left == least_of(oid::kInt8) ? 0 : *left), *left == least_of(oid::kInt8))) : left;
  const bool decides = step.operation == Operation::kAnd ? left == Value(0) : step.operation == Operation::kOr && left && *left != 0;
  if (decides) return left;
  const Value right = compute(step.right, parameters);
  if (step.operation == Operation::kAnd) return right == Value(0) ? right : left && right ? Value(1) : Value();
  if (step.operation == Operation::kOr) return right && *right != 0 ? right : left && right ? Value(0) : Value();
  if (!left || !right) return std::nullopt;
  const std::int64_t a = *left, b = *right;
  std::int64_t result = 0;
  switch (step.operation) {
    case Operation::kAdd: {
      const bool overflows = __builtin_add_overflow(a, b, &result);
      return in_range(step.type, result, overflows);
    }
    case Operation::kSubtract: {
      const bool overflows = __builtin_sub_overflow(a, b, &result);
      return in_range(step.type, result, overflows);
    }
    case Operation::kMultiply: {
      const bool overflows = __builtin_mul_overflow(a, b, &result);
      return in_range(step.type, result, overflows);
    }
    case Operation::kDivide:
      if (b == 0) throw division_by_zero();
      if (b == -1) return in_range(step.type, a == least_of(oid::kInt8) ? a : -a, a == least_of(oid::kInt8));
      return a / b;
    case Operation::kRemainder:
      if (b == 0) throw division_by_zero();
      return b == -1 ? 0 : a % b;
    case Operation::kEqual:
      return a == b;
    case Operation::kUnequal:
      return a != b;
    case Operation::kLess:
      return a < b;
    case Operation::kLessOrEqual:
      return a <= b;
    case Operation::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

Datum ScalarProgram::run(std::span<const Datum> parameters) const {
  const Value value = compute(steps_.size() - 1, parameters);
  if (!value) return {};
  return datum_of(steps_.back().type, *value);
}

}  // namespace redquel::sql
