// LIKE and ILIKE: the operators ~~ !~~ ~~* !~~* and their functions. ESCAPE is bound as like_escape(pattern, escape).

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/pattern_operators.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

struct ExactCase {
  static constexpr bool kIsExact = true;
  static char fold(char c) { return c; }
  static std::size_t step(char c) { return character_size(c); }
};
struct AnyCase {
  static constexpr bool kIsExact = false;
  static char fold(char c) { return to_lower(c); }
  static std::size_t step(char c) { return character_size(c); }
};
struct RawBytes {
  static constexpr bool kIsExact = true;
  static char fold(char c) { return c; }
  static std::size_t step(char) { return 1; }
};

[[noreturn]] void throw_ends_with_escape() {
  throw SqlError(sqlstate::kInvalidEscapeSequence, "LIKE pattern must not end with escape character");
}

/// Returns the first place from `from` on where the text may go on like the pattern behind a %; the text's end: there is none. Bytes that begin a
/// character are in no other place of one.
template <class Rules>
std::size_t next_start(Text text, std::size_t from, Text pattern) {
  if (!Rules::kIsExact || pattern[0] == '\\') return from;
  return std::min(text.find(pattern[0], from), text.size());
}

/// Only the last % need ever be tried again: what an earlier one took, the last one can take as well.
template <class Rules>
bool matches(Text text, Text pattern) {
  std::size_t t = 0, p = 0;
  std::size_t retry_text = 0, retry_pattern = Text::npos;
  WorkMeter meter;
  while (t < text.size()) {
    if (p < pattern.size()) {
      const char c = pattern[p];
      if (c == '%') {
        // Each _ that follows takes a character, whatever the % takes.
        for (++p; p < pattern.size() && (pattern[p] == '%' || pattern[p] == '_'); ++p) {
          if (pattern[p] == '%') continue;
          if (t >= text.size()) return false;
          t += Rules::step(text[t]);
        }
        if (p == pattern.size()) return true;
        if (pattern[p] == '\\' && p + 1 == pattern.size()) throw_ends_with_escape();
        retry_pattern = p;
        retry_text = t = next_start<Rules>(text, std::min(t, text.size()), pattern.substr(p));
        continue;
      }
      if (c == '_') {
        t += Rules::step(text[t]);
        ++p;
        continue;
      }
      const bool escaped = c == '\\';
      if (escaped && p + 1 == pattern.size()) throw_ends_with_escape();
      if (Rules::fold(pattern[p + (escaped ? 1 : 0)]) == Rules::fold(text[t])) {
        p += escaped ? 2 : 1;
        ++t;
        continue;
      }
    }
    if (retry_pattern == Text::npos) return false;
    meter.add(t - retry_text + 1);
    retry_text += Rules::step(text[retry_text]);
    if (retry_text < text.size()) retry_text = next_start<Rules>(text, retry_text, pattern.substr(retry_pattern));
    t = retry_text;
    p = retry_pattern;
  }
  while (p < pattern.size() && pattern[p] == '%') ++p;
  return p == pattern.size();
}

template <class Rules>
bool differs(Text text, Text pattern) {
  return !matches<Rules>(text, pattern);
}

/// The pattern with \ as its escape character instead of `escape`.
template <class Rules>
void like_escape(Text pattern, Text escape, std::string& out) {
  if (escape.empty()) {
    for (char c : pattern) {
      if (c == '\\') out += c;
      out += c;
    }
    return;
  }
  if (Rules::step(escape[0]) != escape.size()) {
    throw SqlError(sqlstate::kInvalidEscapeSequence, "invalid escape string").hint("Escape string must be empty or one character.");
  }
  if (escape == "\\") {
    out += pattern;
    return;
  }
  bool after_escape = false;
  while (!pattern.empty()) {
    const Text character = pattern.substr(0, Rules::step(pattern[0]));
    if (character == escape && !after_escape) {
      out += '\\';
      after_escape = true;
    } else {
      if (character == "\\" && !after_escape) out += '\\';
      out += character;
      after_escape = false;
    }
    pattern.remove_prefix(character.size());
  }
}

}  // namespace

std::vector<ScalarFunction> pattern_functions() {
  std::vector<ScalarFunction> table;
  add_pattern_operator<matches<ExactCase>>(table, "~~");
  add_pattern_operator<differs<ExactCase>>(table, "!~~");
  add_pattern_operator<matches<AnyCase>>(table, "~~*");
  add_pattern_operator<differs<AnyCase>>(table, "!~~*");
  for (Type type : {kText, kName}) {
    table.push_back(scalar<matches<ExactCase>>("like", {type, kText}, kBool));
    table.push_back(scalar<differs<ExactCase>>("notlike", {type, kText}, kBool));
  }
  table.push_back(scalar<matches<RawBytes>>("~~", {kBytea, kBytea}, kBool));
  table.push_back(scalar<differs<RawBytes>>("!~~", {kBytea, kBytea}, kBool));
  table.push_back(scalar<matches<RawBytes>>("like", {kBytea, kBytea}, kBool));
  table.push_back(scalar<differs<RawBytes>>("notlike", {kBytea, kBytea}, kBool));
  table.push_back(scalar<like_escape<ExactCase>>("like_escape", {kText, kText}, kText));
  table.push_back(scalar<like_escape<RawBytes>>("like_escape", {kBytea, kBytea}, kBytea));
  return table;
}

}  // namespace redquel::sql
