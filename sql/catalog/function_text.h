#pragma once

#include <string>

#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// pg_get_function_arguments(): "a integer, b text DEFAULT 'x'"; pg_get_function_identity_arguments() leaves the defaults out.
std::string function_arguments(const FunctionDef& function, bool with_defaults);
/// pg_get_function_result(): "integer", "SETOF text", "TABLE(a integer)"; nothing of procedures.
std::string function_result(const FunctionDef& function, const CatalogSnapshot& catalog);
/// pg_get_function_sqlbody(): "RETURN (a + 1)", "BEGIN ATOMIC …"; nothing of a function whose body was written as a string.
std::string function_standard_body(const FunctionDef& function);
/// pg_get_functiondef().
std::string function_definition(const FunctionDef& function, const CatalogSnapshot& catalog);

}  // namespace redquel::sql
