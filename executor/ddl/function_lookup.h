#pragma once

#include <memory>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"

namespace redquel::executor {

/// FUNCTION, PROCEDURE or ROUTINE.
bool is_routine(parser::ast::ObjectType);
/// The function in LANGUAGE sql that a statement names, of the kind that it says. 42883; 42725 where the name alone means several; 42809.
std::shared_ptr<const sql::FunctionDef> require_function(const CatalogDraft& draft, const parser::ast::ObjectName& object,
                                                         parser::ast::ObjectType kind);
/// Puts the function under another name or in another schema, and its calls in views and tables follow. 42723.
void replace_function(CatalogDraft& draft, const sql::FunctionDef& before, sql::FunctionDef function);
/// Returns the function of the same name and parameters; null: there is none.
std::shared_ptr<const sql::FunctionDef> find_same_function(const CatalogDraft& draft, const sql::FunctionDef& function);

}  // namespace redquel::executor
