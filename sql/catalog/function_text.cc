#include "sql/catalog/function_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sql/definition_words.h"
#include "sql/extensions/extension.h"
#include "sql/functions/object_names.h"
#include "sql/functions/quote.h"
#include "sql/system_tables/relations.h"

namespace redquel::sql {

namespace {

std::string type_name(const EvaluationContext& context, Type type) { return object_name(Type{oid::kRegtype}, type.oid, context); }

std::string named(const EvaluationContext& context, const std::string& name, Type type) {
  return name.empty() ? type_name(context, type) : quote_identifier(name) + " " + type_name(context, type);
}

/// Returns true for an INOUT parameter in a definition that was stored before parameters had modes.
bool is_column(const FunctionDef& function, const std::string& name) {
  return !function.table_syntax && !function.procedure && !name.empty() &&
         std::ranges::find(function.columns, name, &FunctionDef::Column::name) != function.columns.end();
}

std::string result_type(const FunctionDef& function, const EvaluationContext& context) {
  const std::optional<Relation> relation = find_relation(catalog_of(context), function.result_relation);
  if (!relation) return type_name(context, function.result);
  return is_visible(catalog_of(context), *relation, context.search_path) ? quote_identifier(relation->name) : qualified_name(*relation);
}

/// A quoting that the text does not end.
std::string dollar_quoted(const std::string& text, bool procedure) {
  std::string tag = procedure ? "$procedure$" : "$function$";
  while (text.find(tag) != std::string::npos) tag.insert(tag.size() - 1, "x");
  return tag + text + tag;
}

}  // namespace

std::string function_arguments(const FunctionDef& function, const EvaluationContext& context, bool with_defaults) {
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
    std::string part = std::string(mode) + named(context, parameter.name, parameter.type);
    if (with_defaults && !parameter.default_sql.empty()) part += " DEFAULT " + written_default(context, parameter.default_sql, parameter.type, function.schema);
    add(part);
  }
  if (function.table_syntax || function.procedure) return text;
  for (const FunctionDef::Column& column : function.columns) {
    const bool is_both = !column.name.empty() && std::ranges::find(function.parameters, column.name, &FunctionDef::Parameter::name) !=
                                                     function.parameters.end();
    if (!is_both) add("OUT " + named(context, column.name, column.type));
  }
  return text;
}

std::string function_result(const FunctionDef& function, const EvaluationContext& context) {
  if (function.procedure) return {};
  if (!function.table_syntax) return (function.returns_set ? "SETOF " : "") + result_type(function, context);
  std::string columns;
  for (const FunctionDef::Column& column : function.columns) columns += (columns.empty() ? "" : ", ") + named(context, column.name, column.type);
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

namespace {

/// The number behind a word; `otherwise`: the word is not there.
double number_behind(const std::string& words, std::string_view word, double otherwise) {
  const std::size_t at = words.find(word);
  return at == std::string::npos ? otherwise : std::strtod(words.c_str() + at + word.size(), nullptr);
}

std::string cost_words(const FunctionWords& words) {
  std::string text;
  if (words.cost != words.default_cost) text += fmt::format(" COST {:g}", words.cost);
  if (words.rows != FunctionWords(FunctionDef()).rows) text += fmt::format(" ROWS {:g}", words.rows);
  return text;
}

std::string parallel_words(const FunctionWords& words) {
  return words.parallel == 's' ? " PARALLEL SAFE" : words.parallel == 'r' ? " PARALLEL RESTRICTED" : "";
}

}  // namespace

FunctionWords::FunctionWords(const FunctionDef& function) {
  const std::string words = function.options.substr(0, function.options.find('\n'));
  const auto has = [&](std::string_view word) { return words.find(word) != std::string::npos; };
  parallel = has(" PARALLEL SAFE") ? 's' : has(" PARALLEL RESTRICTED") ? 'r' : 'u';
  security_definer = has(" SECURITY DEFINER");
  leakproof = has(" LEAKPROOF");
  if (function.language == "c") default_cost = 1;
  cost = number_behind(words, " COST ", default_cost);
  rows = number_behind(words, " ROWS ", rows);
}

std::string FunctionWords::text() const {
  return parallel_words(*this) + (security_definer ? " SECURITY DEFINER" : "") + (leakproof ? " LEAKPROOF" : "") + cost_words(*this);
}

std::vector<std::string> function_settings(const FunctionDef& function) {
  std::vector<std::string> settings;
  for (std::size_t at = function.options.find('\n'); at != std::string::npos;) {
    const std::size_t end = function.options.find('\n', at + 1);
    settings.push_back(function.options.substr(at + 1, end == std::string::npos ? end : end - at - 1));
    at = end;
  }
  return settings;
}

bool is_list_of_names(std::string_view parameter) {
  constexpr std::string_view kLists[] = {"search_path", "temp_tablespaces", "session_preload_libraries", "shared_preload_libraries",
                                         "local_preload_libraries"};
  return std::ranges::find(kLists, parameter) != std::end(kLists);
}

namespace {

/// `a, "B c"` as literals: 'a', 'B c'.
std::string names_as_literals(std::string_view list) {
  std::string text;
  for (std::size_t at = 0; at < list.size();) {
    std::string name;
    if (list[at] == '"') {
      for (++at; at < list.size(); ++at) {
        if (list[at] == '"' && (at + 1 == list.size() || list[at + 1] != '"')) break;
        if (list[at] == '"') ++at;
        name += list[at];
      }
      ++at;
    } else {
      while (at < list.size() && list[at] != ',') name += list[at++];
    }
    if (!text.empty()) text += ", ";
    append_quoted_literal(name, text);
    at = std::min(list.find_first_not_of(", ", at), list.size());
  }
  return text;
}

std::string set_clauses(const FunctionDef& function) {
  std::string text;
  for (const std::string& setting : function_settings(function)) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals), value = setting.substr(equals + 1);
    std::string literals;
    if (is_list_of_names(name)) literals = names_as_literals(value);
    else append_quoted_literal(value, literals);
    text += " SET " + quote_identifier(name) + " TO " + literals + "\n";
  }
  return text;
}

}  // namespace

std::string function_definition(const FunctionDef& function, const EvaluationContext& context) {
  std::string options = function.window ? " WINDOW" : "";
  if (function.volatility == FunctionDef::Volatility::kImmutable) options += " IMMUTABLE";
  if (function.volatility == FunctionDef::Volatility::kStable) options += " STABLE";
  const FunctionWords words(function);
  options += parallel_words(words);
  if (function.strict) options += " STRICT";
  if (words.security_definer) options += " SECURITY DEFINER";
  if (words.leakproof) options += " LEAKPROOF";
  options += cost_words(words);
  if (!options.empty()) options += "\n";
  options += set_clauses(function);
  std::string body = "AS ";
  if (function.standard_body) {
    body = written_body(context, function);
  } else {
    if (function.language == "c") append_quoted_literal(extension_library(function), body), body += ", ";
    body += dollar_quoted(function.body, function.procedure);
  }
  const std::string name = quote_identifier(function.schema) + "." + quote_identifier(function.name);
  const std::string returns = function.procedure ? "" : fmt::format(" RETURNS {}\n", function_result(function, context));
  return fmt::format("CREATE OR REPLACE {} {}({})\n{} LANGUAGE {}\n{}{}\n", function.procedure ? "PROCEDURE" : "FUNCTION", name,
                     function_arguments(function, context, true), returns, function.language, options, body);
}

}  // namespace redquel::sql
