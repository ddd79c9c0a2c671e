#include "planner/explain/redis_word.h"

#include <fmt/format.h>

#include "sql/types/text_io.h"

namespace redquel::planner {

std::string word(std::string_view text) {
  bool plain = !text.empty();
  for (char c : text) plain = plain && static_cast<unsigned char>(c) > 0x20 && c != '"' && c != '\'' && c != '\\' && c != 0x7f && c != '\xff';
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') quoted += '\\', quoted += c;
    else if (byte < 0x20 || byte == 0x7f || byte == 0xff) quoted += fmt::format("\\x{:02x}", byte);
    else quoted += c;
  }
  return quoted + '"';
}

std::string value_in_key(const sql::Expression& value) {
  if (const auto* constant = std::get_if<sql::Constant>(&value.node)) {
    return sql::is_null(constant->value) ? "NULL" : sql::canonical_text(value.type, constant->value);
  }
  return sql::to_string(value);
}

std::string entry_text(const std::vector<sql::ExpressionPtr>& values) {
  std::string entry;
  for (const sql::ExpressionPtr& value : values) entry += (entry.empty() ? "" : ":") + value_in_key(*value);
  return entry;
}

}  // namespace redquel::planner
