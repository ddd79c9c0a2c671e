#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "parser/ast.h"
#include "sql/expressions/expression.h"

namespace redquel::planner {

/// `[i][j]`, `[a:b][c]`, bound: what array_subscript.h's functions take after the array.
struct ArraySubscripts {
  bool is_slice = false;
  std::vector<sql::ExpressionPtr> arguments;
};

inline bool is_subscript(const parser::ast::IndirectionStep& step) {
  return std::holds_alternative<parser::ast::SubscriptStep>(step) || std::holds_alternative<parser::ast::SliceStep>(step);
}

/// 42704 where there is no array over that type.
sql::Type array_over(sql::Type element, std::optional<std::uint32_t> offset);

}  // namespace redquel::planner
