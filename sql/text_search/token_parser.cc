#include "sql/text_search/token_parser.h"

#include <algorithm>

#include "sql/ascii.h"

namespace redquel::sql::text_search {
namespace {

constexpr TokenKindRow kTokenKindRows[] = {
    {"asciiword", "Word, all ASCII"},
    {"word", "Word, all letters"},
    {"numword", "Word, letters and digits"},
    {"email", "Email address"},
    {"url", "URL"},
    {"host", "Host"},
    {"sfloat", "Scientific notation"},
    {"version", "Version number"},
    {"hword_numpart", "Hyphenated word part, letters and digits"},
    {"hword_part", "Hyphenated word part, all letters"},
    {"hword_asciipart", "Hyphenated word part, all ASCII"},
    {"blank", "Space symbols"},
    {"tag", "XML tag"},
    {"protocol", "Protocol head"},
    {"numhword", "Hyphenated word, letters and digits"},
    {"asciihword", "Hyphenated word, all ASCII"},
    {"hword", "Hyphenated word, all letters"},
    {"url_path", "URL path"},
    {"file", "File or path name"},
    {"float", "Decimal notation"},
    {"int", "Signed integer"},
    {"uint", "Unsigned integer"},
    {"entity", "XML entity"},
};
static_assert(std::size(kTokenKindRows) == kTokenKinds);

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool is_word_letter(char c) { return is_letter(c) || is_beyond_ascii(c); }
bool is_word_character(char c) { return is_word_letter(c) || is_digit(c); }
bool is_hexadecimal(char c) { return hex_value(c) >= 0; }
bool is_file_character(char c) { return is_alphanumeric(c) || c == '_'; }
bool is_tag_name_character(char c) { return is_word_character(c) || c == ':' || c == '_' || c == '.' || c == '-'; }

bool is_attribute_character(char c) {
  return is_alphanumeric(c) || is_blank(c) ||
         (c != '\0' && std::string_view("#%&-./:=?_~").find(c) != std::string_view::npos);
}

/// Returns true for a character of a URL behind the host (RFC 3986, without most of its restrictions).
bool is_url_character(char c) {
  return c > ' ' && c < 0x7F && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
}

}  // namespace

const TokenKindRow& token_kind_row(TokenKind kind) { return kTokenKindRows[static_cast<std::size_t>(kind) - 1]; }

std::optional<Token> TokenParser::next() {
  if (position_ == text_.size()) return std::nullopt;
  const std::size_t begin = position_;
  const auto token = [&](TokenKind kind, std::size_t end) {
    position_ = end;
    return Token{kind, text_.substr(begin, end - begin)};
  };
  switch (following_) {
    case Following::kUrlHost:
      following_ = Following::kUrlPath;
      return token(TokenKind::kHost, url_host_end_);
    case Following::kUrlPath:
      following_ = Following::kNew;
      return token(TokenKind::kUrlPath, url_end_);
    case Following::kHyphenatedParts:
      if (const auto part = next_part(begin)) return token(part->kind, part->end);
      following_ = Following::kNew;
      break;
    case Following::kNew:
      break;
  }
  const Scan found = scan(begin);
  if (lost_) {
    position_ = text_.size();
    return std::nullopt;
  }
  const Token whole = token(found.kind, found.end);
  if (following_ != Following::kNew) position_ = begin;
  return whole;
}

std::size_t TokenParser::skip(std::size_t place, bool (*belongs)(char)) const {
  while (place < text_.size() && belongs(text_[place])) ++place;
  return place;
}

TokenParser::Scan TokenParser::scan(std::size_t begin) {
  const char first = text_[begin];
  if (first == '<') {
    if (const End end = tag(begin)) return {TokenKind::kTag, *end};
  }
  if (inside_script_) return {TokenKind::kBlank, std::min(text_.find('<', begin + 1), text_.size())};
  if (is_letter(first)) return ascii_word(begin);
  if (is_word_letter(first)) return word(begin);
  if (is_digit(first)) return number(begin);
  if (first == '-' || first == '+') {
    if (const auto found = signed_number(begin)) return *found;
  }
  if (first == '&') {
    if (const End end = entity(begin)) return {TokenKind::kEntity, *end};
  }
  if (first == '/' || first == '~' || first == '.') {
    const FilePlace passed = first == '/' ? FilePlace::kSlash : first == '~' ? FilePlace::kTilde : FilePlace::kFirstDot;
    if (const End end = file(begin + 1, passed)) return {TokenKind::kFile, *end};
  }
  return blank(begin);
}

TokenParser::Scan TokenParser::blank(std::size_t begin) const {
  const auto continues = [](char c) {
    return !is_word_character(c) && c != '<' && c != '-' && c != '+' && c != '&' && c != '/';
  };
  return {TokenKind::kBlank, skip(begin + 1, continues)};
}

// --- words
// --------------------------------------------------------------------------------------------------------------

TokenParser::Scan TokenParser::ascii_word(std::size_t begin) {
  const std::size_t end = skip(begin, is_letter);
  const char next = at(end);
  if (is_digit(next) || next == '.' || next == '-' || next == '_' || next == '@') {
    if (const auto found = host(begin)) return *found;
  }
  if (is_digit(next)) return word_with_digits(end);
  if (is_word_letter(next)) return word(end);
  if (next == '-') {
    if (const auto found = hyphenated_word(end, WordClass::kAscii)) return *found;
  }
  if (next == '.' || next == '/') {
    if (const End found = file(end + 1, next == '.' ? FilePlace::kNameDot : FilePlace::kSlash))
      return {TokenKind::kFile, *found};
  }
  if (text_.substr(end, 3) == "://") return {TokenKind::kProtocol, end + 3};
  return {TokenKind::kAsciiWord, end};
}

TokenParser::Scan TokenParser::word(std::size_t place) {
  const std::size_t end = skip(place, is_word_letter);
  if (is_digit(at(end))) return word_with_digits(end);
  if (at(end) == '-') {
    if (const auto found = hyphenated_word(end, WordClass::kLetters)) return *found;
  }
  return {TokenKind::kWord, end};
}

TokenParser::Scan TokenParser::word_with_digits(std::size_t place) {
  const std::size_t end = skip(place, is_word_character);
  const char next = at(end);
  if (next == '@') {
    if (const End found = email(end)) return {TokenKind::kEmail, *found};
  }
  if (next == '.' || next == '/') {
    if (const End found = file(end + 1, next == '.' ? FilePlace::kNameDot : FilePlace::kSlash))
      return {TokenKind::kFile, *found};
  }
  if (next == '-') {
    if (const auto found = hyphenated_word(end, WordClass::kLettersAndDigits)) return *found;
  }
  return {TokenKind::kNumWord, end};
}

/// Scans a part of a hyphenated word. A number is no part.
std::optional<TokenParser::Word> TokenParser::hyphenated_part(std::size_t begin) const {
  if (!is_word_letter(at(skip(begin, is_digit)))) return std::nullopt;
  std::size_t end = skip(begin, is_letter);
  if (!is_word_character(at(end))) return Word{WordClass::kAscii, end};
  end = skip(end, is_word_letter);
  if (!is_word_character(at(end))) return Word{WordClass::kLetters, end};
  return Word{WordClass::kLettersAndDigits, skip(end, is_word_character)};
}

/// Continues a word of this class behind a hyphen. Returns nullopt if no part follows.
std::optional<TokenParser::Scan> TokenParser::hyphenated_word(std::size_t hyphen, WordClass word_class) {
  constexpr TokenKind kKinds[] = {TokenKind::kAsciiHword, TokenKind::kHword, TokenKind::kNumHword};
  std::size_t end = hyphen;
  while (at(end) == '-') {
    const auto part = hyphenated_part(end + 1);
    if (!part) break;
    word_class = std::max(word_class, part->word_class);
    end = part->end;
  }
  if (end == hyphen) return std::nullopt;
  following_ = Following::kHyphenatedParts;
  return Scan{kKinds[static_cast<std::size_t>(word_class)], end};
}

/// Scans the next part of the hyphenated word that was returned before, or the hyphen in front of it. A hyphen between
/// the word and a number belongs to the parts, but the number is a new token: "a-b-1" ends with a blank and an unsigned
/// integer.
std::optional<TokenParser::Scan> TokenParser::next_part(std::size_t begin) const {
  constexpr TokenKind kKinds[] = {TokenKind::kHwordAsciiPart, TokenKind::kHwordPart, TokenKind::kHwordNumPart};
  if (const auto part = hyphenated_part(begin))
    return Scan{kKinds[static_cast<std::size_t>(part->word_class)], part->end};
  if (at(begin) == '-' && is_word_character(at(begin + 1))) return Scan{TokenKind::kBlank, begin + 1};
  return std::nullopt;
}

// --- numbers
// ------------------------------------------------------------------------------------------------------------

TokenParser::Scan TokenParser::number(std::size_t begin) {
  const std::size_t end = skip(begin, is_digit);
  const char next = at(end);
  if (next == 'e' || next == 'E') {
    if (const End found = exponent(end)) return {TokenKind::kSfloat, *found};
  }
  if (is_letter(next) || next == '.' || next == '-' || next == '_' || next == '@') {
    if (const auto found = host(begin)) return *found;
  }
  if (is_word_letter(next)) return word_with_digits(end);
  if (next == '/') {
    if (const End found = file(end + 1, FilePlace::kSlash)) return {TokenKind::kFile, *found};
  }
  if (next == '.' && is_digit(at(end + 1))) return decimal(end + 1);
  return {TokenKind::kUint, end};
}

std::optional<TokenParser::Scan> TokenParser::signed_number(std::size_t begin) const {
  const std::size_t end = skip(begin + 1, is_digit);
  if (end == begin + 1) return std::nullopt;
  if (const End found = exponent(end)) return Scan{TokenKind::kSfloat, *found};
  if (at(end) != '.' || !is_digit(at(end + 1))) return Scan{TokenKind::kInt, end};
  const Scan found = decimal(end + 1);
  return found.kind == TokenKind::kVersion ? std::nullopt : std::optional(found);
}

/// Scans on behind the first '.' of a number. Another one makes it a version.
TokenParser::Scan TokenParser::decimal(std::size_t place) const {
  std::size_t end = skip(place, is_digit);
  if (const End found = exponent(end)) return {TokenKind::kSfloat, *found};
  TokenKind kind = TokenKind::kFloat;
  while (at(end) == '.' && is_digit(at(end + 1))) {
    kind = TokenKind::kVersion;
    end = skip(end + 1, is_digit);
  }
  return {kind, end};
}

TokenParser::End TokenParser::exponent(std::size_t place) const {
  if (at(place) != 'e' && at(place) != 'E') return std::nullopt;
  const std::size_t digits = place + (at(place + 1) == '+' || at(place + 1) == '-' ? 2 : 1);
  return is_digit(at(digits)) ? End(skip(digits, is_digit)) : std::nullopt;
}

// --- hosts, URLs and email addresses
// ------------------------------------------------------------------------------------

/// Scans a host, a URL or an email address that begins with an ASCII letter or a digit.
std::optional<TokenParser::Scan> TokenParser::host(std::size_t begin) {
  if (begin < chain_.begin || begin >= chain_.end) chain_ = scan_host_chain(begin);
  if (at(chain_.end) == '@') {
    if (const End end = email(chain_.end)) return Scan{TokenKind::kEmail, *end};
  }
  const End end = host_end(chain_, begin);
  if (!end) return std::nullopt;
  if (at(*end) != '/') return Scan{TokenKind::kHost, *end};
  const std::size_t path_end = skip(*end + 1, is_url_character);
  if (path_end == *end + 1) return Scan{TokenKind::kHost, *end};
  following_ = Following::kUrlHost;
  url_host_end_ = *end;
  url_end_ = path_end;
  return Scan{TokenKind::kUrl, path_end};
}

TokenParser::HostChain TokenParser::scan_host_chain(std::size_t begin) const {
  HostChain chain{.begin = begin};
  for (std::size_t label = begin;;) {
    const std::size_t end = skip(label, is_alphanumeric);
    if (label > begin && text_[label - 1] == '.' && end - label >= 2 && skip(label, is_letter) == end) {
      chain.domain_begin = label;
      chain.domain_end = end;
    }
    const char separator = at(end);
    if ((separator != '.' && separator != '-' && separator != '_') || !is_alphanumeric(at(end + 1))) {
      chain.end = end;
      return chain;
    }
    label = end + 1;
  }
}

/// Returns the end of the host that begins inside the chain, with its port. A host ends with the last domain.
TokenParser::End TokenParser::host_end(const HostChain& chain, std::size_t begin) const {
  if (chain.domain_begin <= begin) return std::nullopt;
  const std::size_t end = chain.domain_end;
  return at(end) == ':' && is_digit(at(end + 1)) ? skip(end + 1, is_digit) : end;
}

TokenParser::End TokenParser::email(std::size_t at_sign) {
  const std::size_t begin = at_sign + 1;
  if (begin != email_host_begin_) {
    email_host_begin_ = begin;
    email_host_end_ = email_host(begin);
  }
  return email_host_end_;
}

TokenParser::End TokenParser::email_host(std::size_t begin) const {
  if (!is_alphanumeric(at(begin))) return std::nullopt;
  const std::size_t digits_end = skip(begin, is_digit);
  if (digits_end > begin && exponent(digits_end)) return std::nullopt;
  return host_end(scan_host_chain(begin), begin);
}

// --- files
// --------------------------------------------------------------------------------------------------------------

/// Scans a file or path name on from a place inside it.
TokenParser::End TokenParser::file(std::size_t place, FilePlace passed) {
  End end;  // of the longest name found so far
  for (;; ++place) {
    const char c = at(place);
    const bool dot_before = passed == FilePlace::kFirstDot || passed == FilePlace::kSlashDot;
    if (passed == FilePlace::kName) {
      place = skip(place, [](char character) { return is_file_character(character) || character == '-'; });
      if (at(place) != '/' && at(place) != '.') return place;
      end = place;
      passed = at(place) == '/' ? FilePlace::kSlash : FilePlace::kNameDot;
    } else if (passed == FilePlace::kSlash && place < no_file_until_) {
      return end;
    } else if (passed == FilePlace::kTwoDots && (place >= text_.size() || is_blank(c))) {
      return place;
    } else if (passed == FilePlace::kTwoDots && c == '/') {
      end = place;
      passed = FilePlace::kSlash;
    } else if (passed != FilePlace::kTwoDots && passed != FilePlace::kFirstDot && is_file_character(c)) {
      passed = FilePlace::kName;
    } else if ((dot_before || passed == FilePlace::kTilde) && c == '/') {
      passed = FilePlace::kSlash;
    } else if (dot_before && c == '.') {
      passed = FilePlace::kTwoDots;
    } else if (passed == FilePlace::kSlash && c == '.') {
      passed = FilePlace::kSlashDot;
    } else if (passed == FilePlace::kSlash && c == '~') {
      passed = FilePlace::kTilde;
    } else {
      // A later scan from any '/' between `end` and this place fails here, too.
      no_file_until_ = place + 1;
      return end;
    }
  }
}

// --- XML
// ----------------------------------------------------------------------------------------------------------------

TokenParser::End TokenParser::entity(std::size_t begin) const {
  std::size_t place = begin + 1;
  std::size_t end;
  if (at(place) == '#') {
    const bool hexadecimal = at(place + 1) == 'x' || at(place + 1) == 'X';
    place += hexadecimal ? 2 : 1;
    end = skip(place, hexadecimal ? is_hexadecimal : is_digit);
    if (end == place) return std::nullopt;
  } else {
    if (!is_letter(at(place)) && at(place) != ':' && at(place) != '_') return std::nullopt;
    end = skip(place, is_tag_name_character);
  }
  return at(end) == ';' ? End(end + 1) : std::nullopt;
}

TokenParser::End TokenParser::tag(std::size_t begin) {
  const char second = at(begin + 1);
  const char third = at(begin + 2);
  if (is_letter(second) || second == ':' || second == '_') return tag_name(begin, begin + 2);
  if (second == '/' && is_letter(third)) return tag_name(begin, begin + 3);
  if (second == '?' && third == 'x') return tag_attributes(begin + 3);
  if (second == '!' && (third == 'D' || third == 'd')) return tag_attributes(begin + 3);
  if (second == '!' && third == '-' && at(begin + 3) == '-') return comment(begin + 4);
  return std::nullopt;
}

/// Scans on from a place inside the tag's name. A script begins and ends even at a tag that turns out to be malformed,
/// as in PostgreSQL.
TokenParser::End TokenParser::tag_name(std::size_t begin, std::size_t place) {
  const std::size_t end = skip(place, is_tag_name_character);
  const char next = at(end);
  if (next == '/') return at(end + 1) == '>' ? End(end + 2) : std::nullopt;
  if (next != '>' && !is_blank(next)) return std::nullopt;
  const std::string_view opened = text_.substr(begin, end - begin);
  if (equals_ignoring_case(opened, "<script") || equals_ignoring_case(opened, "<style")) inside_script_ = true;
  if (equals_ignoring_case(opened, "</script") || equals_ignoring_case(opened, "</style")) inside_script_ = false;
  return next == '>' ? End(end + 1) : tag_attributes(end + 1);
}

TokenParser::End TokenParser::tag_attributes(std::size_t place) {
  for (;;) {
    place = skip(place, is_attribute_character);
    const char c = at(place);
    if (c == '>') return place + 1;
    if (c != '"' && c != '\'') return std::nullopt;
    if (scanned_quotes_.empty()) scanned_quotes_.resize(text_.size());
    if (scanned_quotes_[place]) return std::nullopt;
    scanned_quotes_[place] = true;
    const End closing = quoted_end(place);
    if (!closing) return std::nullopt;
    place = *closing + 1;
  }
}

/// Returns the place of the quote that closes the value. A backslash escapes the character behind it.
TokenParser::End TokenParser::quoted_end(std::size_t quote) {
  std::size_t place = quote + 1;
  while (place < text_.size()) {
    if (text_[place] == text_[quote]) return place;
    if (text_[place] != '\\') {
      ++place;
      continue;
    }
    if (place + 1 == text_.size()) return std::nullopt;
    place = skip(place + 2, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
    // A backslash right behind an escaped character escapes nothing, as in PostgreSQL.
    if (at(place) == '\\') {
      ++place;
    } else {
      lost_ = place == text_.size();
    }
  }
  return std::nullopt;
}

TokenParser::End TokenParser::comment(std::size_t place) {
  if (no_comment_ends_) return std::nullopt;
  const std::size_t found = text_.find("-->", place);
  no_comment_ends_ = found == std::string_view::npos;
  return no_comment_ends_ ? std::nullopt : End(found + 3);
}

}  // namespace redquel::sql::text_search
