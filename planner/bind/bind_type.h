#pragma once

#include "parser/ast.h"
#include "sql/types/type.h"

namespace redquel::planner {

/// The type that a name means, with its modifier: numeric(10,2). 42704 "type … does not exist", and the modifier's
/// errors, at the name's offset; 0A000 for table.column%TYPE and SETOF.
sql::Type bind_type(const parser::ast::TypeName&);

}  // namespace redquel::planner
