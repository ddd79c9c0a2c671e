#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/functions/function.h"

namespace redquel::sql {

/// A row of pg_proc: a function of PostgreSQL's that redquel has or that another catalog refers to, with PostgreSQL's oid and
/// properties; or one of redquel's own (redis.call), which no client asks for by number.
struct CatalogFunction {
  Oid oid = 0;
  std::string name;
  std::vector<Oid> arguments;
  Oid result = 0;
  char kind = 'f';  // f, a, w
  Volatility volatility = Volatility::kImmutable;
  bool strict = true;
  Oid variadic = 0;  // type of the elements
  bool returns_set = false;
  std::vector<std::pair<std::string, Oid>> output_columns;  // of a function of redquel's own that returns several
  std::string_view facts;  // its line in function_facts(); empty: redquel's own
};

std::span<const CatalogFunction> all_catalog_functions();
/// Returns the schema of a function and its name there. Functions of redquel's own are in `redis` and `redquel`.
std::pair<std::string_view, std::string_view> own_schema_and_name(const CatalogFunction& function);
const CatalogFunction* find_catalog_function(Oid function);
/// All overloads.
std::vector<const CatalogFunction*> find_catalog_functions(std::string_view name);

/// pg_get_function_arguments(): "text, integer", "VARIADIC "any"", "target jsonb, silent boolean DEFAULT false".
std::string function_arguments(const CatalogFunction& function, bool with_defaults);
/// pg_get_function_result(): "SETOF integer", "TABLE(…)" as "record".
std::string function_result(const CatalogFunction& function);

/// pg_type.typinput, typoutput, typreceive, typsend, typmodin, typmodout: 0 where there is none.
struct TypeFunctions {
  Oid input = 0, output = 0, receive = 0, send = 0, modifier_input = 0, modifier_output = 0;
};
TypeFunctions functions_of_type(const TypeInfo& type);
/// The functions of every enum, and of domains (whose output is that of the type under them).
inline constexpr TypeFunctions kEnumFunctions{3506, 3507, 3532, 3533}, kDomainFunctions{.input = 2597, .receive = 2598};

namespace oid {
inline constexpr Oid kInternal = 2281, kTriggerFunction = 2279, kArrayAnalyze = 3816, kRangeAnalyze = 3916, kMultirangeAnalyze = 4242,
                     kArraySubscript = 6179, kRawArraySubscript = 6180;
}

}  // namespace redquel::sql
