#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sql/expressions/expression.h"
#include "sql/types/type.h"

namespace redquel::planner {

/// The types of $1… while a statement is bound: a parameter without a declared type takes that of the first context
/// that asks for one (PostgreSQL's parse_param.c).
class ParameterTypes {
 public:
  /// `allowed` false: any $n is 42P02.
  ParameterTypes(std::vector<sql::Type> declared, bool allowed) : types_(std::move(declared)), allowed_(allowed) {}

  /// $number as an expression, of type unknown as long as nothing has decided. 42P02 where it cannot exist.
  sql::ExpressionPtr reference(std::int32_t number, std::optional<std::uint32_t> offset);
  static bool is_undecided(const sql::Expression&);
  /// The undecided `parameter` in its context's type. 42P08 when another context chose another type before.
  sql::ExpressionPtr decide(const sql::ExpressionPtr& parameter, sql::Type target);
  std::size_t count() const { return types_.size(); }
  /// All types, when the statement is bound. 42P08 for a place that saw no type although another did, 42P18 for a
  /// parameter without any.
  std::vector<sql::Type> finish() const;

 private:
  std::vector<sql::Type> types_;
  std::vector<sql::ExpressionPtr> undecided_;  // references that no context has typed yet
  bool allowed_;
};

}  // namespace redquel::planner
