#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/functions/regular_expression.h"

namespace redquel::sql {

// The path language of SQL/JSON (manual 9.16.2). A value of type jsonpath is the text that PostgreSQL prints for it.

/// A step of a path, or an operator over paths. A chain `$.a[0]` is linked by `next`.
struct JsonPathItem {
  enum class Kind : std::uint8_t {
    kNull, kTrue, kFalse, kString, kNumber, kVariable,  // constants; `text`
    kRoot, kCurrent, kLast,
    kKey,            // .text
    kAnyKey,         // .*
    kAnyElement,     // [*]
    kSubscripts,     // [from to to, …]
    kAnyLevel,       // .**{first to last}
    kMethod,         // .text()
    kDatetime,       // .datetime(argument); `left` may be null
    kFilter,         // ?(left)
    kPlus, kMinus,                                // unary, over `left`
    kAdd, kSubtract, kMultiply, kDivide, kModulo,
    kOr, kAnd, kNot, kIsUnknown, kExists,         // predicates from here on
    kEqual, kNotEqual, kLess, kGreater, kLessOrEqual, kGreaterOrEqual,
    kStartsWith,
    kLikeRegex,      // left like_regex text flag flags
  };
  struct Subscript {
    std::unique_ptr<JsonPathItem> from, to;  // `to` is null for a single one
  };
  static constexpr std::uint32_t kLastLevel = std::numeric_limits<std::uint32_t>::max();

  Kind kind;
  std::string text = {}, flags = {};
  std::unique_ptr<JsonPathItem> left = {}, right = {}, next = {};
  std::vector<Subscript> subscripts = {};
  std::uint32_t first = 0, last = kLastLevel;

  bool is_predicate() const { return kind >= Kind::kOr && next == nullptr; }
};
using JsonPathItemPtr = std::unique_ptr<JsonPathItem>;

struct JsonPath {
  bool lax = true;
  JsonPathItemPtr root;
};

/// 42601 "syntax error at or near …", 22P02 for an empty text, 2201B for the pattern of like_regex, 0A000 for its flag x.
JsonPath parse_jsonpath(std::string_view text);
std::string to_string(const JsonPath& path);
/// The operator as it is written: "&&", "==", "like_regex".
std::string_view jsonpath_operator(JsonPathItem::Kind kind);
/// Returns the engine's flags for the flags of like_regex. 0A000 for x without q.
RegexFlags jsonpath_regex_flags(std::string_view flags);

}  // namespace redquel::sql
