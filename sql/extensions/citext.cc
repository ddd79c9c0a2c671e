// The extension citext: text that is compared without regard to case.

#include <algorithm>
#include <functional>

#include "sql/extensions/families.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/compare.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

template <class Order>
bool holds(Text a, Text b) {
  return Order{}(compare_citext(a, b), 0);
}

/// The operators ~<~ and the like compare bytes of the lower case, as < does in the C locale.
template <class Order>
void add_order(std::vector<ScalarFunction>& table, std::string_view name, std::string_view pattern_name) {
  table.push_back(scalar<holds<Order>>(name, {kCitext, kCitext}, kBool));
  if (!pattern_name.empty()) table.push_back(scalar<holds<Order>>(pattern_name, {kCitext, kCitext}, kBool));
}

/// Adds an operator with the body of an operator of texts.
void add_pattern_operator(std::vector<ScalarFunction>& table, const std::vector<ScalarFunction>& rows, std::string_view name, std::string_view body) {
  const std::vector<Oid> texts{oid::kText, oid::kText};
  const auto found = std::ranges::find_if(rows, [&](const ScalarFunction& row) { return row.name == body && row.arguments == texts; });
  for (const Oid right : {oid::kCitext, oid::kText}) {
    ScalarFunction row = *found;
    row.name = name;
    row.arguments = {oid::kCitext, right};
    table.push_back(std::move(row));
  }
}

Int three_way(Text a, Text b) { return compare_citext(a, b); }

/// Both return the second of two equal values, as PostgreSQL's do.
Text smaller(Text a, Text b) { return compare_citext(a, b) < 0 ? a : b; }
Text larger(Text a, Text b) { return compare_citext(a, b) > 0 ? a : b; }

/// A function with the body of an operator.
struct OperatorFunction {
  std::string_view operator_name, function, source;
  bool takes_text = false;  // on the right, too
};
constexpr OperatorFunction kOperatorFunctions[] = {
    {"=", "citext_eq", "citext_eq"},
    {"<>", "citext_ne", "citext_ne"},
    {"<", "citext_lt", "citext_lt"},
    {"<=", "citext_le", "citext_le"},
    {">", "citext_gt", "citext_gt"},
    {">=", "citext_ge", "citext_ge"},
    {"~~", "texticlike", "texticlike", true},
    {"!~~", "texticnlike", "texticnlike", true},
    {"~", "texticregexeq", "texticregexeq", true},
    {"!~", "texticregexne", "texticregexne", true},
    {"~<~", "citext_pattern_lt", "citext_pattern_lt"},
    {"~<=~", "citext_pattern_le", "citext_pattern_le"},
    {"~>~", "citext_pattern_gt", "citext_pattern_gt"},
    {"~>=~", "citext_pattern_ge", "citext_pattern_ge"},
};

void add_operator_functions(std::vector<ExtensionFunction>& functions) {
  const std::vector<ScalarFunction> operators = citext_operators();
  for (const OperatorFunction& made : kOperatorFunctions) {
    for (const ScalarFunction& row : operators) {
      if (row.name != made.operator_name || (row.arguments[1] != oid::kCitext && !made.takes_text)) continue;
      ScalarFunction function = row;
      function.name = made.function;
      functions.push_back({std::move(function), made.source});
    }
  }
}

/// A function that has the name of a function of texts: its body calls that one.
void add_text_functions(std::vector<ExtensionFunction>& functions) {
  const auto add = [&](std::string_view name, std::initializer_list<Type> arguments, Type result, std::string_view body, bool returns_set = false) {
    functions.push_back({column_function(name, arguments, result, nullptr, Volatility::kImmutable, true), body, {}, returns_set});
  };
  add("regexp_match", {kCitext, kCitext}, kTextArray, "SELECT pg_catalog.regexp_match($1::pg_catalog.text, $2::pg_catalog.text, 'i')");
  add("regexp_match", {kCitext, kCitext, kText}, kTextArray,
      "SELECT pg_catalog.regexp_match($1::pg_catalog.text, $2::pg_catalog.text, "
      "CASE WHEN pg_catalog.strpos($3, 'c') > 0 THEN $3 ELSE $3 || 'i' END)");
  add("regexp_matches", {kCitext, kCitext}, kTextArray, "SELECT pg_catalog.regexp_matches($1::pg_catalog.text, $2::pg_catalog.text, 'i')", true);
  add("regexp_matches", {kCitext, kCitext, kText}, kTextArray,
      "SELECT pg_catalog.regexp_matches($1::pg_catalog.text, $2::pg_catalog.text, "
      "CASE WHEN pg_catalog.strpos($3, 'c') > 0 THEN $3 ELSE $3 || 'i' END)",
      true);
  add("regexp_replace", {kCitext, kCitext, kText}, kText, "SELECT pg_catalog.regexp_replace($1::pg_catalog.text, $2::pg_catalog.text, $3, 'i')");
  add("regexp_replace", {kCitext, kCitext, kText, kText}, kText,
      "SELECT pg_catalog.regexp_replace($1::pg_catalog.text, $2::pg_catalog.text, $3, "
      "CASE WHEN pg_catalog.strpos($4, 'c') > 0 THEN $4 ELSE $4 || 'i' END)");
  add("regexp_split_to_array", {kCitext, kCitext}, kTextArray,
      "SELECT pg_catalog.regexp_split_to_array($1::pg_catalog.text, $2::pg_catalog.text, 'i')");
  add("regexp_split_to_array", {kCitext, kCitext, kText}, kTextArray,
      "SELECT pg_catalog.regexp_split_to_array($1::pg_catalog.text, $2::pg_catalog.text, "
      "CASE WHEN pg_catalog.strpos($3, 'c') > 0 THEN $3 ELSE $3 || 'i' END)");
  add("regexp_split_to_table", {kCitext, kCitext}, kText,
      "SELECT pg_catalog.regexp_split_to_table($1::pg_catalog.text, $2::pg_catalog.text, 'i')", true);
  add("regexp_split_to_table", {kCitext, kCitext, kText}, kText,
      "SELECT pg_catalog.regexp_split_to_table($1::pg_catalog.text, $2::pg_catalog.text, "
      "CASE WHEN pg_catalog.strpos($3, 'c') > 0 THEN $3 ELSE $3 || 'i' END)",
      true);
  add("strpos", {kCitext, kCitext}, kInt4,
      "SELECT pg_catalog.strpos(pg_catalog.lower($1::pg_catalog.text), pg_catalog.lower($2::pg_catalog.text))");
  // "***=" makes the rest of a pattern a literal text.
  add("replace", {kCitext, kCitext, kCitext}, kText,
      "SELECT pg_catalog.regexp_replace($1::pg_catalog.text, '***=' || $2::pg_catalog.text, $3::pg_catalog.text, 'gi')");
  add("split_part", {kCitext, kCitext, kInt4}, kText,
      "SELECT (pg_catalog.regexp_split_to_array($1::pg_catalog.text, '***=' || $2::pg_catalog.text, 'i'))[$3]");
  add("translate", {kCitext, kCitext, kText}, kText,
      "SELECT pg_catalog.translate(pg_catalog.translate($1::pg_catalog.text, pg_catalog.lower($2::pg_catalog.text), $3), "
      "pg_catalog.upper($2::pg_catalog.text), $3)");
}

}  // namespace

std::vector<ScalarFunction> citext_operators() {
  std::vector<ScalarFunction> table;
  add_order<std::equal_to<>>(table, "=", "");
  add_order<std::not_equal_to<>>(table, "<>", "");
  add_order<std::less<>>(table, "<", "~<~");
  add_order<std::less_equal<>>(table, "<=", "~<=~");
  add_order<std::greater<>>(table, ">", "~>~");
  add_order<std::greater_equal<>>(table, ">=", "~>=~");
  const std::vector<ScalarFunction> patterns = pattern_functions(), expressions = regexp_functions();
  for (const std::string_view name : {"~~", "~~*"}) add_pattern_operator(table, patterns, name, "~~*");
  for (const std::string_view name : {"!~~", "!~~*"}) add_pattern_operator(table, patterns, name, "!~~*");
  for (const std::string_view name : {"~", "~*"}) add_pattern_operator(table, expressions, name, "~*");
  for (const std::string_view name : {"!~", "!~*"}) add_pattern_operator(table, expressions, name, "!~*");
  return table;
}

Extension citext_extension() {
  Extension extension{.name = "citext", .version = "1.6", .comment = "data type for case-insensitive character strings", .types = {oid::kCitext}};
  extension.functions = {
      {scalar<three_way>("citext_cmp", {kCitext, kCitext}, kInt4), "citext_cmp"},
      {scalar<smaller>("citext_smaller", {kCitext, kCitext}, kCitext), "citext_smaller"},
      {scalar<larger>("citext_larger", {kCitext, kCitext}, kCitext), "citext_larger"},
  };
  add_operator_functions(extension.functions);
  add_text_functions(extension.functions);
  return extension;
}

}  // namespace redquel::sql
