#pragma once

#include <memory>

#include "executor/ddl/catalog_draft.h"
#include "parser/ast.h"

namespace redquel::executor {

/// The function in LANGUAGE sql that a statement names. 42883; 42725 where the name alone means several.
std::shared_ptr<const sql::FunctionDef> require_function(const CatalogDraft& draft, const parser::ast::ObjectName& object);
/// That of the same name and parameters; null: there is none.
std::shared_ptr<const sql::FunctionDef> find_same_function(const CatalogDraft& draft, const sql::FunctionDef& function);

}  // namespace redquel::executor
