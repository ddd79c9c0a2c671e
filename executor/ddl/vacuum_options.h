#pragma once

#include "parser/ast.h"

namespace redquel::executor {

/// What VACUUM and ANALYZE may be told, though none of it changes what they do. 42601, 0A000.
void check_vacuum_options(const parser::ast::Vacuum& statement);

}  // namespace redquel::executor
