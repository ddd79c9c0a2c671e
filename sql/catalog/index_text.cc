#include "sql/catalog/index_text.h"

#include <cctype>

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

}  // namespace redquel::sql
