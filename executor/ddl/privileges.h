#pragma once

#include "parser/ast.h"

namespace redquel::executor {

/// 42601 for a privilege that nobody knows, 0LP01 for one that objects of that kind do not have, or that columns do not have.
void check_privileges(const parser::ast::Grant& grant);
/// 0LP01 where PUBLIC gets a grant option.
void check_grant_option(const parser::ast::Grant& grant);

}  // namespace redquel::executor
