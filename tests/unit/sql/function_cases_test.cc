#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sql/error.h"
#include "sql/expressions/coerce.h"
#include "sql/expressions/evaluate.h"
#include "sql/functions/resolve.h"
#include "sql/types/compare.h"
#include "sql/types/text_io.h"
#include "tests/unit/sql/data_directory.h"

// PostgreSQL 15's own answers (data/*.txt, written by data/generate_function_cases.py) against ours.
namespace redquel::sql {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t tab = line.find('\t', at);
    parts.push_back(line.substr(at, tab - at));
    if (tab == std::string::npos) return parts;
    at = tab + 1;
  }
}

std::string without_escapes(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') ++i;
    result += text[i];
  }
  return result;
}

Type argument_type(std::string_view name) {
  if (name == "unknown") return kUnknown;
  if (name == "\"char\"" || name == "char") return Type{oid::kChar};
  const TypeInfo* type = find_type(name);
  return type == nullptr ? kVoid : Type{type->oid};
}

struct Case {
  std::string kind, name;
  std::vector<std::string> arguments;
  std::string expected;
};

std::vector<Case> read_cases(const char* file) {
  std::vector<Case> cases;
  std::ifstream in(data_directory() / file);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> parts = fields_of(line);
    const auto arrow = std::find(parts.begin(), parts.end(), "=>");
    cases.push_back({parts[0], parts[1], {parts.begin() + 2, arrow}, *(arrow + 1)});
  }
  return cases;
}

ResolvedFunction resolve(const Case& test, const std::vector<Type>& types) {
  if (test.kind == "function") return resolve_function(test.name, types);
  return resolve_operator(test.name, types.size() == 2 ? std::optional(types[0]) : std::nullopt, types.back());
}

ExpressionPtr argument(Type type, const std::string& text, const SessionSettings& settings) {
  if (text == "\\N") return make_constant(type, Datum{});
  if (type == kUnknown) return make_constant(type, without_escapes(text));
  return make_constant(type, parse_value(type, without_escapes(text), settings));
}

/// Returns the text of SELECT (…)::text.
std::string answer(const Case& test) {
  const SessionSettings settings;
  EvaluationContext context;
  context.settings = &settings;
  try {
    std::vector<Type> types;
    std::vector<ExpressionPtr> arguments;
    for (std::size_t i = 0; i < test.arguments.size(); i += 2) {
      types.push_back(argument_type(test.arguments[i]));
      arguments.push_back(argument(types.back(), test.arguments[i + 1], settings));
    }
    ExpressionPtr call;
    if (test.kind == "cast") {
      call = coerce(arguments[0], argument_type(test.name), CastContext::kExplicit, settings);
    } else {
      const ResolvedFunction resolved = resolve(test, types);
      if (resolved.function == nullptr) {
        call = coerce(arguments[0], resolved.result, CastContext::kExplicit, settings);
      } else {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
          arguments[i] = coerce(arguments[i], resolved.arguments[i], CastContext::kImplicit, settings);
        }
        call = make_expression(resolved.result, FunctionCall{resolved.function, arguments});
      }
    }
    const ExpressionPtr text = coerce(call, kText, CastContext::kExplicit, settings);
    const Datum value = evaluate_scalar(*text, context);
    return "OK " + (is_null(value) ? "\\N" : std::get<std::string>(value));
  } catch (const SqlError& error) {
    return "ERR " + error.sqlstate() + " " + error.message();
  }
}

TEST(FunctionCases, AnswerAsPostgresql) {
  const std::vector<Case> cases = read_cases("function_cases.txt");
  ASSERT_GT(cases.size(), 1000U);
  for (const Case& test : cases) {
    const std::string expected = test.expected == "OK \\N" ? test.expected : without_escapes(test.expected);
    EXPECT_EQ(answer(test), expected) << test.kind << " " << test.name << " " << testing::PrintToString(test.arguments);
  }
}

TEST(FunctionCases, ResolveAsPostgresql) {
  const std::vector<Case> cases = read_cases("resolution_cases.txt");
  ASSERT_GT(cases.size(), 400U);
  for (const Case& test : cases) {
    std::vector<Type> types;
    for (const std::string& name : test.arguments) types.push_back(argument_type(name));
    std::string result;
    try {
      result = "OK " + format_type(resolve(test, types).result);
    } catch (const SqlError& error) {
      result = "ERR " + error.sqlstate() + " " + error.message();
    }
    EXPECT_EQ(result, test.expected) << test.kind << " " << test.name << " " << testing::PrintToString(test.arguments);
  }
}

}  // namespace
}  // namespace redquel::sql
