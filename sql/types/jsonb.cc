#include "sql/types/jsonb.h"

#include <algorithm>
#include <functional>

#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/stack_depth.h"
#include "sql/types/byte_text.h"
#include "sql/types/compare.h"
#include "sql/types/numeric.h"

namespace redquel::sql {
namespace {

/// The order in which an object keeps its members.
bool name_before(std::string_view a, std::string_view b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

void append_number(std::string_view digits, std::string& out) {
  constexpr std::size_t kSurelyInRange = 16'000;
  const bool negative_zero = digits.starts_with("-0");
  if (!negative_zero && digits.size() < kSurelyInRange && digits.find_first_of("eE") == std::string_view::npos) {
    out += digits;
  } else {
    Numeric::parse(digits).append_to(out);
  }
}

void append_string(std::string_view quoted, std::string& out) {
  std::string buffer;
  append_json_string(json_string(quoted, buffer), out);
}

/// A whole value taken apart, so that members can be put in order in one go however deep they lie.
class JsonTree {
 public:
  explicit JsonTree(std::string_view text) : text_(text) { root_ = read(); }

  void append_to(std::string& out) const { append(root_, out); }

 private:
  struct Node {
    std::string_view token;  // a scalar, or '[' or '{'
    std::string name;        // of a member
    std::vector<Node> children = {};
  };

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

  Node read() {
    check_stack_depth();
    skip_blanks();
    meter_.add(sizeof(Node));
    const std::size_t start = at_;
    if (text_[at_] != '[' && text_[at_] != '{') {
      at_ = json_value_end(text_, at_);
      return {text_.substr(start, at_ - start), {}};
    }
    Node node{text_.substr(start, 1), {}};
    ++at_;
    for (skip_blanks(); text_[at_] != ']' && text_[at_] != '}'; skip_blanks()) {
      std::string name;
      if (node.token == "{") {
        const std::size_t end = json_value_end(text_, at_);
        name = json_string(text_.substr(at_, end - at_));
        at_ = text_.find(':', end) + 1;
      }
      node.children.push_back(read());
      node.children.back().name = std::move(name);
      skip_blanks();
      if (text_[at_] == ',') ++at_;
    }
    ++at_;
    if (node.token == "{") {
      std::ranges::stable_sort(node.children, [](const Node& a, const Node& b) { return name_before(a.name, b.name); });
    }
    return node;
  }

  static void append(const Node& node, std::string& out) {
    check_stack_depth();
    if (node.token[0] == '"') return append_string(node.token, out);
    if (node.token[0] == '[') return append_elements(node.children, out);
    if (node.token[0] == '{') return append_members(node.children, out);
    if (json_kind(node.token) == JsonKind::kNumber) return append_number(node.token, out);
    out += node.token;
  }

  static void append_elements(const std::vector<Node>& elements, std::string& out) {
    out.push_back('[');
    for (const Node& element : elements) {
      if (&element != elements.data()) out += ", ";
      append(element, out);
    }
    out.push_back(']');
  }

  static void append_members(const std::vector<Node>& members, std::string& out) {
    out.push_back('{');
    bool first = true;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i + 1 < members.size() && members[i].name == members[i + 1].name) continue;
      if (!first) out += ", ";
      first = false;
      append_json_string(members[i].name, out);
      out += ": ";
      append(members[i], out);
    }
    out.push_back('}');
  }

  std::string_view text_;
  std::size_t at_ = 0;
  WorkMeter meter_;
  Node root_;
};

int order(std::size_t a, std::size_t b) { return (a > b) - (a < b); }

int compare_numbers(std::string_view a, std::string_view b) {
  return a == b ? 0 : Numeric::parse(a).compare(Numeric::parse(b));
}

int compare_strings(std::string_view a, std::string_view b) {
  std::string buffer_a, buffer_b;
  return compare_text(json_string(a, buffer_a), json_string(b, buffer_b));
}

int compare_values(std::string_view a, std::string_view b) {
  check_stack_depth();
  const JsonKind kind = json_kind(a), other = json_kind(b);
  if (kind != other) return kind < other ? -1 : 1;
  switch (kind) {
    case JsonKind::kNull:
      return 0;
    case JsonKind::kString:
      return compare_strings(a, b);
    case JsonKind::kNumber:
      return compare_numbers(a, b);
    case JsonKind::kBoolean:
      return (a[0] == 't') - (b[0] == 't');
    default:
      break;
  }
  if (const int counts = order(json_count(a), json_count(b)); counts != 0) return counts;
  JsonReader left(a), right(b);
  while (left.next() && right.next()) {
    if (kind == JsonKind::kObject) {
      if (const int names = compare_strings(left.key(), right.key()); names != 0) return names;
    }
    if (const int values = compare_values(left.value(), right.value()); values != 0) return values;
  }
  return 0;
}

bool same_scalar(std::string_view a, std::string_view b) {
  return a == b || (json_kind(a) == JsonKind::kNumber && json_kind(b) == JsonKind::kNumber && compare_numbers(a, b) == 0);
}

bool contains(std::string_view value, std::string_view part) {
  check_stack_depth();
  if (value[0] != part[0]) return false;  // an array and an object
  for (JsonReader wanted(part); wanted.next();) {
    const std::string_view item = wanted.value();
    const bool scalar = !is_json_container(item);
    if (part[0] == '{') {
      const std::string_view found = jsonb_member(value, json_string(wanted.key()));
      if (found.empty()) return false;
      if (scalar ? !same_scalar(found, item) : !is_json_container(found) || !contains(found, item)) return false;
      continue;
    }
    bool found = false;
    for (JsonReader elements(value); !found && elements.next();) {
      found = scalar ? same_scalar(elements.value(), item)
                     : is_json_container(elements.value()) && contains(elements.value(), item);
    }
    if (!found) return false;
  }
  return true;
}

}  // namespace

void append_jsonb(std::string_view text, std::string& out) { JsonTree(text).append_to(out); }

std::string parse_jsonb(std::string_view text) {
  check_json(text);
  std::string out;
  append_jsonb(text, out);
  return out;
}

int compare_jsonb(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  // Among whole values a scalar counts as an array of one element that comes before true arrays of one.
  const bool scalar_a = !is_json_container(a), scalar_b = !is_json_container(b);
  if (scalar_a == scalar_b) return compare_values(a, b);
  const std::string_view container = scalar_a ? b : a;
  const bool scalar_first = container[0] == '{' || json_count(container) > 0;
  return scalar_first == scalar_a ? -1 : 1;
}

std::string jsonb_key(std::string_view value) {
  std::string key;
  for (std::size_t at = 0; at < value.size();) {
    const char c = value[at];
    if (c == '"') {
      const std::size_t start = at;
      for (++at; value[at] != '"'; ++at) {
        if (value[at] == '\\') ++at;
      }
      ++at;
      key += value.substr(start, at - start);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      const std::size_t end = std::min(value.find_first_not_of("-0123456789.", at), value.size());
      std::string_view number = value.substr(at, end - at);
      if (number.find('.') != std::string_view::npos) {
        number = number.substr(0, number.find_last_not_of('0') + 1);
        if (number.back() == '.') number.remove_suffix(1);
      }
      key += number;
      at = end;
    } else {
      key.push_back(c);
      ++at;
    }
  }
  return key;
}

std::uint64_t hash_jsonb(std::string_view value) {
  if (value.find('.') == std::string_view::npos) return std::hash<std::string_view>()(value);
  return std::hash<std::string>()(jsonb_key(value));
}

bool jsonb_contains(std::string_view value, std::string_view part) {
  if (!is_json_container(value)) return !is_json_container(part) && same_scalar(value, part);
  if (is_json_container(part)) return contains(value, part);
  if (value[0] == '{') return false;
  for (JsonReader elements(value); elements.next();) {
    if (same_scalar(elements.value(), part)) return true;
  }
  return false;
}

std::string_view jsonb_member(std::string_view object, std::string_view name) {
  std::string buffer;
  for (JsonReader reader(object); reader.next();) {
    const std::string_view key = json_string(reader.key(), buffer);
    if (key == name) return reader.value();
    if (name_before(name, key)) break;
  }
  return {};
}

std::string_view jsonb_element(std::string_view array, std::int64_t index) {
  if (index < 0) index += static_cast<std::int64_t>(json_count(array));
  if (index < 0) return {};
  for (JsonReader reader(array); reader.next(); --index) {
    if (index == 0) return reader.value();
  }
  return {};
}

void JsonbObject::add_all(std::string_view object) {
  for (JsonReader reader(object); reader.next();) add(json_string(reader.key()), std::string(reader.value()));
}

void JsonbObject::append_to(std::string& out) {
  std::ranges::stable_sort(members_, [](const auto& a, const auto& b) { return name_before(a.first, b.first); });
  out.push_back('{');
  bool first = true;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (i + 1 < members_.size() && members_[i].first == members_[i + 1].first) continue;
    if (!first) out += ", ";
    first = false;
    append_json_string(members_[i].first, out);
    out += ": ";
    out += members_[i].second;
  }
  out.push_back('}');
}

}  // namespace redquel::sql
