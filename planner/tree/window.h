#pragma once

#include <tuple>
#include <vector>

#include "parser/ast_expression.h"
#include "planner/tree/node_parts.h"
#include "sql/expressions/expression.h"
#include "sql/functions/function.h"

namespace redquel::sql {
struct WindowFunction;
}

namespace redquel::planner {

using parser::ast::FrameBound;
using parser::ast::FrameExclusion;
using parser::ast::FrameMode;

struct WindowFrame {
  FrameMode mode = FrameMode::kRange;
  FrameBound start = FrameBound::kUnboundedPreceding, end = FrameBound::kCurrentRow;
  /// Without columns; null unless the bound is an offset. ROWS and GROUPS: int8; RANGE: what is added to the order column.
  sql::ExpressionPtr start_offset, end_offset;
  FrameExclusion exclusion = FrameExclusion::kNoOthers;
  static constexpr std::tuple kParts{Expressions{&WindowFrame::start_offset}, Expressions{&WindowFrame::end_offset}};
};

/// One call with OVER.
struct WindowCall {
  const sql::WindowFunction* function = nullptr;  // null: `aggregate` over the frame
  const sql::AggregateFunction* aggregate = nullptr;
  std::vector<sql::ExpressionPtr> arguments;
  sql::ExpressionPtr filter;  // of an aggregate; null: none
  WindowFrame frame;
  static constexpr std::tuple kParts{Expressions{&WindowCall::arguments}, Expressions{&WindowCall::filter}, Expressions{&WindowCall::frame}};
};

}  // namespace redquel::planner
