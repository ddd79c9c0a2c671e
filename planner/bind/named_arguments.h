#pragma once

#include <string_view>
#include <vector>

#include "parser/ast.h"
#include "planner/bind/bind_state.h"

namespace redquel::planner {

/// The bound arguments of a call `f(a, name => b)` in the order of the function's parameters; what is left out gets its
/// default (manual 4.3). As they are where none is named. 42601 for a name given twice or a positional argument behind a
/// named one, 42883 where no function has such parameters.
std::vector<sql::ExpressionPtr> arrange_arguments(const BindState& state, std::string_view function,
                                                  const std::vector<parser::ast::Argument>& written,
                                                  std::vector<sql::ExpressionPtr> bound, std::optional<std::uint32_t> offset);

/// 42601 for a name given twice, or a positional argument behind a named one.
void check_argument_names(const BindState& state, const std::vector<parser::ast::Argument>& written);

/// Parameters of type void stand for output parameters (JDBC's "{? = call f(?)}"): they are none of the function's.
void drop_output_parameters(std::vector<sql::ExpressionPtr>& arguments);
bool is_output_parameter(const sql::Expression& argument);

}  // namespace redquel::planner
