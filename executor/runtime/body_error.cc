#include "executor/runtime/body_error.h"

#include <algorithm>
#include <optional>

namespace redquel::executor {

namespace {

/// Returns the only place of a text within another one; nullopt: there is none, or there are several.
std::optional<std::size_t> only_place(std::string_view text, const std::string& part) {
  const std::size_t first = text.find(part);
  if (first == std::string_view::npos || text.find(part, first + 1) != std::string_view::npos) return std::nullopt;
  return first;
}

}  // namespace

sql::SqlError BodyError::in_statement(std::string_view statement) const {
  const std::size_t place = position().value_or(0);
  if (!position() || place > body_.size()) return without_position();
  // Between dollars the body stands as it is. Between quotes each of its quotes stands twice.
  if (const auto dollars = only_place(statement, "$" + body_ + "$")) {
    return sql::SqlError(without_position()).at(static_cast<std::uint32_t>(*dollars + 1 + place));
  }
  std::string quoted = "'";
  for (const char c : body_) quoted.append(c == '\'' ? "''" : std::string(1, c));
  const auto quotes = only_place(statement, quoted + "'");
  if (!quotes) return without_position();
  const auto doubled = static_cast<std::size_t>(std::count(body_.begin(), body_.begin() + static_cast<std::ptrdiff_t>(place), '\''));
  return sql::SqlError(without_position()).at(static_cast<std::uint32_t>(*quotes + 1 + place + doubled));
}

}  // namespace redquel::executor
