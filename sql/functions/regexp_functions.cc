// Regular expressions (manual 9.7.2 and 9.7.3): ~ and its kin, regexp_*, SIMILAR TO and substring by pattern.

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/pattern_operators.h"
#include "sql/functions/regular_expression.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"

namespace redquel::sql {
namespace {

using Spans = std::vector<RegexSpan>;

std::shared_ptr<const RegularExpression> with_case(Text pattern) { return RegularExpression::compiled(pattern, {}); }
std::shared_ptr<const RegularExpression> without_case(Text pattern) {
  RegexFlags flags;
  flags.ignore_case = true;
  return RegularExpression::compiled(pattern, flags);
}

bool matches(Text text, Text pattern) { return with_case(pattern)->matches(text); }
bool differs(Text text, Text pattern) { return !with_case(pattern)->matches(text); }
bool matches_any_case(Text text, Text pattern) { return without_case(pattern)->matches(text); }
bool differs_any_case(Text text, Text pattern) { return !without_case(pattern)->matches(text); }

// ---- arguments of the regexp_… functions
// --------------------------------------------------------------------------------

[[noreturn]] void throw_parameter(Text name, Int value) {
  throw SqlError(sqlstate::kInvalidParameterValue, "invalid value for parameter \"" + std::string(name) + "\": " + std::to_string(value));
}
/// The byte where the search starts; `start` counts characters from 1.
std::size_t start_byte(Text text, Int start) {
  if (start <= 0) throw_parameter("start", start);
  return utf8_prefix(text, static_cast<std::size_t>(start) - 1);
}
/// Past the end there is nothing to find, not even an empty match.
bool is_past_end(Text text, Int start) { return start > 1 && utf8_length(text) < static_cast<std::size_t>(start) - 1; }

RegexFlags flags_without_global(Text letters, Text function) {
  const RegexFlags flags = parse_regex_flags(letters);
  if (flags.global) {
    throw SqlError(sqlstate::kInvalidParameterValue, std::string(function) + "() does not support the \"global\" option");
  }
  return flags;
}

/// Calls `each` with every match from byte `from` on, until it returns false.
template <class Each>
void for_each_match(const RegularExpression& expression, Text text, std::size_t from, const Each& each) {
  const RegularExpression::Subject subject(expression, text);
  Spans groups;
  WorkMeter meter;
  while (from <= text.size() && expression.search(subject, from, groups)) {
    meter.add(groups[0].end - from + 100);
    if (!each(groups)) return;
    // An empty match would be found again: go on one character behind it.
    from = groups[0].end;
    if (groups[0].start == groups[0].end) {
      if (from == text.size()) return;
      from += character_size(text[from]);
    }
  }
}

/// The n-th match, empty if there are fewer.
Spans nth_match(const RegularExpression& expression, Text text, Int start, Int n) {
  Spans found;
  if (is_past_end(text, start)) return found;
  for_each_match(expression, text, start_byte(text, start), [&](const Spans& groups) {
    if (--n == 0) found = groups;
    return n > 0;
  });
  return found;
}

// ---- replace --------------------------------------------------------------------------------------------------------

void append_replacement(Text text, const Spans& groups, Text replacement, std::string& out) {
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] != '\\' || i + 1 == replacement.size()) {
      out += replacement[i];
      continue;
    }
    const char c = replacement[++i];
    if (c == '&' || (c >= '1' && c <= '9')) {
      const std::size_t group = c == '&' ? 0 : static_cast<std::size_t>(c - '0');
      if (group < groups.size() && groups[group].matched()) out += groups[group].of(text);
    } else if (c == '\\') {
      out += '\\';
    } else {
      out += '\\';
      out += c;
    }
  }
}

/// Replaces the n-th match; all of them for n = 0.
void replace_matches(Text text, Text pattern, Text replacement, Int start, Int n, const RegexFlags& flags,
                     std::string& out) {
  const std::size_t from = start_byte(text, start);
  const auto compiled = RegularExpression::compiled(pattern, flags);
  const RegularExpression& expression = *compiled;
  std::size_t copied = 0;
  Int number = 0;
  if (!is_past_end(text, start)) {
    for_each_match(expression, text, from, [&](const Spans& groups) {
      ++number;
      if (n > 0 && number != n) return true;
      out += text.substr(copied, groups[0].start - copied);
      append_replacement(text, groups, replacement, out);
      check_text_size(out.size());
      copied = groups[0].end;
      return n == 0;
    });
  }
  out += text.substr(copied);
}

void replace_first(Text text, Text pattern, Text replacement, std::string& out) {
  replace_matches(text, pattern, replacement, 1, 1, {}, out);
}
void replace_with_flags(Text text, Text pattern, Text replacement, Text letters, std::string& out) {
  // regexp_replace(text, text, text, unknown) means flags; a number there was meant as a start.
  if (!letters.empty() && letters[0] >= '0' && letters[0] <= '9') {
    throw SqlError(sqlstate::kInvalidParameterValue, "invalid regular expression option: \"" + std::string(1, letters[0]) + "\"")
        .hint(
            "If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer "
            "explicitly.");
  }
  const RegexFlags flags = parse_regex_flags(letters);
  replace_matches(text, pattern, replacement, 1, flags.global ? 0 : 1, flags, out);
}
void replace_from(Text text, Text pattern, Text replacement, Int start, std::string& out) {
  replace_matches(text, pattern, replacement, start, 1, {}, out);
}
void check_range(Int start, Int n) {
  if (start <= 0) throw_parameter("start", start);
  if (n < 0) throw_parameter("n", n);
}
void replace_nth(Text text, Text pattern, Text replacement, Int start, Int n, std::string& out) {
  check_range(start, n);
  replace_matches(text, pattern, replacement, start, n, {}, out);
}
void replace_extended(Text text, Text pattern, Text replacement, Int start, Int n, Text letters, std::string& out) {
  check_range(start, n);
  replace_matches(text, pattern, replacement, start, n, parse_regex_flags(letters), out);
}

// ---- count, like, instr, substr
// -------------------------------------------------------------------------------------------

Int count(Text text, Text pattern, Int start, Text letters) {
  const std::size_t from = start_byte(text, start);
  const auto compiled = RegularExpression::compiled(pattern, flags_without_global(letters, "regexp_count"));
  const RegularExpression& expression = *compiled;
  Int number = 0;
  if (is_past_end(text, start)) return 0;
  for_each_match(expression, text, from, [&](const Spans&) { return ++number, true; });
  return number;
}

bool like(Text text, Text pattern, Text letters) {
  return RegularExpression::compiled(pattern, flags_without_global(letters, "regexp_like"))->matches(text);
}

Int position(Text text, Text pattern, Int start, Int n, Int end_option, Text letters, Int group) {
  if (start <= 0) throw_parameter("start", start);
  if (n <= 0) throw_parameter("n", n);
  if (end_option != 0 && end_option != 1) throw_parameter("endoption", end_option);
  if (group < 0) throw_parameter("subexpr", group);
  const RegexFlags flags = flags_without_global(letters, "regexp_instr");
  const auto compiled = RegularExpression::compiled(pattern, flags);
  const RegularExpression& expression = *compiled;
  const Spans groups = nth_match(expression, text, start, n);
  const auto index = static_cast<std::size_t>(group);
  if (index >= groups.size() || !groups[index].matched()) return 0;
  const std::size_t byte = end_option == 1 ? groups[index].end : groups[index].start;
  return static_cast<Int>(utf8_length(text.substr(0, byte))) + 1;
}

std::optional<Text> part(Text text, Text pattern, Int start, Int n, Text letters, Int group) {
  if (start <= 0) throw_parameter("start", start);
  if (n <= 0) throw_parameter("n", n);
  if (group < 0) throw_parameter("subexpr", group);
  const RegexFlags flags = flags_without_global(letters, "regexp_substr");
  const auto compiled = RegularExpression::compiled(pattern, flags);
  const RegularExpression& expression = *compiled;
  const Spans groups = nth_match(expression, text, start, n);
  const auto index = static_cast<std::size_t>(group);
  if (index >= groups.size() || !groups[index].matched()) return std::nullopt;
  return groups[index].of(text);
}

/// substring(text from pattern): the first group, or all that matched where there is none.
std::optional<Text> substring(Text text, Text pattern) {
  const auto compiled = with_case(pattern);
  const RegularExpression& expression = *compiled;
  const Spans groups = nth_match(expression, text, 1, 1);
  if (groups.empty()) return std::nullopt;
  const RegexSpan& wanted = groups[groups.size() > 1 ? 1 : 0];
  if (!wanted.matched()) return std::nullopt;
  return wanted.of(text);
}

// ---- SIMILAR TO -----------------------------------------------------------------------------------------------------

constexpr std::string_view kSimilarStart = "^(?:", kSimilarFirst = "){1,1}?(", kSimilarSecond = "){1,1}(?:";

/// The pattern of SIMILAR TO as an advanced regular expression. Two escaped double quotes mark the part that
/// substring() gives: where the first one stands in `out`, npos without.
std::size_t append_similar(Text pattern, Text escape, std::string& out) {
  if (!escape.empty() && character_size(escape[0]) != escape.size()) {
    throw SqlError(sqlstate::kInvalidEscapeSequence, "invalid escape string").hint("Escape string must be empty or one character.");
  }
  bool after_escape = false;
  int depth = 0;          // of brackets
  int place = 0;          // in a character class: 1 after [, 2 after [^ (a ] stands for itself there), 3 and more behind
  int separators = 0;
  std::size_t first = std::string::npos;
  out += kSimilarStart;
  while (!pattern.empty()) {
    const Text character = first_character(pattern);
    const char c = character[0];
    pattern.remove_prefix(character.size());
    if (after_escape) {
      after_escape = false;
      if (c == '"' && depth == 0) {
        if (separators > 1) {
          throw SqlError(sqlstate::kInvalidUseOfEscapeCharacter,
                         "SQL regular expression may not contain more than two escape-double-quote separators");
        }
        if (separators == 0) first = out.size();
        out += separators++ == 0 ? kSimilarFirst : kSimilarSecond;
      } else {
        out += '\\';
        out += character;
        place = 3;
      }
    } else if (!escape.empty() && character == escape) {
      after_escape = true;
    } else if (depth > 0) {
      if (c == '\\') out += '\\';
      out += character;
      if (c == ']' && place > 2) {
        --depth;
      } else if (c == '^') {
        ++place;
      } else {
        if (c == '[') ++depth;
        place = 3;
      }
    } else {
      switch (c) {
        case '[':
          out += c;
          depth = place = 1;
          break;
        case '%':
          out += ".*";
          break;
        case '_':
          out += '.';
          break;
        case '(':
          out += "(?:";
          break;
        case '\\':
        case '.':
        case '^':
        case '$':
          out += '\\';
          out += c;
          break;
        default:
          out += character;
      }
    }
  }
  out += ")$";
  return first;
}
void similar_to_escape(Text pattern, Text escape, std::string& out) { append_similar(pattern, escape, out); }
/// A second name that takes NULL for the usual character.
bool similar_escape(std::optional<Text> pattern, std::optional<Text> escape, std::string& out) {
  if (pattern) similar_to_escape(*pattern, escape.value_or("\\"), out);
  return pattern.has_value();
}
void similar_to(Text pattern, std::string& out) { similar_to_escape(pattern, "\\", out); }
/// Tcl's engine drops {1,1}?, which would make the part before the wanted one as short as possible. A character that no
/// text has, at most once and rather not, says the same.
std::optional<Text> similar_substring(Text text, Text pattern, Text escape) {
  std::string expression;
  const std::size_t separator = append_similar(pattern, escape, expression);
  if (separator != std::string::npos) {
    expression.replace(separator, kSimilarFirst.size(), "))(");
    expression.replace(0, kSimilarStart.size(), "^(?:\\x00{0,1}?(?:");
  }
  return substring(text, expression);
}

std::vector<ScalarFunction> counting_functions() {
  return {
      scalar<[](Text t, Text p) { return count(t, p, 1, ""); }>("regexp_count", {kText, kText}, kInt4),
      scalar<[](Text t, Text p, Int start) { return count(t, p, start, ""); }>("regexp_count", {kText, kText, kInt4},
                                                                               kInt4),
      scalar<count>("regexp_count", {kText, kText, kInt4, kText}, kInt4),
      scalar<[](Text t, Text p) { return like(t, p, ""); }>("regexp_like", {kText, kText}, kBool),
      scalar<like>("regexp_like", {kText, kText, kText}, kBool),
      scalar<[](Text t, Text p) { return position(t, p, 1, 1, 0, "", 0); }>("regexp_instr", {kText, kText}, kInt4),
      scalar<[](Text t, Text p, Int s) { return position(t, p, s, 1, 0, "", 0); }>("regexp_instr",
                                                                                   {kText, kText, kInt4}, kInt4),
      scalar<[](Text t, Text p, Int s, Int n) { return position(t, p, s, n, 0, "", 0); }>(
          "regexp_instr", {kText, kText, kInt4, kInt4}, kInt4),
      scalar<[](Text t, Text p, Int s, Int n, Int e) { return position(t, p, s, n, e, "", 0); }>(
          "regexp_instr", {kText, kText, kInt4, kInt4, kInt4}, kInt4),
      scalar<[](Text t, Text p, Int s, Int n, Int e, Text f) { return position(t, p, s, n, e, f, 0); }>(
          "regexp_instr", {kText, kText, kInt4, kInt4, kInt4, kText}, kInt4),
      scalar<position>("regexp_instr", {kText, kText, kInt4, kInt4, kInt4, kText, kInt4}, kInt4),
      scalar<[](Text t, Text p) { return part(t, p, 1, 1, "", 0); }>("regexp_substr", {kText, kText}, kText),
      scalar<[](Text t, Text p, Int s) { return part(t, p, s, 1, "", 0); }>("regexp_substr", {kText, kText, kInt4},
                                                                            kText),
      scalar<[](Text t, Text p, Int s, Int n) { return part(t, p, s, n, "", 0); }>("regexp_substr",
                                                                                   {kText, kText, kInt4, kInt4}, kText),
      scalar<[](Text t, Text p, Int s, Int n, Text f) { return part(t, p, s, n, f, 0); }>(
          "regexp_substr", {kText, kText, kInt4, kInt4, kText}, kText),
      scalar<part>("regexp_substr", {kText, kText, kInt4, kInt4, kText, kInt4}, kText),
  };
}

}  // namespace

std::vector<ScalarFunction> regexp_functions() {
  std::vector<ScalarFunction> table = {
      scalar<replace_first>("regexp_replace", {kText, kText, kText}, kText),
      scalar<replace_with_flags>("regexp_replace", {kText, kText, kText, kText}, kText),
      scalar<replace_from>("regexp_replace", {kText, kText, kText, kInt4}, kText),
      scalar<replace_nth>("regexp_replace", {kText, kText, kText, kInt4, kInt4}, kText),
      scalar<replace_extended>("regexp_replace", {kText, kText, kText, kInt4, kInt4, kText}, kText),
      scalar<substring>("substring", {kText, kText}, kText),
      scalar<similar_substring>("substring", {kText, kText, kText}, kText),
      scalar<similar_escape>("similar_escape", {kText, kText}, kText),
      scalar<similar_to>("similar_to_escape", {kText}, kText),
      scalar<similar_to_escape>("similar_to_escape", {kText, kText}, kText),
  };
  add_pattern_operator<matches>(table, "~");
  add_pattern_operator<differs>(table, "!~");
  add_pattern_operator<matches_any_case>(table, "~*");
  add_pattern_operator<differs_any_case>(table, "!~*");
  const std::vector<ScalarFunction> counting = counting_functions();
  table.insert(table.end(), counting.begin(), counting.end());
  return table;
}

}  // namespace redquel::sql
