#include <fmt/format.h>

#include "sql/jsonpath/jsonpath.h"
#include "sql/stack_depth.h"
#include "sql/types/json_text.h"

namespace redquel::sql {
namespace {

using Item = JsonPathItem;
using Kind = Item::Kind;

int priority(Kind kind) {
  switch (kind) {
    case Kind::kOr:
      return 0;
    case Kind::kAnd:
      return 1;
    case Kind::kEqual:
    case Kind::kNotEqual:
    case Kind::kLess:
    case Kind::kGreater:
    case Kind::kLessOrEqual:
    case Kind::kGreaterOrEqual:
    case Kind::kStartsWith:
      return 2;
    case Kind::kAdd:
    case Kind::kSubtract:
      return 3;
    case Kind::kMultiply:
    case Kind::kDivide:
    case Kind::kModulo:
      return 4;
    case Kind::kPlus:
    case Kind::kMinus:
      return 5;
    default:
      return 6;
  }
}

class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  void print(const Item& item, bool in_chain, bool brackets) {
    check_stack_depth();
    print_one(item, in_chain, brackets);
    if (item.next) print(*item.next, true, true);
  }

 private:
  void operand(const Item& item, const Item& parent) { print(item, false, priority(item.kind) <= priority(parent.kind)); }

  /// `open` argument `close`
  void around(std::string_view open, const Item& argument, std::string_view close) {
    out_ += open;
    print(argument, false, false);
    out_ += close;
  }

  void print_one(const Item& item, bool in_chain, bool brackets) {
    const std::string_view dot = in_chain ? "." : "";
    switch (item.kind) {
      case Kind::kNull:
        out_ += "null";
        break;
      case Kind::kTrue:
        out_ += "true";
        break;
      case Kind::kFalse:
        out_ += "false";
        break;
      case Kind::kString:
        append_json_string(item.text, out_);
        break;
      case Kind::kNumber:
        // -1.abs() would be the negative of 1.abs(), 1.e a number that is not complete.
        if (item.next) {
          out_.append("(").append(item.text).append(")");
        } else {
          out_ += item.text;
        }
        break;
      case Kind::kVariable:
        out_ += '$';
        append_json_string(item.text, out_);
        break;
      case Kind::kRoot:
        out_ += '$';
        break;
      case Kind::kCurrent:
        out_ += '@';
        break;
      case Kind::kLast:
        out_ += "last";
        break;
      case Kind::kKey:
        out_ += dot;
        append_json_string(item.text, out_);
        break;
      case Kind::kAnyKey:
        out_.append(dot).append("*");
        break;
      case Kind::kAnyElement:
        out_ += "[*]";
        break;
      case Kind::kSubscripts:
        print_subscripts(item);
        break;
      case Kind::kAnyLevel:
        out_ += dot;
        print_levels(item);
        break;
      case Kind::kMethod:
        out_.append(".").append(item.text).append("()");
        break;
      case Kind::kDatetime:
        out_ += ".datetime(";
        if (item.left) print(*item.left, false, false);
        out_ += ')';
        break;
      case Kind::kFilter:
        around("?(", *item.left, ")");
        break;
      case Kind::kNot:
        around("!(", *item.left, ")");
        break;
      case Kind::kIsUnknown:
        around("(", *item.left, ") is unknown");
        break;
      case Kind::kExists:
        around("exists (", *item.left, ")");
        break;
      default:
        if (brackets) out_ += '(';
        print_operator(item);
        if (brackets) out_ += ')';
    }
  }

  void print_operator(const Item& item) {
    const std::string_view symbol = jsonpath_operator(item.kind);
    if (item.kind == Kind::kPlus || item.kind == Kind::kMinus) {
      out_ += symbol;
      operand(*item.left, item);
      return;
    }
    operand(*item.left, item);
    out_.append(" ").append(symbol).append(" ");
    if (item.right) {
      operand(*item.right, item);
    } else {
      append_json_string(item.text, out_);
      if (!item.flags.empty()) out_ += fmt::format(" flag \"{}\"", item.flags);
    }
  }

  void print_subscripts(const Item& item) {
    out_ += '[';
    for (std::size_t i = 0; i < item.subscripts.size(); ++i) {
      if (i > 0) out_ += ',';
      print(*item.subscripts[i].from, false, false);
      if (!item.subscripts[i].to) continue;
      out_ += " to ";
      print(*item.subscripts[i].to, false, false);
    }
    out_ += ']';
  }

  void print_levels(const Item& item) {
    constexpr std::uint32_t kLast = Item::kLastLevel;
    const auto level = [](std::uint32_t number) { return number == kLast ? "last" : std::to_string(number); };
    out_ += "**";
    if (item.first == 0 && item.last == kLast) return;
    out_ += '{' + level(item.first);
    if (item.first != item.last) out_ += " to " + level(item.last);
    out_ += '}';
  }

  std::string& out_;
};

}  // namespace

std::string to_string(const JsonPath& path) {
  std::string out = path.lax ? "" : "strict ";
  Printer(out).print(*path.root, false, true);
  return out;
}

std::string_view jsonpath_operator(Kind kind) {
  switch (kind) {
    case Kind::kAnd:
      return "&&";
    case Kind::kOr:
      return "||";
    case Kind::kEqual:
      return "==";
    case Kind::kNotEqual:
      return "!=";
    case Kind::kLess:
      return "<";
    case Kind::kGreater:
      return ">";
    case Kind::kLessOrEqual:
      return "<=";
    case Kind::kGreaterOrEqual:
      return ">=";
    case Kind::kPlus:
    case Kind::kAdd:
      return "+";
    case Kind::kMinus:
    case Kind::kSubtract:
      return "-";
    case Kind::kMultiply:
      return "*";
    case Kind::kDivide:
      return "/";
    case Kind::kModulo:
      return "%";
    case Kind::kStartsWith:
      return "starts with";
    case Kind::kLikeRegex:
      return "like_regex";
    default:
      return "";
  }
}

}  // namespace redquel::sql
