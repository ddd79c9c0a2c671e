#include "sql/catalog/function_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/functions/quote.h"

namespace redquel::sql {

namespace {

std::string named(const std::string& name, Type type) {
  return name.empty() ? format_type(type) : quote_identifier(name) + " " + format_type(type);
}

/// An INOUT parameter, as definitions of before parameters had modes tell it.
bool is_column(const FunctionDef& function, const std::string& name) {
  return !function.table_syntax && !function.procedure && !name.empty() &&
         std::ranges::find(function.columns, name, &FunctionDef::Column::name) != function.columns.end();
}

std::string result_type(const FunctionDef& function, const CatalogSnapshot& catalog) {
  const auto named_as = [](const auto& relation) {  // without a path to ask, only public is taken for granted
    const std::string schema = relation.schema == "public" ? "" : quote_identifier(relation.schema) + ".";
    return schema + quote_identifier(relation.name);
  };
  if (const auto table = catalog.find_table(function.result_relation)) return named_as(*table);
  if (const auto view = catalog.find_view(function.result_relation)) return named_as(*view);
  return format_type(function.result);
}

/// A quoting that the text does not end.
std::string dollar_quoted(const std::string& text, bool procedure) {
  std::string tag = procedure ? "$procedure$" : "$function$";
  while (text.find(tag) != std::string::npos) tag.insert(tag.size() - 1, "x");
  return tag + text + tag;
}

}  // namespace

std::string function_arguments(const FunctionDef& function, bool with_defaults) {
  using Mode = FunctionDef::Parameter::Mode;
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const FunctionDef::Parameter& parameter : function.parameters) {
    const bool is_both = parameter.mode == Mode::kInOut || is_column(function, parameter.name);
    const std::string_view mode = parameter.mode == Mode::kVariadic ? "VARIADIC "
                                  : parameter.mode == Mode::kOut    ? "OUT "
                                  : is_both                         ? "INOUT "
                                  : function.procedure              ? "IN "
                                                                    : "";
    std::string part = std::string(mode) + named(parameter.name, parameter.type);
    if (with_defaults && !parameter.default_sql.empty()) part += " DEFAULT " + parameter.default_sql;
    add(part);
  }
  if (function.table_syntax || function.procedure) return text;
  for (const FunctionDef::Column& column : function.columns) {
    const bool is_both = !column.name.empty() && std::ranges::find(function.parameters, column.name, &FunctionDef::Parameter::name) !=
                                                     function.parameters.end();
    if (!is_both) add("OUT " + named(column.name, column.type));
  }
  return text;
}

std::string function_result(const FunctionDef& function, const CatalogSnapshot& catalog) {
  if (function.procedure) return {};
  if (!function.table_syntax) return (function.returns_set ? "SETOF " : "") + result_type(function, catalog);
  std::string columns;
  for (const FunctionDef::Column& column : function.columns) columns += (columns.empty() ? "" : ", ") + named(column.name, column.type);
  return "TABLE(" + columns + ")";
}

std::string function_standard_body(const FunctionDef& function) {
  if (!function.standard_body) return {};
  if (!function.atomic_body) return "RETURN " + function.body.substr(std::string_view("SELECT ").size());
  std::string text = "BEGIN ATOMIC";
  for (std::size_t begin = 0; begin < function.body.size();) {
    const std::size_t end = std::min(function.body.find(";\n", begin), function.body.size());
    text += "\n " + function.body.substr(begin, end - begin) + ";";
    begin = end + 2;
  }
  return text + "\nEND";
}

std::string function_definition(const FunctionDef& function, const CatalogSnapshot& catalog) {
  std::string options;
  if (function.volatility == FunctionDef::Volatility::kImmutable) options += " IMMUTABLE";
  if (function.volatility == FunctionDef::Volatility::kStable) options += " STABLE";
  const std::size_t security = function.options.find(" SECURITY DEFINER");
  options += function.options.substr(0, security);
  if (function.strict) options += " STRICT";
  if (security != std::string::npos) options += function.options.substr(security);
  if (!options.empty()) options += "\n";
  const std::string body =
      function.standard_body ? function_standard_body(function) : "AS " + dollar_quoted(function.body, function.procedure);
  const std::string name = quote_identifier(function.schema) + "." + quote_identifier(function.name);
  const std::string returns = function.procedure ? "" : fmt::format(" RETURNS {}\n", function_result(function, catalog));
  return fmt::format("CREATE OR REPLACE {} {}({})\n{} LANGUAGE sql\n{}{}\n", function.procedure ? "PROCEDURE" : "FUNCTION", name,
                     function_arguments(function, true), returns, options, body);
}

}  // namespace redquel::sql
