#pragma once

#include <string>

#include "executor/runtime/session_state.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// Returns true if the session's transaction may not run the definition statement: in a read-only transaction all of them, where the server only
/// looks at Redis those that make rows or need keys of their own.
bool refuses_definition(const parser::ast::Statement& statement, const SessionState& session);

/// Returns the text of a definition statement as it is kept: followed by a semicolon, between changes of the search path if those of its
/// schemas that exist are others than "public".
std::string statement_with_path(const std::string& text, const SessionState& session, const sql::CatalogSnapshot& catalog);

}  // namespace redquel::executor
