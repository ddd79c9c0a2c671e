#include "parser/option_value.h"

#include "sql/ascii.h"

namespace redquel::parser {

std::optional<std::string> option_text(const ast::Option& option) {
  if (const auto* text = std::get_if<std::string>(&option.value)) return *text;
  if (const auto* flag = std::get_if<bool>(&option.value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&option.value)) return std::to_string(*number);
  if (const auto* number = std::get_if<ast::NumberText>(&option.value)) return number->text;
  if (const auto* type = std::get_if<ast::TypeName>(&option.value); type != nullptr && !type->names.empty()) return type->names.back();
  if (std::holds_alternative<ast::StarOption>(option.value)) return "*";
  return std::nullopt;
}

std::optional<bool> option_flag(const ast::Option& option) {
  if (std::holds_alternative<std::monostate>(option.value)) return true;
  if (const auto* number = std::get_if<std::int64_t>(&option.value)) {
    return *number == 0 || *number == 1 ? std::optional(*number == 1) : std::nullopt;
  }
  const std::optional<std::string> text = option_text(option);
  if (!text) return std::nullopt;
  if (sql::equals_ignoring_case(*text, "true") || sql::equals_ignoring_case(*text, "on")) return true;
  if (sql::equals_ignoring_case(*text, "false") || sql::equals_ignoring_case(*text, "off")) return false;
  return std::nullopt;
}

}  // namespace redquel::parser
