#include "sql/extensions/phonetic_codes.h"

#include <algorithm>

#include "sql/ascii.h"

namespace redquel::sql {
namespace {

// ---- Soundex ----------------------------------------------------------------------------------------------------------------

char soundex_digit(char letter) {
  constexpr std::string_view kDigits = "01230120022455012623010202";  // of A to Z
  letter = to_upper(letter);
  return letter >= 'A' && letter <= 'Z' ? kDigits[static_cast<std::size_t>(letter - 'A')] : letter;
}

// ---- Metaphone --------------------------------------------------------------------------------------------------------------

bool is_one_of(char letter, std::string_view letters) { return letter != '\0' && letters.find(letter) != std::string_view::npos; }
bool is_vowel(char letter) { return is_one_of(letter, "AEIOU"); }
bool makes_soft(char letter) { return is_one_of(letter, "EIY"); }

/// A walk over a text that writes its metaphone.
class Metaphone {
 public:
  Metaphone(std::string_view text, std::size_t length) : text_(text), length_(length) {}

  std::string code() && {
    while (at_ < text_.size() && !is_letter(text_[at_])) ++at_;
    if (at_ == text_.size()) return {};
    begin();
    for (; at_ < text_.size() && code_.size() < length_; ++at_) {
      if (!is_letter(text_[at_])) continue;
      const char letter = at(0);
      if (letter == at(-1) && letter != 'C') continue;
      at_ += add(letter);
    }
    return std::move(code_);
  }

 private:
  /// The letter so many places behind (before) the current one, in upper case; '\0' beyond the ends of the text.
  char at(int distance) const {
    const auto place = static_cast<std::ptrdiff_t>(at_) + distance;
    return place < 0 || place >= static_cast<std::ptrdiff_t>(text_.size()) ? '\0' : to_upper(text_[static_cast<std::size_t>(place)]);
  }
  void put(std::string_view letters) { code_ += letters; }

  /// The first letter has rules of its own.
  void begin() {
    const char first = at(0), second = at(1);
    switch (first) {
      case 'A':
        put(second == 'E' ? "E" : "A");
        at_ += second == 'E' ? 2 : 1;
        return;
      case 'G':
      case 'K':
      case 'P':
        if (second == 'N') put("N"), at_ += 2;
        return;
      case 'X':
        put("S");
        ++at_;
        return;
      case 'E':
      case 'I':
      case 'O':
      case 'U':
        put(std::string_view(&first, 1));
        ++at_;
        return;
      case 'W':
        if (second == 'R' || second == 'H') put(std::string_view(&second, 1)), at_ += 2;
        else if (is_vowel(second)) put("W"), at_ += 2;
        return;
      default:
        return;
    }
  }

  /// Writes the code of the current letter. Returns how many letters behind it are part of it.
  std::size_t add(char letter) {
    switch (letter) {
      case 'B':
        if (at(-1) != 'M') put("B");
        return 0;
      case 'C':
        return add_c();
      case 'D':
        if (at(1) == 'G' && makes_soft(at(2))) {
          put("J");
          return 1;
        }
        put("T");
        return 0;
      case 'G':
        return add_g();
      case 'H':
        if (is_vowel(at(1)) && !is_one_of(at(-1), "CGPST")) put("H");
        return 0;
      case 'K':
        if (at(-1) != 'C') put("K");
        return 0;
      case 'P':
        put(at(1) == 'H' ? "F" : "P");
        return 0;
      case 'Q':
        put("K");
        return 0;
      case 'S':
        return add_s();
      case 'T':
        return add_t();
      case 'V':
        put("F");
        return 0;
      case 'W':
      case 'Y':
        if (is_vowel(at(1))) put(std::string_view(&letter, 1));
        return 0;
      case 'X':
        put("KS");
        return 0;
      case 'Z':
        put("S");
        return 0;
      case 'F':
      case 'J':
      case 'L':
      case 'M':
      case 'N':
      case 'R':
        put(std::string_view(&letter, 1));
        return 0;
      default:
        return 0;  // a vowel
    }
  }

  std::size_t add_c() {
    if (makes_soft(at(1))) {
      if (at(1) == 'I' && at(2) == 'A') put("X");
      else if (at(-1) != 'S') put("S");
      return 0;
    }
    if (at(1) == 'H') {
      put(at(2) == 'R' || at(-1) == 'S' ? "K" : "X");  // Christ, school
      return 1;
    }
    put("K");
    return 0;
  }

  std::size_t add_g() {
    if (at(1) == 'H') {
      if (is_one_of(at(-3), "BDH") || at(-4) == 'H') return 0;
      put("F");
      return 1;
    }
    if (at(1) == 'N') {
      const bool is_silent = !is_letter(at(2)) || (at(2) == 'E' && at(3) == 'D');
      if (!is_silent) put("K");
      return 0;
    }
    put(makes_soft(at(1)) && at(-1) != 'G' ? "J" : "K");
    return 0;
  }

  std::size_t add_s() {
    if (at(1) == 'I' && is_one_of(at(2), "OA")) {
      put("X");
      return 0;
    }
    if (at(1) == 'H') {
      put("X");
      return 1;
    }
    if (at(1) == 'C' && at(2) == 'H' && at(3) == 'W') {
      put("X");
      return 2;
    }
    put("S");
    return 0;
  }

  std::size_t add_t() {
    if (at(1) == 'I' && is_one_of(at(2), "OA")) {
      put("X");
      return 0;
    }
    if (at(1) == 'H') {
      put("0");
      return 1;
    }
    put("T");
    return 0;
  }

  std::string_view text_;
  std::size_t length_, at_ = 0;
  std::string code_;
};

}  // namespace

std::string soundex_code(std::string_view text) {
  constexpr std::size_t kLength = 4;
  while (!text.empty() && !is_letter(text[0])) text.remove_prefix(1);
  if (text.empty()) return {};
  std::string code(1, to_upper(text[0]));
  for (std::size_t i = 1; i < text.size() && code.size() < kLength; ++i) {
    const char digit = soundex_digit(text[i]);
    if (is_letter(text[i]) && digit != soundex_digit(text[i - 1]) && digit != '0') code += digit;
  }
  code.resize(kLength, '0');
  return code;
}

std::string metaphone_code(std::string_view text, std::size_t length) { return Metaphone(text, length).code(); }

}  // namespace redquel::sql
