#pragma once

#include <string>
#include <string_view>

#include "sql/error.h"
#include "sql/interrupts.h"

namespace redquel::sql {

/// One token of a path expression.
struct JsonPathToken {
  enum class Kind : std::uint8_t { kEnd, kName, kString, kVariable, kInteger, kNumber, kOperator } kind = Kind::kEnd;
  std::string text;  // what it says: escapes resolved, operators as written (!= as <>)
  std::string seen;  // what an error message shows; empty: the end of the input

  bool is(std::string_view operation) const { return kind == Kind::kOperator && text == operation; }
  /// Keywords are names, in any case of letters; true, false and null in small letters only.
  bool is_word(std::string_view word) const;
};

class JsonPathLexer {
 public:
  explicit JsonPathLexer(std::string_view text) : text_(text) {}

  JsonPathToken next();

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool at_end() const { return at_ >= text_.size(); }
  void skip_blanks();
  JsonPathToken number();
  JsonPathToken name(JsonPathToken::Kind kind);
  JsonPathToken string(JsonPathToken::Kind kind);
  void escape(std::string& out, std::uint32_t& high_surrogate);
  std::uint32_t hex_digits(std::size_t least, std::size_t most, std::string_view what, std::size_t start);

  std::string_view text_;
  std::size_t at_ = 0;
  WorkMeter meter_;
};

/// 42601 `message at or near "seen" of jsonpath input`.
SqlError jsonpath_error(std::string_view message, std::string_view seen);

}  // namespace redquel::sql
