// Text taken apart into arrays and rows (manual 9.4 and 9.7): regexp_match, regexp_matches, regexp_split_to_array and
// _table, parse_ident.

#include <fmt/format.h>

#include <functional>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/regular_expression.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

using Pieces = std::vector<std::optional<std::string>>;
using Spans = std::vector<RegexSpan>;

/// Calls `use` with the groups of each match, of the first one only unless `all`. `solid` leaves out empty matches at the
/// ends of the text and right behind another match: nothing can be cut there.
void for_each_match(Text text, Text pattern, const RegexFlags& flags, bool all, bool solid,
                    const std::function<void(const Spans&)>& use) {
  const auto compiled = RegularExpression::compiled(pattern, flags);
  const RegularExpression& expression = *compiled;
  const RegularExpression::Subject subject(expression, text);
  Spans groups;
  std::size_t from = 0, previous_end = 0;
  WorkMeter meter;
  while (from <= text.size() && expression.search(subject, from, groups)) {
    meter.add(groups[0].end - from + 100);
    if (!solid || (groups[0].start < text.size() && groups[0].end > previous_end)) use(groups);
    previous_end = groups[0].end;
    if (!all) return;
    from = previous_end;
    if (groups[0].start != groups[0].end) continue;
    from += from < text.size() ? character_size(text[from]) : 1;
  }
}

RegexFlags flags_of(Text letters, std::string_view function, std::string_view other) {
  RegexFlags flags = parse_regex_flags(letters);
  if (!flags.global) return flags;
  SqlError error(sqlstate::kInvalidParameterValue, fmt::format("{}() does not support the \"global\" option", function));
  if (other.empty()) throw error;
  throw std::move(error).hint(fmt::format("Use the {} function instead.", other));
}

/// Appends to the text of an array that is still empty.
void append_pieces(const Pieces& pieces, std::string& array) {
  for (const auto& piece : pieces) append_array_element(piece, array);
  finish_array_text(array);
}

/// The groups of a match, or all of it where the pattern has none.
std::string match_array(Text text, const Spans& groups) {
  std::string array;
  for (std::size_t i = groups.size() > 1 ? 1 : 0; i < groups.size(); ++i) {
    append_array_element(groups[i].matched() ? std::optional<Text>(groups[i].of(text)) : std::nullopt, array);
  }
  finish_array_text(array);
  return array;
}

bool match_with(Text text, Text pattern, Text letters, std::string& out) {
  bool found = false;
  for_each_match(text, pattern, flags_of(letters, "regexp_match", "regexp_matches"), false, false, [&](const Spans& groups) {
    out = match_array(text, groups);
    found = true;
  });
  return found;
}
bool match(Text text, Text pattern, std::string& out) { return match_with(text, pattern, "", out); }

Pieces split(Text text, Text pattern, Text letters, std::string_view function) {
  Pieces pieces;
  std::size_t start = 0;
  for_each_match(text, pattern, flags_of(letters, function, ""), true, true, [&](const Spans& groups) {
    pieces.emplace_back(text.substr(start, groups[0].start - start));
    start = groups[0].end;
  });
  pieces.emplace_back(text.substr(start));
  return pieces;
}
void split_to_array_with(Text text, Text pattern, Text letters, std::string& out) {
  append_pieces(split(text, pattern, letters, "regexp_split_to_array"), out);
}
void split_to_array(Text text, Text pattern, std::string& out) { split_to_array_with(text, pattern, "", out); }

// ---- parse_ident ----------------------------------------------------------------------------------------------------

class IdentifierReader {
 public:
  IdentifierReader(Text text, bool strict) : text_(text), strict_(strict) {}

  Pieces read() {
    skip_blanks();
    Pieces names;
    for (bool after_dot = false;; after_dot = true) {
      names.push_back(name(after_dot));
      skip_blanks();
      if (peek() != '.') break;
      ++at_;
      skip_blanks();
    }
    if (at_ < text_.size() && strict_) refuse("");
    return names;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    while (peek() == ' ' || (peek() >= '\t' && peek() <= '\r')) ++at_;
  }
  [[noreturn]] void refuse(std::string_view detail) const {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("string is not a valid identifier: \"{}\"", text_)).detail(std::string(detail));
  }
  static bool starts_name(char c) {
    return c == '_' || (is_alphanumeric(c) && !(c >= '0' && c <= '9')) || static_cast<unsigned char>(c) >= 0x80;
  }
  static bool continues_name(char c) { return starts_name(c) || c == '$' || (c >= '0' && c <= '9'); }

  std::string name(bool after_dot) {
    std::string result;
    if (peek() == '"') {
      for (++at_;; ++at_) {
        if (at_ >= text_.size()) refuse("String has unclosed double quotes.");
        if (text_[at_] == '"' && (at_ + 1 >= text_.size() || text_[at_ + 1] != '"')) break;
        if (text_[at_] == '"') ++at_;
        result.push_back(text_[at_]);
      }
      ++at_;
      if (result.empty()) refuse("Quoted identifier must not be empty.");
    } else if (starts_name(peek())) {
      while (continues_name(peek())) result.push_back(to_lower(text_[at_++]));
    } else {
      if (peek() == '.') refuse("No valid identifier before \".\".");
      refuse(after_dot ? "No valid identifier after \".\"." : "");
    }
    return result;
  }

  Text text_;
  bool strict_;
  std::size_t at_ = 0;
};

void parse_ident_mode(Text text, bool strict, std::string& out) { append_pieces(IdentifierReader(text, strict).read(), out); }
void parse_ident(Text text, std::string& out) { parse_ident_mode(text, true, out); }

// ---- rows -----------------------------------------------------------------------------------------------------------

class PieceRows final : public RowSource {
 public:
  PieceRows(Type type, Pieces pieces) : type_(type), pieces_(std::move(pieces)) {}

  Batch next(std::size_t limit) override {
    Column column(type_);
    for (; at_ < pieces_.size() && column.size() < limit; ++at_) {
      if (pieces_[at_]) {
        column.append(*pieces_[at_]);
      } else {
        column.append_null();
      }
    }
    Batch batch;
    batch.rows = column.size();
    batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
    return batch;
  }

 private:
  Type type_;
  Pieces pieces_;
  std::size_t at_ = 0;
};

using Values = std::span<const Datum>;

std::optional<Text> text_argument(Values arguments, std::size_t index) {
  if (index >= arguments.size() || is_null(arguments[index])) return std::nullopt;
  return std::get<std::string>(arguments[index]);
}

/// Empty where an argument is NULL.
bool all_given(Values arguments) {
  for (const Datum& argument : arguments) {
    if (is_null(argument)) return false;
  }
  return true;
}

std::unique_ptr<RowSource> open_matches(Values arguments, const EvaluationContext&) {
  Pieces rows;
  if (all_given(arguments)) {
    const Text text = *text_argument(arguments, 0);
    const RegexFlags flags = parse_regex_flags(text_argument(arguments, 2).value_or(""));
    for_each_match(text, *text_argument(arguments, 1), flags, flags.global, false,
                   [&](const Spans& groups) { rows.emplace_back(match_array(text, groups)); });
  }
  return std::make_unique<PieceRows>(kTextArray, std::move(rows));
}

std::unique_ptr<RowSource> open_split(Values arguments, const EvaluationContext&) {
  Pieces rows;
  if (all_given(arguments)) {
    rows = split(*text_argument(arguments, 0), *text_argument(arguments, 1), text_argument(arguments, 2).value_or(""),
                 "regexp_split_to_table");
  }
  return std::make_unique<PieceRows>(kText, std::move(rows));
}

}  // namespace

std::vector<ScalarFunction> text_piece_functions() {
  return {
      scalar<match>("regexp_match", {kText, kText}, kTextArray),
      scalar<match_with>("regexp_match", {kText, kText, kText}, kTextArray),
      scalar<split_to_array>("regexp_split_to_array", {kText, kText}, kTextArray),
      scalar<split_to_array_with>("regexp_split_to_array", {kText, kText, kText}, kTextArray),
      scalar<parse_ident>("parse_ident", {kText}, kTextArray),
      scalar<parse_ident_mode>("parse_ident", {kText, kBool}, kTextArray),
  };
}

std::vector<TableFunction> text_piece_rows() {
  constexpr Oid t = oid::kText;
  return {
      {"regexp_matches", {t, t}, {{"regexp_matches", oid::kTextArray}}, open_matches},
      {"regexp_matches", {t, t, t}, {{"regexp_matches", oid::kTextArray}}, open_matches},
      {"regexp_split_to_table", {t, t}, {{"regexp_split_to_table", t}}, open_split},
      {"regexp_split_to_table", {t, t, t}, {{"regexp_split_to_table", t}}, open_split},
  };
}

}  // namespace redquel::sql
