#pragma once

#include <string>

#include "sql/catalog/catalog.h"
#include "sql/evaluation_context.h"

namespace redquel::sql {

/// The words of FunctionDef::options in front of its SET clauses.
struct FunctionWords {
  char parallel = 'u';  // as pg_proc.proparallel: s, r, u
  bool security_definer = false, leakproof = false;
  double default_cost = 100, cost = 100, rows = 1000;

  explicit FunctionWords(const FunctionDef& function);
  /// Returns the text for `options`, without defaults.
  std::string text() const;
};

/// pg_get_function_arguments(): "a integer, b text DEFAULT 'x'::text"; pg_get_function_identity_arguments() leaves the defaults out.
std::string function_arguments(const FunctionDef& function, const EvaluationContext& context, bool with_defaults);
/// pg_get_function_result(): "integer", "SETOF text", "TABLE(a integer)"; nothing of procedures.
std::string function_result(const FunctionDef& function, const EvaluationContext& context);
/// The body as it is stored: "RETURN a + 1", "BEGIN ATOMIC …"; nothing of a function whose body was written as a string.
std::string function_standard_body(const FunctionDef& function);
/// Its SET clauses as pg_proc.proconfig has them, "search_path=public, pg_temp": the lines of `options` behind its words.
std::vector<std::string> function_settings(const FunctionDef& function);
/// Returns true if a parameter's value is a list of names, each quoted if necessary.
bool is_list_of_names(std::string_view parameter);
/// pg_get_functiondef().
std::string function_definition(const FunctionDef& function, const EvaluationContext& context);

}  // namespace redquel::sql
