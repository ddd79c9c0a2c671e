#pragma once

#include <vector>

#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// WITH (…) of CREATE VIEW, ALTER VIEW … SET (…): check_option is in force, the others are remembered. 22023.
void set_view_options(const std::vector<parser::ast::Option>& options, sql::ViewDef& view);
/// ALTER VIEW … RESET (…).
void reset_view_options(const std::vector<parser::ast::Option>& options, sql::ViewDef& view);

}  // namespace redquel::executor
