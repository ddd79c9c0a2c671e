#pragma once

#include <vector>

#include "executor/runtime/session_state.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// Applies the options of CREATE FUNCTION and ALTER FUNCTION: volatility, STRICT, SECURITY, LEAKPROOF, PARALLEL, COST, ROWS, SET, RESET.
/// `function` knows whether it is a procedure and whether it returns a set. 42601 for an option twice, 42P13 for options that procedures
/// lack, 22023, 42704.
void apply_function_options(sql::FunctionDef& function, const std::vector<parser::ast::Option>& options, const SessionState& session);

}  // namespace redquel::executor
