#include "parser/statement_shape.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "parser/scanner_characters.h"
#include "sql/ascii.h"

namespace redquel::parser {

namespace {

constexpr std::string_view kHidden = "'********'";

/// A token of a text. Comments and white space are tokens, too.
struct Piece {
  enum class Kind : std::uint8_t { kSpace, kWord, kString, kNumber, kParameter, kOther };
  Kind kind = Kind::kOther;
  std::string_view text;
};

std::size_t end_of_quoted(std::string_view text, std::size_t at, char quote, bool has_escapes) {
  for (++at; at < text.size(); ++at) {
    if (has_escapes && text[at] == '\\') ++at;
    else if (text[at] == quote && at + 1 < text.size() && text[at + 1] == quote) ++at;
    else if (text[at] == quote) return at + 1;
  }
  return text.size();
}

/// 0: no dollar quote begins here.
std::size_t end_of_dollar_quoted(std::string_view text, std::size_t at) {
  std::size_t tag = at + 1;
  if (tag < text.size() && is_digit(text[tag])) return 0;
  while (tag < text.size() && text[tag] != '$' && is_identifier_part(text[tag])) ++tag;
  if (tag >= text.size() || text[tag] != '$') return 0;
  const std::string_view delimiter = text.substr(at, tag + 1 - at);
  const std::size_t end = text.find(delimiter, tag + 1);
  return end == std::string_view::npos ? text.size() : end + delimiter.size();
}

std::size_t end_of_comment(std::string_view text, std::size_t at) {
  if (text[at] == '-') return std::min(text.find('\n', at), text.size());
  std::size_t depth = 0;
  while (at < text.size()) {
    const std::string_view two = text.substr(at, 2);
    if (two == "/*") ++depth;
    else if (two == "*/" && --depth == 0) return at + 2;
    at += two == "/*" || two == "*/" ? 2 : 1;
  }
  return text.size();
}

std::size_t end_of_number(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_identifier_part(text[at]) || text[at] == '.')) {
    const bool is_exponent = (text[at] | 0x20) == 'e' && at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-');
    at += is_exponent ? 2 : 1;
  }
  return std::min(at, text.size());
}

template <class IsPart>
std::size_t skip(std::string_view text, std::size_t at, const IsPart& is_part) {
  while (at < text.size() && is_part(text[at])) ++at;
  return at;
}

/// Returns the piece at the beginning of the text, which is not empty.
Piece first_piece(std::string_view text) {
  using Kind = Piece::Kind;
  const auto piece = [&](Kind kind, std::size_t end) { return Piece{kind, text.substr(0, end)}; };
  const char c = text[0], next = text.size() > 1 ? text[1] : '\0';
  if (is_space(c)) return piece(Kind::kSpace, skip(text, 0, is_space));
  if ((c == '-' && next == '-') || (c == '/' && next == '*')) return piece(Kind::kSpace, end_of_comment(text, 0));
  if (c == '\'') return piece(Kind::kString, end_of_quoted(text, 0, '\'', false));
  if (c == '"') return piece(Kind::kWord, end_of_quoted(text, 0, '"', false));
  const char lower = static_cast<char>(c | 0x20);
  if (next == '\'' && (lower == 'e' || lower == 'b' || lower == 'x' || lower == 'n')) {
    return piece(Kind::kString, end_of_quoted(text, 1, '\'', lower == 'e'));
  }
  if (lower == 'u' && next == '&' && text.size() > 2 && (text[2] == '\'' || text[2] == '"')) {
    return piece(text[2] == '"' ? Kind::kWord : Kind::kString, end_of_quoted(text, 2, text[2], false));
  }
  if (is_identifier_start(c)) return piece(Kind::kWord, skip(text, 0, is_identifier_part));
  if (is_digit(c) || (c == '.' && is_digit(next))) return piece(Kind::kNumber, end_of_number(text, 0));
  if (c == '$' && is_digit(next)) return piece(Kind::kParameter, skip(text, 1, is_digit));
  if (const std::size_t end = c == '$' ? end_of_dollar_quoted(text, 0) : 0; end > 0) return piece(Kind::kString, end);
  return piece(Kind::kOther, 1);
}

/// Takes the first piece off the text.
Piece take_piece(std::string_view& text) {
  const Piece piece = first_piece(text);
  text.remove_prefix(piece.text.size());
  return piece;
}

/// Takes white space and comments off both ends, and semicolons off the end.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && first_piece(text).kind == Piece::Kind::kSpace) take_piece(text);
  while (!text.empty() && (is_space(text.back()) || text.back() == ';')) text.remove_suffix(1);
  return text;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> known) {
  return std::ranges::any_of(known, [&](std::string_view one) { return sql::equals_ignoring_case(word, one); });
}

bool has_shared_plans(std::string_view text) {
  while (!text.empty() && (text.front() == '(' || first_piece(text).kind == Piece::Kind::kSpace)) take_piece(text);
  const std::string_view word = text.empty() ? text : first_piece(text).text;
  return is_one_of(word, {"select", "insert", "update", "delete", "merge", "with", "values", "table"});
}

}  // namespace

std::string normalize_statement(std::string_view text) {
  text = trimmed(text);
  if (!has_shared_plans(text)) return hide_secrets(text);
  std::string normalized;
  normalized.reserve(text.size());
  std::size_t number = 0;
  std::string_view space;  // before the next token; that at the end is left out, semicolons included
  while (!text.empty()) {
    const Piece piece = take_piece(text);
    if (piece.kind == Piece::Kind::kSpace || piece.text == ";") {
      space = {space.empty() ? piece.text.data() : space.data(), space.size() + piece.text.size()};
      continue;
    }
    normalized += std::exchange(space, {});
    const bool is_value = piece.kind == Piece::Kind::kString || piece.kind == Piece::Kind::kNumber || piece.kind == Piece::Kind::kParameter;
    if (is_value) normalized += "$" + std::to_string(++number);
    else normalized += piece.text;
  }
  return normalized;
}

std::string hide_secrets(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  bool is_secret = false, is_password = false, is_role = false, begins = false;  // `is_password`: the token behind the word
  while (!text.empty()) {
    const Piece piece = take_piece(text);
    const std::string_view word = piece.text.starts_with('"') ? piece.text.substr(1, piece.text.size() - 2) : piece.text;
    if (piece.kind == Piece::Kind::kWord && (sql::equals_ignoring_case(word, "password") || piece.text.starts_with("U&\"") || piece.text.starts_with("u&\""))) is_secret = true;
    const bool is_bare_password = is_password && is_role && piece.kind == Piece::Kind::kWord && !sql::equals_ignoring_case(word, "null");
    if (piece.kind != Piece::Kind::kSpace) {
      is_role = is_role || (begins && is_one_of(word, {"role", "user", "group"}));
      begins = is_one_of(word, {"create", "alter"});
      is_password = sql::equals_ignoring_case(word, "password");
    }
    if ((is_secret && piece.kind == Piece::Kind::kString) || is_bare_password) shown += kHidden;
    else shown += piece.text;
  }
  return shown;
}

}  // namespace redquel::parser
