#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sql/expressions/expression.h"

namespace redquel::sql {

/// An expression over integers and booleans, for values one at a time: evaluate() makes a column for each part of an expression, which is
/// many times the work of an addition. Arithmetic, comparisons, AND, OR, NOT and IS NULL over parameters and constants.
class ScalarProgram {
 public:
  /// nullopt: the expression has other parts.
  static std::optional<ScalarProgram> compile(const Expression& expression);

  /// Like evaluate_scalar(). Throws 22003, 22012.
  Datum run(std::span<const Datum> parameters) const;

 private:
  enum class Operation : std::uint8_t {
    kConstant, kParameter, kIsNull, kIsNotNull, kNot, kAnd, kOr, kNegate, kAdd, kSubtract, kMultiply, kDivide, kRemainder,
    kEqual, kUnequal, kLess, kLessOrEqual, kGreater, kGreaterOrEqual, kWiden,
  };
  struct Step {
    Operation operation;
    Oid type = 0;             // of the result
    std::uint32_t slot = 0;   // kParameter
    std::size_t left = 0, right = 0;  // steps
    std::optional<std::int64_t> value = {};  // kConstant
  };
  using Value = std::optional<std::int64_t>;

  std::optional<std::size_t> add(const Expression& expression);
  std::optional<std::size_t> add_call(const Expression& expression, const FunctionCall& call);
  Value compute(std::size_t step, std::span<const Datum> parameters) const;

  std::vector<Step> steps_;  // the last one is the whole
};

}  // namespace redquel::sql
