#include "sql/functions/number_picture.h"

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

using enum NumberPattern;

struct Keyword {
  std::string_view name;
  NumberPattern pattern;
};
constexpr Keyword kKeywords[] = {
    {",", kComma},       {".", kPoint},      {"0", kZero},         {"9", kDigit},         {"B", kBlank},
    {"C", kIgnored},     {"D", kLocalPoint}, {"EEEE", kExponent},  {"FM", kFillMode},     {"G", kGroup},
    {"L", kCurrency},    {"MI", kMinus},     {"PL", kPlus},        {"PR", kBracket},      {"RN", kRomanUpper},
    {"SG", kSign},       {"SP", kIgnored},   {"S", kAnchoredSign}, {"TH", kOrdinalUpper}, {"V", kShift},
    {"b", kBlank},       {"c", kIgnored},    {"d", kLocalPoint},   {"eeee", kExponent},   {"fm", kFillMode},
    {"g", kGroup},       {"l", kCurrency},   {"mi", kMinus},       {"pl", kPlus},         {"pr", kBracket},
    {"rn", kRomanLower}, {"sg", kSign},      {"sp", kIgnored},     {"s", kAnchoredSign},  {"th", kOrdinalLower},
    {"v", kShift},
};

SqlError syntax_error(std::string message) { return SqlError(sqlstate::kSyntaxError, std::move(message)); }

SqlError sign_conflict() { return syntax_error("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together"); }

}  // namespace

NumberPicture::NumberPicture(std::string_view text) {
  while (!text.empty()) {
    const Keyword* found = nullptr;
    for (const Keyword& keyword : kKeywords) {
      if (text.starts_with(keyword.name)) {
        found = &keyword;
        break;
      }
    }
    if (found != nullptr) {
      add(found->pattern);
      items.push_back({found->pattern, found->name});
      text.remove_prefix(found->name.size());
      continue;
    }
    const bool quoted = text[0] == '"';
    if (quoted) text.remove_prefix(1);
    if (!quoted && text.starts_with("\\\"")) text.remove_prefix(1);
    do {
      if (quoted && (text.empty() || text[0] == '"')) break;
      if (quoted && text[0] == '\\' && text.size() > 1) text.remove_prefix(1);
      items.push_back({kCharacter, first_character(text)});
      text.remove_prefix(first_character(text).size());
    } while (quoted);
    if (quoted && !text.empty()) text.remove_prefix(1);
  }
}

void NumberPicture::add(NumberPattern pattern) {
  if (exponent && pattern != kExponent) throw syntax_error("\"EEEE\" must be the last pattern used");
  switch (pattern) {
    case kDigit:
      if (bracket) throw syntax_error("\"9\" must be ahead of \"PR\"");
      ++(shift ? shifted : has_point ? after : before);
      break;
    case kZero:
      if (bracket) throw syntax_error("\"0\" must be ahead of \"PR\"");
      if (!has_zero && !has_point) {
        has_zero = true;
        zero_start = before + 1;
      }
      ++(has_point ? after : before);
      zero_end = before + after;
      break;
    case kLocalPoint:
    case kPoint:
      if (has_point) throw syntax_error("multiple decimal points");
      if (shift) throw syntax_error("cannot use \"V\" and decimal point together");
      has_point = true;
      break;
    case kBlank:
      blank = blank || (before == 0 && after == 0 && !has_zero);
      break;
    case kFillMode:
      fill_mode = true;
      break;
    case kAnchoredSign:
      if (anchored_sign) throw syntax_error("cannot use \"S\" twice");
      if (plus || minus || bracket) throw sign_conflict();
      if (!has_point) {
        anchor = Anchor::kBefore;
        digits_before_anchor = before;
        anchored_sign = true;
      } else if (anchor == Anchor::kNone) {
        anchor = Anchor::kAfter;
        anchored_sign = true;
      }
      break;
    case kMinus:
      if (anchored_sign) throw syntax_error("cannot use \"S\" and \"MI\" together");
      minus = true;
      break;
    case kPlus:
      if (anchored_sign) throw syntax_error("cannot use \"S\" and \"PL\" together");
      plus = true;
      break;
    case kSign:
      if (anchored_sign) throw syntax_error("cannot use \"S\" and \"SG\" together");
      minus = plus = true;
      break;
    case kBracket:
      if (anchored_sign || plus || minus) {
        throw syntax_error("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together");
      }
      bracket = true;
      break;
    case kRomanUpper:
    case kRomanLower:
      roman = true;
      break;
    case kShift:
      if (has_point) throw syntax_error("cannot use \"V\" and decimal point together");
      shift = true;
      break;
    case kExponent:
      if (exponent) throw syntax_error("cannot use \"EEEE\" twice");
      if (blank || fill_mode || anchored_sign || bracket || minus || plus || roman || shift) {
        throw syntax_error("\"EEEE\" is incompatible with other formats")
            .detail("\"EEEE\" may only be used together with digit and decimal point patterns.");
      }
      exponent = true;
      break;
    default:
      break;
  }
}

}  // namespace redquel::sql
