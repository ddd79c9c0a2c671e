#include "sql/catalog/function_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/functions/quote.h"

namespace redquel::sql {

namespace {

std::string named(const std::string& name, Type type) {
  return name.empty() ? format_type(type) : quote_identifier(name) + " " + format_type(type);
}

/// A quoting that the text does not end.
std::string dollar_quoted(const std::string& text) {
  std::string tag = "$function$";
  while (text.find(tag) != std::string::npos) tag.insert(tag.size() - 1, "x");
  return tag + text + tag;
}

}  // namespace

std::string function_arguments(const FunctionDef& function, bool with_defaults) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const FunctionDef::Parameter& parameter : function.parameters) {
    const bool is_both = !function.table_syntax && !parameter.name.empty() &&
                         std::ranges::find(function.columns, parameter.name, &FunctionDef::Column::name) != function.columns.end();
    std::string part = (is_both ? "INOUT " : "") + named(parameter.name, parameter.type);
    if (with_defaults && !parameter.default_sql.empty()) part += " DEFAULT " + parameter.default_sql;
    add(part);
  }
  if (function.table_syntax) return text;
  for (const FunctionDef::Column& column : function.columns) {
    const bool is_both = !column.name.empty() && std::ranges::find(function.parameters, column.name, &FunctionDef::Parameter::name) !=
                                                     function.parameters.end();
    if (!is_both) add("OUT " + named(column.name, column.type));
  }
  return text;
}

std::string function_result(const FunctionDef& function) {
  if (!function.table_syntax) return (function.returns_set ? "SETOF " : "") + format_type(function.result);
  std::string columns;
  for (const FunctionDef::Column& column : function.columns) columns += (columns.empty() ? "" : ", ") + named(column.name, column.type);
  return "TABLE(" + columns + ")";
}

std::string function_definition(const FunctionDef& function) {
  std::string options;
  if (function.volatility == FunctionDef::Volatility::kImmutable) options += " IMMUTABLE";
  if (function.volatility == FunctionDef::Volatility::kStable) options += " STABLE";
  const std::size_t security = function.options.find(" SECURITY DEFINER");
  options += function.options.substr(0, security);
  if (function.strict) options += " STRICT";
  if (security != std::string::npos) options += function.options.substr(security);
  if (!options.empty()) options += "\n";
  constexpr std::string_view kSelect = "SELECT ";
  std::string body = "AS " + dollar_quoted(function.body);
  if (function.standard_body) body = "RETURN " + function.body.substr(kSelect.size());
  return fmt::format("CREATE OR REPLACE FUNCTION {}.{}({})\n RETURNS {}\n LANGUAGE sql\n{}{}\n", quote_identifier(function.schema),
                     quote_identifier(function.name), function_arguments(function, true), function_result(function), options, body);
}

}  // namespace redquel::sql
