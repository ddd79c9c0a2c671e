#include "sql/catalog/index_text.h"

#include <algorithm>
#include <cctype>

#include "sql/functions/quote.h"
#include "sql/types/byte_text.h"

namespace redquel::sql {

namespace {

/// A name, and then parentheses up to the end.
bool is_call(const std::string& text) {
  std::size_t position = 0;
  while (position < text.size() && (std::isalnum(static_cast<unsigned char>(text[position])) != 0 || text[position] == '_' || text[position] == '.')) {
    ++position;
  }
  if (position == 0 || position >= text.size() || text[position] != '(') return false;
  int depth = 0;
  for (char quote = 0; position < text.size(); ++position) {
    const char c = text[position];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth == 0) {
      return position + 1 == text.size();
    }
  }
  return false;
}

}  // namespace

std::string index_expression_text(const std::string& written) { return is_call(written) ? written : "(" + written + ")"; }

std::vector<std::string> distinct_column_names(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxName = 63;
  std::vector<std::string> distinct;
  for (const std::string& name : names) {
    std::string own = name;
    for (int number = 1; std::ranges::find(distinct, own) != distinct.end(); ++number) {
      const std::string digits = std::to_string(number);
      own = std::string(utf8_clip(name, kMaxName - digits.size())) + digits;
    }
    distinct.push_back(std::move(own));
  }
  return distinct;
}

std::string index_options_text(const IndexOptions& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    text += (text.empty() ? "WITH (" : ", ") + name + "=";
    if (quote_identifier(value) == value) {
      text += value;
    } else {
      append_quoted_literal(value, text);
    }
  }
  return text.empty() ? text : text + ")";
}

IndexOptions read_index_options(const std::string& text) {
  IndexOptions options;
  for (std::size_t at = text.find('('); at != std::string::npos && text[at] != ')';) {
    const std::size_t name = text[at] == '(' ? at + 1 : at + 2, equals = text.find('=', name);
    if (equals == std::string::npos) break;
    auto& [_, value] = options.emplace_back(text.substr(name, equals - name), "");
    at = equals + 1;
    const bool is_quoted = text[at] == '\'';
    if (!is_quoted) {
      const std::size_t end = text.find_first_of(",)", at);
      value = text.substr(at, end - at);
      at = end;
      continue;
    }
    for (++at; at < text.size(); ++at) {
      if (text[at] == '\'' && text.compare(at, 2, "''") != 0) break;
      if (text[at] == '\'') ++at;
      value += text[at];
    }
    ++at;
  }
  return options;
}

}  // namespace redquel::sql
