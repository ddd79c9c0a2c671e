#pragma once

#include "parser/ast.h"

namespace redquel::executor {

/// Checks the options of VACUUM and ANALYZE, none of which has an effect. 42601, 0A000.
void check_vacuum_options(const parser::ast::Vacuum& statement);

}  // namespace redquel::executor
