#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

// CREATE INDEX … USING gin, gist, spgist, brin. An index USING gin keeps sets of entries (sql/entries). Of the others the definitions are
// remembered that schemas bring along: Redis has nothing like them, and queries read what they read without them.

std::optional<sql::IndexMethod> generalized_method(std::string_view name);
/// Refuses options that PostgreSQL's method does not support either: 0A000, 22023.
void check_generalized(const parser::ast::CreateIndex& statement);
/// The operator class of a part; empty: the type's own. 42704, 42804 in PostgreSQL's words.
std::string generalized_operator_class(const sql::CatalogSnapshot& catalog, const parser::ast::IndexElement& element, sql::Type type, std::string_view method);

}  // namespace redquel::executor
