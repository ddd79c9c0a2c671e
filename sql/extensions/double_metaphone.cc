#include "sql/extensions/double_metaphone.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "sql/ascii.h"

namespace redquel::sql {
namespace {

constexpr std::size_t kLength = 4;

/// A walk over a word that writes both codes. Positions before the word and behind it hold blanks.
class Walk {
 public:
  explicit Walk(std::string_view text) : last_(static_cast<int>(text.size()) - 1) {
    std::ranges::transform(text, std::back_inserter(word_), to_upper);
    is_slavic_ = has("W") || has("K") || has("CZ") || has("WITZ");
  }

  DoubleMetaphone codes() && {
    if (word_.empty()) return {};
    if (begins({"GN", "KN", "PN", "WR", "PS"})) at_ = 1;
    if (letter(0) == 'X') put("S"), at_ = 1;
    while (at_ <= last_ && (codes_.primary.size() < kLength || codes_.alternate.size() < kLength)) at_ += add();
    codes_.primary.resize(std::min(codes_.primary.size(), kLength));
    codes_.alternate.resize(std::min(codes_.alternate.size(), kLength));
    return std::move(codes_);
  }

 private:
  bool has(std::string_view part) const { return word_.find(part) != std::string::npos; }
  char letter(int position) const { return position < 0 || position > last_ ? ' ' : word_[static_cast<std::size_t>(position)]; }
  char next() const { return letter(at_ + 1); }
  bool is_vowel(int position) const { return std::string_view("AEIOUY").find(letter(position)) != std::string_view::npos; }
  /// Returns true if one of the words stands at the position, which may be before the word.
  bool is_at(int position, std::initializer_list<std::string_view> words) const {
    if (position < 0) return false;
    return std::ranges::any_of(words, [&](std::string_view word) {
      for (std::size_t i = 0; i < word.size(); ++i) {
        if (letter(position + static_cast<int>(i)) != word[i]) return false;
      }
      return true;
    });
  }
  bool here(std::initializer_list<std::string_view> words) const { return is_at(at_, words); }
  bool behind(int distance, std::initializer_list<std::string_view> words) const { return is_at(at_ + distance, words); }
  bool begins(std::initializer_list<std::string_view> words) const { return is_at(0, words); }
  bool is_germanic() const { return begins({"VAN ", "VON ", "SCH"}); }

  void put(std::string_view both) { put(both, both); }
  void put(std::string_view primary, std::string_view alternate) { codes_.primary += primary, codes_.alternate += alternate; }
  /// Returns 2 if the letter is doubled, else 1.
  int doubled() const { return next() == letter(at_) ? 2 : 1; }

  /// Writes the code of the current letter. Returns how many letters it has taken.
  int add() {
    switch (letter(at_)) {
      case 'A':
      case 'E':
      case 'I':
      case 'O':
      case 'U':
      case 'Y':
        if (at_ == 0) put("A");
        return 1;
      case 'B':
        put("P");
        return doubled();
      case 'C':
        return add_c();
      case 'D':
        return add_d();
      case 'F':
        put("F");
        return doubled();
      case 'G':
        return add_g();
      case 'H':
        if ((at_ != 0 && !is_vowel(at_ - 1)) || !is_vowel(at_ + 1)) return 1;
        put("H");
        return 2;
      case 'J':
        return add_j();
      case 'K':
      case 'Q':
        put("K");
        return doubled();
      case 'L':
        return add_l();
      case 'M':
        put("M");
        return next() == 'M' || (behind(-1, {"UMB"}) && (at_ + 1 == last_ || behind(2, {"ER"}))) ? 2 : 1;
      case 'N':
        put("N");
        return doubled();
      case 'P':
        put(next() == 'H' ? "F" : "P");
        return next() == 'H' || next() == 'P' || next() == 'B' ? 2 : 1;
      case 'R':
        if (at_ == last_ && !is_slavic_ && behind(-2, {"IE"}) && !behind(-4, {"ME", "MA"})) put("", "R");
        else put("R");
        return doubled();
      case 'S':
        return add_s();
      case 'T':
        return add_t();
      case 'V':
        put("F");
        return doubled();
      case 'W':
        return add_w();
      case 'X':
        if (at_ != last_ || !(behind(-3, {"IAU", "EAU"}) || behind(-2, {"AU", "OU"}))) put("KS");
        return next() == 'C' || next() == 'X' ? 2 : 1;
      case 'Z':
        return add_z();
      default:
        return 1;
    }
  }

  int add_c() {
    if (at_ > 1 && !is_vowel(at_ - 2) && behind(-1, {"ACH"}) && letter(at_ + 2) != 'I' &&
        (letter(at_ + 2) != 'E' || behind(-2, {"BACHER", "MACHER"}))) {
      put("K");
      return 2;
    }
    if (at_ == 0 && here({"CAESAR"})) {
      put("S");
      return 2;
    }
    if (here({"CHIA"})) {
      put("K");
      return 2;
    }
    if (here({"CH"})) return add_ch();
    if (here({"CZ"}) && !behind(-2, {"WICZ"})) {
      put("S", "X");
      return 2;
    }
    if (behind(1, {"CIA"})) {
      put("X");
      return 3;
    }
    if (here({"CC"}) && !(at_ == 1 && letter(0) == 'M')) {
      if (!behind(2, {"I", "E", "H"}) || behind(2, {"HU"})) {
        put("K");
        return 2;
      }
      put((at_ == 1 && letter(0) == 'A') || behind(-1, {"UCCEE", "UCCES"}) ? "KS" : "X");
      return 3;
    }
    if (here({"CK", "CG", "CQ"})) {
      put("K");
      return 2;
    }
    if (here({"CI", "CE", "CY"})) {
      put("S", here({"CIO", "CIE", "CIA"}) ? "X" : "S");
      return 2;
    }
    put("K");
    if (behind(1, {" C", " Q", " G"})) return 3;
    return behind(1, {"C", "K", "Q"}) && !behind(1, {"CE", "CI"}) ? 2 : 1;
  }

  int add_ch() {
    const bool is_greek = at_ == 0 && behind(1, {"HARAC", "HARIS", "HOR", "HYM", "HIA", "HEM"}) && !begins({"CHORE"});
    const bool is_hard = is_germanic() || behind(-2, {"ORCHES", "ARCHIT", "ORCHID"}) || behind(2, {"T", "S"}) ||
                         ((at_ == 0 || behind(-1, {"A", "O", "U", "E"})) && behind(2, {"L", "R", "N", "M", "B", "H", "F", "V", "W", " "}));
    if (at_ > 0 && here({"CHAE"})) put("K", "X");
    else if (is_greek || is_hard) put("K");
    else if (at_ == 0) put("X");
    else if (begins({"MC"})) put("K");
    else put("X", "K");
    return 2;
  }

  int add_d() {
    if (here({"DG"}) && behind(2, {"I", "E", "Y"})) {
      put("J");
      return 3;
    }
    put(here({"DG"}) ? "TK" : "T");
    return here({"DG", "DT", "DD"}) ? 2 : 1;
  }

  int add_gh() {
    if (at_ > 0 && !is_vowel(at_ - 1)) {
      put("K");
      return 2;
    }
    if (at_ == 0) {
      put(letter(2) == 'I' ? "J" : "K");
      return 2;
    }
    const bool is_silent = behind(-2, {"B", "H", "D"}) || behind(-3, {"B", "H", "D"}) || behind(-4, {"B", "H"});
    if (is_silent) return 2;
    if (at_ > 2 && letter(at_ - 1) == 'U' && behind(-3, {"C", "G", "L", "R", "T"})) put("F");
    else if (letter(at_ - 1) != 'I') put("K");
    return 2;
  }

  int add_g() {
    if (next() == 'H') return add_gh();
    if (next() == 'N') {
      if (at_ == 1 && is_vowel(0) && !is_slavic_) put("KN", "N");
      else if (!behind(2, {"EY"}) && !is_slavic_) put("N", "KN");
      else put("KN");
      return 2;
    }
    if (behind(1, {"LI"}) && !is_slavic_) {
      put("KL", "L");
      return 2;
    }
    const bool begins_softly = at_ == 0 && behind(1, {"Y", "ES", "EP", "EB", "EL", "EY", "IB", "IL", "IN", "IE", "EI", "ER"});
    const bool is_er = behind(1, {"ER", "Y"}) && !begins({"DANGER", "RANGER", "MANGER"}) && !behind(-1, {"E", "I"}) && !behind(-1, {"RGY", "OGY"});
    if (begins_softly || is_er) {
      put("K", "J");
      return 2;
    }
    if (behind(1, {"E", "I", "Y"}) || behind(-1, {"AGGI", "OGGI"})) {
      if (is_germanic() || behind(1, {"ET"})) put("K");
      else if (behind(1, {"IER "})) put("J");
      else put("J", "K");
      return 2;
    }
    put("K");
    return doubled();
  }

  int add_j() {
    if (here({"JOSE"}) || begins({"SAN "})) {
      if ((at_ == 0 && letter(4) == ' ') || begins({"SAN "})) put("H");
      else put("J", "H");
      return 1;
    }
    if (at_ == 0) put("J", "A");
    else if (is_vowel(at_ - 1) && !is_slavic_ && (next() == 'A' || next() == 'O')) put("J", "H");
    else if (at_ == last_) put("J", "");
    else if (!behind(1, {"L", "T", "K", "S", "N", "M", "B", "Z"}) && !behind(-1, {"S", "K", "L"})) put("J");
    return doubled();
  }

  int add_l() {
    if (next() != 'L') {
      put("L");
      return 1;
    }
    const bool is_spanish = (at_ == last_ - 2 && behind(-1, {"ILLO", "ILLA", "ALLE"})) ||
                            ((is_at(last_ - 1, {"AS", "OS"}) || is_at(last_, {"A", "O"})) && behind(-1, {"ALLE"}));
    put("L", is_spanish ? "" : "L");
    return 2;
  }

  int add_s() {
    if (behind(-1, {"ISL", "YSL"})) return 1;
    if (at_ == 0 && here({"SUGAR"})) {
      put("X", "S");
      return 1;
    }
    if (here({"SH"})) {
      put(behind(1, {"HEIM", "HOEK", "HOLM", "HOLZ"}) ? "S" : "X");
      return 2;
    }
    if (here({"SIO", "SIA"})) {
      put("S", is_slavic_ ? "S" : "X");
      return 3;
    }
    if ((at_ == 0 && behind(1, {"M", "N", "L", "W"})) || next() == 'Z') {
      put("S", "X");
      return next() == 'Z' ? 2 : 1;
    }
    if (here({"SC"})) return add_sc();
    if (at_ == last_ && behind(-2, {"AI", "OI"})) put("", "S");
    else put("S");
    return next() == 'S' || next() == 'Z' ? 2 : 1;
  }

  int add_sc() {
    if (letter(at_ + 2) == 'H') {
      if (behind(3, {"ER", "EN"})) put("X", "SK");
      else if (behind(3, {"OO", "UY", "ED", "EM"})) put("SK");
      else if (at_ == 0 && !is_vowel(3) && letter(3) != 'W') put("X", "S");
      else put("X");
    } else {
      put(behind(2, {"I", "E", "Y"}) ? "S" : "SK");
    }
    return 3;
  }

  int add_t() {
    if (here({"TION", "TIA", "TCH"})) {
      put("X");
      return 3;
    }
    if (here({"TH", "TTH"})) {
      if (behind(2, {"OM", "AM"}) || is_germanic()) put("T");
      else put("0", "T");
      return 2;
    }
    put("T");
    return next() == 'T' || next() == 'D' ? 2 : 1;
  }

  int add_w() {
    if (here({"WR"})) {
      put("R");
      return 2;
    }
    if (at_ == 0 && (is_vowel(1) || here({"WH"}))) put("A", is_vowel(1) ? "F" : "A");
    if ((at_ == last_ && is_vowel(at_ - 1)) || behind(-1, {"EWSKI", "EWSKY", "OWSKI", "OWSKY"}) || begins({"SCH"})) {
      put("", "F");
      return 1;
    }
    if (here({"WICZ", "WITZ"})) {
      put("TS", "FX");
      return 4;
    }
    return 1;
  }

  int add_z() {
    if (next() == 'H') {
      put("J");
      return 2;
    }
    const bool is_foreign = behind(1, {"ZO", "ZI", "ZA"}) || (is_slavic_ && at_ > 0 && letter(at_ - 1) != 'T');
    put("S", is_foreign ? "TS" : "S");
    return doubled();
  }

  std::string word_;
  int last_, at_ = 0;
  bool is_slavic_ = false;
  DoubleMetaphone codes_;
};

}  // namespace

DoubleMetaphone double_metaphone(std::string_view text) { return Walk(text).codes(); }

}  // namespace redquel::sql
