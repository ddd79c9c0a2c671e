#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::planner {

/// A type as a cast or a column names it: values of a domain are values of the type under it, and must pass the domain's conditions.
struct DeclaredType {
  sql::Type type;
  sql::Oid domain = 0;  // 0: no domain
};

/// The type that a name means, with its modifier: numeric(10,2). 42704 "type … does not exist", and the modifier's
/// errors, at the name's offset; 0A000 for table.column%TYPE and SETOF.
DeclaredType bind_declared_type(const parser::ast::TypeName&, const sql::CatalogSnapshot&, const std::vector<std::string>& search_path);
/// Like bind_type() above, without the domain's conditions.
sql::Type bind_type(const parser::ast::TypeName&, const sql::CatalogSnapshot&, const std::vector<std::string>& search_path);

/// The user-made type of that name: an enum, a domain, a composite or range type, or the multirange type over one. nullopt: there is
/// none.
std::optional<sql::Oid> find_made_type(const parser::ast::QualifiedName&, const sql::CatalogSnapshot&, const std::vector<std::string>& search_path);

}  // namespace redquel::planner
