#include "executor/ddl/view_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "parser/option_value.h"
#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

using CheckOption = sql::ViewDef::CheckOption;

CheckOption check_option_of(const ast::Option& option) {
  const std::string text = parser::option_text(option).value_or("true");
  if (text == "local") return CheckOption::kLocal;
  if (text == "cascaded") return CheckOption::kCascaded;
  throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for enum option \"check_option\": {}", text))
      .detail("Valid values are \"local\" and \"cascaded\".");
}

void check_flag(const ast::Option& option, std::string text) {
  static constexpr std::array<std::string_view, 8> kWords = {"true", "false", "on", "off", "yes", "no", "1", "0"};
  std::ranges::transform(text, text.begin(), sql::to_lower);
  if (std::ranges::find(kWords, text) != kWords.end()) return;
  throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for boolean option \"{}\": {}", option.name, text));
}

/// "name=value,name=value" without the option.
std::string without(std::string_view options, std::string_view name) {
  std::string kept;
  while (!options.empty()) {
    const std::size_t end = std::min(options.find(','), options.size());
    const std::string_view one = options.substr(0, end);
    if (one.substr(0, one.find('=')) != name) kept.append(kept.empty() ? "" : ",").append(one);
    options.remove_prefix(std::min(end + 1, options.size()));
  }
  return kept;
}

}  // namespace

void set_view_options(const std::vector<ast::Option>& options, sql::ViewDef& view) {
  for (const ast::Option& option : options) {
    if (option.name == "check_option") {
      view.check_option = check_option_of(option);
    } else if (option.name == "security_barrier" || option.name == "security_invoker") {
      const std::string text = parser::option_text(option).value_or("true");
      check_flag(option, text);
      std::string kept = without(view.options, option.name);
      view.options = fmt::format("{}{}{}={}", kept, kept.empty() ? "" : ",", option.name, text);
    } else {
      throw sql::unrecognized_parameter(option.name);
    }
  }
}

void reset_view_options(const std::vector<ast::Option>& options, sql::ViewDef& view) {
  for (const ast::Option& option : options) {
    if (option.name == "check_option") view.check_option = CheckOption::kNone;
    view.options = without(view.options, option.name);
  }
}

}  // namespace redquel::executor
