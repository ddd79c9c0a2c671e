#include "executor/ddl/function_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "executor/roles/access.h"
#include "executor/runtime/function_settings.h"
#include "parser/deparse.h"
#include "parser/option_value.h"
#include "sql/catalog/function_text.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::FunctionDef;
using sql::SqlError;

namespace {

bool says_true(const ast::Option& option) {
  const auto* flag = std::get_if<bool>(&option.value);
  return flag != nullptr && *flag;
}

double option_number(const ast::Option& option) {
  if (const auto* integer = std::get_if<std::int64_t>(&option.value)) return static_cast<double>(*integer);
  double value = 0;
  if (const auto* number = std::get_if<ast::NumberText>(&option.value)) {
    std::from_chars(number->text.data(), number->text.data() + number->text.size(), value);
  }
  return value;
}

/// Returns the parameter's spelling in pg_settings: "DateStyle".
std::string parameter_name(const std::string& written, const SessionState& session) {
  const auto same = [&](const sql::RunTimeParameter& parameter) {
    return std::ranges::equal(parameter.name, written, [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
  };
  if (!session.run_time_parameters) return written;
  const std::vector<sql::RunTimeParameter> known = session.run_time_parameters();
  const auto found = std::ranges::find_if(known, same);
  return found == known.end() ? written : found->name;
}

/// The value of a SET clause, as pg_proc.proconfig has it.
std::string written_value(const std::string& name, const std::vector<std::string>& words, const SessionState& session) {
  if (words.size() == 1) {  // FROM CURRENT
    const std::optional<std::string> current = session.show ? session.show(name) : std::nullopt;
    if (!current) throw SqlError(sqlstate::kUndefinedObject, fmt::format("unrecognized configuration parameter \"{}\"", name));
    return *current;
  }
  const bool is_list = sql::is_list_of_names(name);
  if (words.size() > 2 && !is_list && name != "DateStyle") {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("SET {} takes only one argument", name));
  }
  std::string value;
  for (std::size_t i = 1; i < words.size(); ++i) {
    value += (i == 1 ? "" : ", ") + (is_list ? parser::quote_identifier(words[i]) : words[i]);
  }
  if (value.find('\n') != std::string::npos) throw sql::not_supported("SET with a value of several lines in CREATE FUNCTION");
  return value;
}

using WrittenSettings = std::vector<std::pair<std::string, std::string>>;

WrittenSettings written_settings_of(const FunctionDef& function) {
  WrittenSettings settings;
  for (const std::string& setting : sql::function_settings(function)) {
    const std::size_t equals = setting.find('=');
    settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return settings;
}

void change_settings(WrittenSettings& settings, const ast::Option& option, const SessionState& session) {
  const auto* words = std::get_if<std::vector<std::string>>(&option.value);
  if (words == nullptr || words->empty()) return;
  const bool takes_away = option.action == ast::OptionAction::kDrop;
  if (takes_away && words->front().empty()) return settings.clear();  // RESET ALL
  const std::string name = parameter_name(words->front(), session);
  const auto known = std::ranges::find(settings, name, &WrittenSettings::value_type::first);
  if (takes_away) {
    if (known != settings.end()) settings.erase(known);
    return;
  }
  std::string value = written_value(name, *words, session);
  if (known != settings.end()) {
    known->second = std::move(value);
  } else {
    settings.emplace_back(name, std::move(value));
  }
}

void change_option(FunctionDef& function, sql::FunctionWords& words, const ast::Option& option, const SessionState& session) {
  const std::string& name = option.name;
  if (name == "volatility") {
    const std::string word = parser::option_text(option).value_or("");
    function.volatility = word == "immutable" ? FunctionDef::Volatility::kImmutable
                          : word == "stable"  ? FunctionDef::Volatility::kStable
                                              : FunctionDef::Volatility::kVolatile;
  } else if (name == "strict") {
    function.strict = says_true(option);
  } else if (name == "security") {
    words.security_definer = says_true(option);
  } else if (name == "leakproof") {
    words.leakproof = says_true(option);
    if (words.leakproof) require_superuser(session, "only superuser can define a leakproof function");
  } else if (name == "parallel") {
    const std::string word = parser::option_text(option).value_or("");
    if (word != "safe" && word != "restricted" && word != "unsafe") {
      throw SqlError(sqlstate::kSyntaxError, "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE");
    }
    words.parallel = word.front();
  } else if (name == "cost") {
    words.cost = option_number(option);
    if (!(words.cost > 0)) throw SqlError(sqlstate::kInvalidParameterValue, "COST must be positive");
  } else if (name == "rows") {
    words.rows = option_number(option);
    if (!(words.rows > 0)) throw SqlError(sqlstate::kInvalidParameterValue, "ROWS must be positive");
    if (!function.returns_set) throw SqlError(sqlstate::kInvalidParameterValue, "ROWS is not applicable when function does not return a set");
  } else if (name == "support") {
    throw sql::not_supported("SUPPORT", option.offset);
  }
}

}  // namespace

void apply_function_options(FunctionDef& function, const std::vector<ast::Option>& options, const SessionState& session) {
  constexpr std::array<std::string_view, 8> kNotOfProcedures{"volatility", "strict", "leakproof", "parallel",
                                                              "cost",       "rows",   "support",   "window"};
  sql::FunctionWords words(function);
  WrittenSettings settings = written_settings_of(function);
  for (auto option = options.begin(); option != options.end(); ++option) {
    if (function.procedure && std::ranges::find(kNotOfProcedures, option->name) != kNotOfProcedures.end()) {
      throw SqlError(sqlstate::kInvalidFunctionDefinition, "invalid attribute in procedure definition").at(option->offset);
    }
    if (option->name == "set") {
      change_settings(settings, *option, session);
      continue;
    }
    const bool is_repeated = std::any_of(options.begin(), option, [&](const ast::Option& other) { return other.name == option->name; });
    if (is_repeated) throw sql::conflicting_options().at(option->offset);
    change_option(function, words, *option, session);
  }
  const bool has_new_settings = settings != written_settings_of(function);
  function.options = words.text();
  for (const auto& [name, value] : settings) function.options += "\n" + name + "=" + value;
  // Sets them once, and takes them back: what they cannot be is told now.
  if (has_new_settings && session.set && session.show) FunctionSettings tried(session, function);
}

}  // namespace redquel::executor
