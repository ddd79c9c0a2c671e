// The extension fuzzystrmatch: words that are alike, and words that sound alike.

#include <algorithm>

#include "sql/error.h"
#include "sql/extensions/double_metaphone.h"
#include "sql/extensions/families.h"
#include "sql/extensions/levenshtein.h"
#include "sql/extensions/phonetic_codes.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

std::optional<Int> limit_of(Int limit) { return limit < 0 ? std::nullopt : std::optional(limit); }

Int distance(Text source, Text target) { return levenshtein_distance(source, target, {}); }
Int distance_with_costs(Text source, Text target, Int insertion, Int deletion, Int substitution) {
  return levenshtein_distance(source, target, {insertion, deletion, substitution});
}
Int limited_distance(Text source, Text target, Int limit) { return levenshtein_distance(source, target, {}, limit_of(limit)); }
Int limited_distance_with_costs(Text source, Text target, Int insertion, Int deletion, Int substitution, Int limit) {
  return levenshtein_distance(source, target, {insertion, deletion, substitution}, limit_of(limit));
}

void soundex(Text text, std::string& out) { out += soundex_code(text); }
/// How many letters and digits of both codes agree.
Int difference(Text a, Text b) {
  std::string code_of_a = soundex_code(a), code_of_b = soundex_code(b);
  constexpr std::size_t kLength = 4;
  code_of_a.resize(kLength), code_of_b.resize(kLength);
  Int count = 0;
  for (std::size_t i = 0; i < kLength; ++i) count += code_of_a[i] == code_of_b[i] ? 1 : 0;
  return count;
}

void metaphone(Text text, Int length, std::string& out) {
  constexpr std::size_t kMost = 255;
  if (text.empty()) return;
  if (text.size() > kMost) throw SqlError(sqlstate::kInvalidParameterValue, "argument exceeds the maximum length of 255 bytes");
  if (length > static_cast<Int>(kMost)) throw SqlError(sqlstate::kInvalidParameterValue, "output exceeds the maximum length of 255 bytes");
  if (length <= 0) throw SqlError(sqlstate::kZeroLengthCharacterString, "output cannot be empty string");
  out += metaphone_code(text, static_cast<std::size_t>(length));
}

void dmetaphone(Text text, std::string& out) { out += double_metaphone(text).primary; }
void dmetaphone_alt(Text text, std::string& out) { out += double_metaphone(text).alternate; }

}  // namespace

Extension fuzzystrmatch_extension() {
  return {.name = "fuzzystrmatch",
          .version = "1.1",
          .comment = "determine similarities and distance between strings",
          .functions = {
              {scalar<distance>("levenshtein", {kText, kText}, kInt4), "levenshtein"},
              {scalar<distance_with_costs>("levenshtein", {kText, kText, kInt4, kInt4, kInt4}, kInt4), "levenshtein_with_costs"},
              {scalar<limited_distance>("levenshtein_less_equal", {kText, kText, kInt4}, kInt4), "levenshtein_less_equal"},
              {scalar<limited_distance_with_costs>("levenshtein_less_equal", {kText, kText, kInt4, kInt4, kInt4, kInt4}, kInt4),
               "levenshtein_less_equal_with_costs"},
              {scalar<metaphone>("metaphone", {kText, kInt4}, kText), "metaphone"},
              {scalar<soundex>("soundex", {kText}, kText), "soundex"},
              {scalar<soundex>("text_soundex", {kText}, kText), "soundex"},
              {scalar<difference>("difference", {kText, kText}, kInt4), "difference"},
              {scalar<dmetaphone>("dmetaphone", {kText}, kText), "dmetaphone"},
              {scalar<dmetaphone_alt>("dmetaphone_alt", {kText}, kText), "dmetaphone_alt"},
          }};
}

}  // namespace redquel::sql
