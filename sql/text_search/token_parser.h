#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace redquel::sql::text_search {

/// The kinds of tokens of PostgreSQL's default parser (manual 12.5); the numbers are those of ts_token_type('default').
enum class TokenKind : std::uint8_t {
  kAsciiWord = 1,
  kWord = 2,
  kNumWord = 3,
  kEmail = 4,
  kUrl = 5,
  kHost = 6,
  kSfloat = 7,
  kVersion = 8,
  kHwordNumPart = 9,
  kHwordPart = 10,
  kHwordAsciiPart = 11,
  kBlank = 12,
  kTag = 13,
  kProtocol = 14,
  kNumHword = 15,
  kAsciiHword = 16,
  kHword = 17,
  kUrlPath = 18,
  kFile = 19,
  kFloat = 20,
  kInt = 21,
  kUint = 22,
  kEntity = 23,
};

inline constexpr int kTokenKinds = 23;

/// A token. Its text is a view into the parsed text. A hyphenated word or a URL comes first, then its parts.
struct Token {
  TokenKind kind;
  std::string_view text;
};

/// A row of ts_token_type('default').
struct TokenKindRow {
  std::string_view alias;
  std::string_view description;
};

const TokenKindRow& token_kind_row(TokenKind kind);

/// PostgreSQL's default parser in a UTF-8 database of locale C, where every character beyond ASCII is a letter. Returns
/// the tokens one after another. The time is linear in the size of the text. A text with quotes in tags takes one bit
/// of memory per byte, other texts take none.
class TokenParser {
 public:
  /// The text is valid UTF-8 and outlives the parser.
  explicit TokenParser(std::string_view utf8) : text_(utf8) {}

  /// Returns the next token, or nullopt at the end.
  std::optional<Token> next();

 private:
  struct Scan {
    TokenKind kind;
    std::size_t end;
  };
  /// The end of the scanned text; nullopt: the text has another form.
  using End = std::optional<std::size_t>;

  /// ASCII letters and digits, joined by single '.', '-' and '_'. All places inside share the end and the last domain.
  struct HostChain {
    std::size_t begin = 0;
    std::size_t end = 0;
    /// The last label after a '.' that consists of two or more letters. Empty: there is none.
    std::size_t domain_begin = 0;
    std::size_t domain_end = 0;
  };

  /// Classes of words, each a part of the next.
  enum class WordClass : std::uint8_t { kAscii, kLetters, kLettersAndDigits };
  struct Word {
    WordClass word_class;
    std::size_t end;
  };

  /// A place inside a file name, named after what stands before it.
  enum class FilePlace : std::uint8_t { kName, kNameDot, kFirstDot, kSlash, kSlashDot, kTwoDots, kTilde };

  char at(std::size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  std::size_t skip(std::size_t place, bool (*belongs)(char)) const;

  // Each scan starts at the token's first character `begin`, or at a place inside the token.
  Scan scan(std::size_t begin);
  Scan blank(std::size_t begin) const;
  Scan ascii_word(std::size_t begin);
  Scan word(std::size_t place);
  Scan word_with_digits(std::size_t place);
  Scan number(std::size_t begin);
  std::optional<Scan> signed_number(std::size_t begin) const;
  Scan decimal(std::size_t place) const;
  End exponent(std::size_t place) const;

  std::optional<Word> hyphenated_part(std::size_t begin) const;
  std::optional<Scan> hyphenated_word(std::size_t hyphen, WordClass word_class);
  std::optional<Scan> next_part(std::size_t begin) const;

  std::optional<Scan> host(std::size_t begin);
  HostChain scan_host_chain(std::size_t begin) const;
  End host_end(const HostChain& chain, std::size_t begin) const;
  End email(std::size_t at_sign);
  End email_host(std::size_t begin) const;

  End file(std::size_t place, FilePlace passed);
  End entity(std::size_t begin) const;
  End tag(std::size_t begin);
  End tag_name(std::size_t begin, std::size_t place);
  End tag_attributes(std::size_t place);
  End quoted_end(std::size_t quote);
  End comment(std::size_t place);

  std::string_view text_;
  std::size_t position_ = 0;

  /// The kind of tokens at position_: new ones, or the parts of the token before.
  enum class Following : std::uint8_t { kNew, kHyphenatedParts, kUrlHost, kUrlPath };
  Following following_ = Following::kNew;
  std::size_t url_host_end_ = 0;
  std::size_t url_end_ = 0;

  /// True from <script> or <style> to the end tag: all but tags is blank.
  bool inside_script_ = false;

  /// True if the text ends with an escaped character in an open quote of a tag. PostgreSQL then returns no more tokens.
  bool lost_ = false;

  // Results that later scans use again. They keep the time linear.
  HostChain chain_;
  std::size_t email_host_begin_ = 0;
  End email_host_end_;
  std::size_t no_file_until_ = 0;
  bool no_comment_ends_ = false;
  /// Opening quotes of tags that were scanned. A tag that was scanned to its end is behind position_, so the others are
  /// malformed.
  std::vector<bool> scanned_quotes_;
};

}  // namespace redquel::sql::text_search
