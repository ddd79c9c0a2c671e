#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sql/jsonpath/jsonpath.h"
#include "sql/jsonpath/lexer.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/numeric.h"

namespace redquel::sql {
namespace {

using Item = JsonPathItem;
using Kind = Item::Kind;
using Token = JsonPathToken;

JsonPathItemPtr item(Kind kind, std::string text = {}) {
  auto made = std::make_unique<Item>(Item{.kind = kind});
  made->text = std::move(text);
  return made;
}
JsonPathItemPtr operation(Kind kind, JsonPathItemPtr left, JsonPathItemPtr right = nullptr) {
  JsonPathItemPtr made = item(kind);
  made->left = std::move(left);
  made->right = std::move(right);
  return made;
}

struct Operator {
  std::string_view text;
  Kind kind;
};
constexpr Operator kComparisons[] = {{"==", Kind::kEqual}, {"<>", Kind::kNotEqual}, {"<", Kind::kLess},
                                     {">", Kind::kGreater}, {"<=", Kind::kLessOrEqual}, {">=", Kind::kGreaterOrEqual}};
constexpr Operator kSums[] = {{"+", Kind::kAdd}, {"-", Kind::kSubtract}};
constexpr Operator kProducts[] = {{"*", Kind::kMultiply}, {"/", Kind::kDivide}, {"%", Kind::kModulo}};
constexpr std::string_view kMethods[] = {"abs", "size", "type", "floor", "double", "ceiling", "keyvalue"};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { advance(); }

  JsonPath parse() {
    JsonPath path;
    if (token_.is_word("strict") || token_.is_word("lax")) {
      path.lax = token_.is_word("lax");
      advance();
    }
    path.root = disjunction();
    if (token_.kind != Token::Kind::kEnd) refuse();
    return path;
  }

 private:
  [[noreturn]] void refuse() const { throw jsonpath_error("syntax error", token_.seen); }
  void advance() { token_ = lexer_.next(); }
  bool take(std::string_view text) {
    if (!token_.is(text)) return false;
    advance();
    return true;
  }
  bool take_word(std::string_view word) {
    if (!token_.is_word(word)) return false;
    advance();
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) refuse();
  }
  template <std::size_t n>
  const Operator* find(const Operator (&operators)[n]) const {
    const auto found = std::ranges::find_if(operators, [&](const Operator& each) { return token_.is(each.text); });
    return found == std::end(operators) ? nullptr : found;
  }
  JsonPathItemPtr predicate(JsonPathItemPtr parsed) const {
    if (!parsed->is_predicate()) refuse();
    return parsed;
  }
  JsonPathItemPtr expression(JsonPathItemPtr parsed) const {
    if (parsed->is_predicate()) refuse();
    return parsed;
  }

  JsonPathItemPtr disjunction() {
    check_stack_depth();
    JsonPathItemPtr left = conjunction();
    while (token_.is("||")) {
      left = predicate(std::move(left));
      advance();
      left = operation(Kind::kOr, std::move(left), predicate(conjunction()));
    }
    return left;
  }

  JsonPathItemPtr conjunction() {
    JsonPathItemPtr left = condition();
    while (token_.is("&&")) {
      left = predicate(std::move(left));
      advance();
      left = operation(Kind::kAnd, std::move(left), predicate(condition()));
    }
    return left;
  }

  /// Parses the operand of `!`.
  JsonPathItemPtr delimited() {
    if (token_.is_word("exists")) return exists();
    expect("(");
    JsonPathItemPtr inner = predicate(disjunction());
    expect(")");
    return inner;
  }

  JsonPathItemPtr exists() {
    advance();
    expect("(");
    JsonPathItemPtr path = expression(disjunction());
    expect(")");
    return operation(Kind::kExists, std::move(path));
  }

  JsonPathItemPtr condition() {
    check_stack_depth();
    if (take("!")) return operation(Kind::kNot, delimited());
    if (token_.is_word("exists")) return exists();
    const bool parenthesized = token_.is("(");
    JsonPathItemPtr left = sum();
    if (const Operator* comparison = find(kComparisons)) {
      left = expression(std::move(left));
      advance();
      return operation(comparison->kind, std::move(left), expression(sum()));
    }
    if (parenthesized && left->is_predicate() && token_.is_word("is")) {
      advance();
      if (!take_word("unknown")) refuse();
      return operation(Kind::kIsUnknown, std::move(left));
    }
    if (token_.is_word("starts")) return starts_with(expression(std::move(left)));
    if (token_.is_word("like_regex")) return like_regex(expression(std::move(left)));
    return left;
  }

  JsonPathItemPtr starts_with(JsonPathItemPtr left) {
    advance();
    if (!take_word("with")) refuse();
    const bool variable = token_.kind == Token::Kind::kVariable;
    if (!variable && token_.kind != Token::Kind::kString) refuse();
    JsonPathItemPtr initial = item(variable ? Kind::kVariable : Kind::kString, token_.text);
    advance();
    return operation(Kind::kStartsWith, std::move(left), std::move(initial));
  }

  std::string string() {
    if (token_.kind != Token::Kind::kString) refuse();
    std::string text = token_.text;
    advance();
    return text;
  }

  JsonPathItemPtr like_regex(JsonPathItemPtr left) {
    advance();
    JsonPathItemPtr made = operation(Kind::kLikeRegex, std::move(left));
    made->text = string();
    std::string written;
    if (take_word("flag")) written = string();
    constexpr std::string_view kKnown = "ismxq";
    for (std::size_t at = 0; at < written.size(); ++at) {
      if (kKnown.find(written[at]) != std::string_view::npos) continue;
      throw SqlError(sqlstate::kSyntaxError, "invalid input syntax for type jsonpath")
          .detail(fmt::format("Unrecognized flag character \"{}\" in LIKE_REGEX predicate.", written[at]));
    }
    for (const char flag : kKnown) {
      if (written.find(flag) != std::string::npos) made->flags += flag;
    }
    RegularExpression::compiled(made->text, jsonpath_regex_flags(made->flags));
    return made;
  }

  JsonPathItemPtr sum() {
    JsonPathItemPtr left = product();
    while (const Operator* each = find(kSums)) {
      left = expression(std::move(left));
      advance();
      left = operation(each->kind, std::move(left), expression(product()));
    }
    return left;
  }

  JsonPathItemPtr product() {
    JsonPathItemPtr left = sign();
    while (const Operator* each = find(kProducts)) {
      left = expression(std::move(left));
      advance();
      left = operation(each->kind, std::move(left), expression(sign()));
    }
    return left;
  }

  JsonPathItemPtr sign() {
    check_stack_depth();
    const bool minus = token_.is("-");
    if (!minus && !token_.is("+")) return chain();
    advance();
    JsonPathItemPtr operand = expression(sign());
    if (operand->kind != Kind::kNumber || operand->next) {
      return operation(minus ? Kind::kMinus : Kind::kPlus, std::move(operand));
    }
    if (minus) operand->text = Numeric::parse(operand->text).negated().to_string();
    return operand;
  }

  JsonPathItemPtr chain() {
    JsonPathItemPtr head = primary();
    Item* end = head.get();
    while (JsonPathItemPtr next = accessor()) {
      while (end->next) end = end->next.get();
      end->next = std::move(next);
    }
    return head;
  }

  JsonPathItemPtr primary() {
    using enum Token::Kind;
    const Token token = token_;
    if (take("(")) {
      JsonPathItemPtr inner = disjunction();
      expect(")");
      return inner;
    }
    if (take("$")) return item(Kind::kRoot);
    if (take("@")) return item(Kind::kCurrent);
    if (take_word("last")) return item(Kind::kLast);
    if (take_word("null")) return item(Kind::kNull);
    if (take_word("true")) return item(Kind::kTrue);
    if (take_word("false")) return item(Kind::kFalse);
    Kind kind;
    switch (token.kind) {
      case kString:
        kind = Kind::kString;
        break;
      case kVariable:
        kind = Kind::kVariable;
        break;
      case kInteger:
      case kNumber:
        kind = Kind::kNumber;
        break;
      default:
        refuse();
    }
    advance();
    return item(kind, kind == Kind::kNumber ? Numeric::parse(token.text).to_string() : token.text);
  }

  JsonPathItemPtr accessor() {
    if (take("[")) return subscripts();
    if (take("?")) {
      expect("(");
      JsonPathItemPtr condition = predicate(disjunction());
      expect(")");
      return operation(Kind::kFilter, std::move(condition));
    }
    if (!take(".")) return nullptr;
    if (take("*")) return item(Kind::kAnyKey);
    if (take("**")) return any_level();
    const Token token = token_;
    if (token.kind != Token::Kind::kName && token.kind != Token::Kind::kString) refuse();
    advance();
    if (token.kind == Token::Kind::kName && token_.is("(")) {
      if (token.is_word("datetime")) return datetime();
      for (const std::string_view method : kMethods) {
        if (!token.is_word(method)) continue;
        advance();
        expect(")");
        return item(Kind::kMethod, std::string(method));
      }
    }
    return item(Kind::kKey, token.text);
  }

  JsonPathItemPtr datetime() {
    advance();
    JsonPathItemPtr argument;
    if (!token_.is(")")) argument = item(Kind::kString, string());
    expect(")");
    return operation(Kind::kDatetime, std::move(argument));
  }

  JsonPathItemPtr subscripts() {
    if (take("*")) {
      expect("]");
      return item(Kind::kAnyElement);
    }
    JsonPathItemPtr made = item(Kind::kSubscripts);
    do {
      Item::Subscript subscript{expression(sum()), nullptr};
      if (take_word("to")) subscript.to = expression(sum());
      made->subscripts.push_back(std::move(subscript));
    } while (take(","));
    expect("]");
    return made;
  }

  std::uint32_t level() {
    if (take_word("last")) return Item::kLastLevel;
    if (token_.kind != Token::Kind::kInteger) refuse();
    std::uint32_t number = 0;
    const std::string text = token_.text;
    // Reads like strtol() into an int: a larger number is cut, not refused.
    std::from_chars(text.data(), text.data() + text.size(), number);
    advance();
    return number;
  }

  JsonPathItemPtr any_level() {
    JsonPathItemPtr made = item(Kind::kAnyLevel);
    if (!take("{")) return made;
    made->first = made->last = level();
    if (take_word("to")) made->last = level();
    expect("}");
    return made;
  }

  JsonPathLexer lexer_;
  Token token_;
};

/// @ belongs into filters, last into subscripts.
void check_places(const Item& each, bool in_filter, bool in_subscript) {
  check_stack_depth();
  if (each.kind == Kind::kCurrent && !in_filter) throw SqlError(sqlstate::kSyntaxError, "@ is not allowed in root expressions");
  if (each.kind == Kind::kLast && !in_subscript) throw SqlError(sqlstate::kSyntaxError, "LAST is allowed only in array subscripts");
  if (each.left) check_places(*each.left, in_filter || each.kind == Kind::kFilter, in_subscript);
  if (each.right) check_places(*each.right, in_filter, in_subscript);
  for (const Item::Subscript& subscript : each.subscripts) {
    check_places(*subscript.from, in_filter, true);
    if (subscript.to) check_places(*subscript.to, in_filter, true);
  }
  if (each.next) check_places(*each.next, in_filter, in_subscript);
}

}  // namespace

JsonPath parse_jsonpath(std::string_view text) {
  if (text.find_first_not_of(" \t\n\r\f") == std::string_view::npos) {
    throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type jsonpath: \"{}\"", text));
  }
  JsonPath path = Parser(text).parse();
  check_places(*path.root, false, false);
  return path;
}

RegexFlags jsonpath_regex_flags(std::string_view flags) {
  const auto has = [&](char flag) { return flags.find(flag) != std::string_view::npos; };
  RegexFlags result;
  result.ignore_case = has('i');
  if (has('q')) {
    result.syntax = RegexFlags::Syntax::kQuoted;
    return result;
  }
  if (has('x')) throw SqlError(sqlstate::kFeatureNotSupported, "XQuery \"x\" flag (expanded regular expressions) is not implemented");
  result.newline_stops = !has('s');
  result.newline_anchors = has('m');
  return result;
}

}  // namespace redquel::sql
