#include "sql/types/array_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/text_io.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

bool is_null_word(std::string_view text) {
  return text.size() == 4 && std::ranges::equal(text, std::string_view("null"), [](char a, char b) { return (a | 0x20) == b; });
}

SqlError malformed(std::string_view text, std::string detail) {
  return SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("malformed array literal: \"{}\"", text)).detail(std::move(detail));
}

/// Reads one literal from left to right. PostgreSQL's messages depend on what stood last.
class ArrayReader {
 public:
  explicit ArrayReader(std::string_view text) : text_(text) {}

  ArrayValue read() {
    value_.elements.reserve(std::min<std::size_t>(text_.size() / 2, 8));
    read_bounds();
    if (value_.dimensions.empty()) {
      if (!next_is('{')) fail("Array value must start with \"{\" or dimension information.");
      read_braces();
      value_.dimensions = std::move(braces_);
    } else {
      if (!next_is('=')) fail("Missing \"=\" after array dimensions.");
      ++at_;
      skip_space();
      if (!next_is('{')) fail("Array contents must start with \"{\".");
      read_braces();
      if (!std::ranges::equal(braces_, value_.dimensions, {}, &ArrayDimension::length, &ArrayDimension::length)) {
        fail("Specified array dimensions do not match array contents.");
      }
    }
    check_array_size(value_.dimensions);
    return std::move(value_);
  }

 private:
  enum class Last { kNothing, kOpen, kElement, kQuoted, kElementDelimiter, kClose, kLevelDelimiter };

  [[noreturn]] void fail(std::string detail) const { throw malformed(text_, std::move(detail)); }
  [[noreturn]] void fail_unexpected(char c) const { fail(fmt::format("Unexpected \"{}\" character.", c)); }
  bool at_end() const { return at_ >= text_.size(); }
  bool next_is(char c) const { return !at_end() && text_[at_] == c; }
  void skip_space() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }
  bool last_is_one_of(std::initializer_list<Last> allowed) const { return std::ranges::find(allowed, last_) != allowed.end(); }

  /// [m:n] or [n], once for each dimension.
  void read_bounds() {
    for (skip_space(); next_is('['); skip_space()) {
      ++at_;
      check_array_depth(value_.dimensions.size() + 1);
      std::optional<std::int64_t> upper = bound(), lower;
      if (!upper) fail("\"[\" must introduce explicitly-specified array dimensions.");
      if (next_is(':')) {
        ++at_;
        lower = upper;
        upper = bound();
        if (!upper) fail("Missing array dimension value.");
      }
      if (!next_is(']')) fail("Missing \"]\" after array dimensions.");
      ++at_;
      const std::int64_t length = *upper - lower.value_or(1) + 1;
      if (length < 1) throw SqlError(sqlstate::kArraySubscriptError, "upper bound cannot be less than lower bound");
      const auto kept = static_cast<std::int32_t>(std::min(length, kMaxArrayElements + 1));
      value_.dimensions.push_back({static_cast<std::int32_t>(lower.value_or(1)), kept});
    }
  }

  /// A number; nullopt where no digit or sign stands.
  std::optional<std::int64_t> bound() {
    const std::size_t first = at_;
    while (!at_end() && ((text_[at_] >= '0' && text_[at_] <= '9') || text_[at_] == '-' || text_[at_] == '+')) ++at_;
    if (at_ == first) return std::nullopt;
    return static_cast<std::int32_t>(std::strtol(std::string(text_.substr(first, at_ - first)).c_str(), nullptr, 10));
  }

  void read_braces() {
    do {
      if (at_end()) fail("Unexpected end of input.");
      const char c = text_[at_];
      if (c == '{') {
        open();
      } else if (c == '}') {
        close();
      } else if (c == ',') {
        delimiter();
      } else if (is_blank(c)) {
        ++at_;
      } else {
        element();
      }
    } while (depth_ > 0);
    skip_space();
    if (!at_end()) fail("Junk after closing right brace.");
    if (!value_.elements.empty()) {
      // An element that does not stand at the innermost level: {{{1}},{2}}
      if (shallowest_ != deepest_) fail("");
      for (std::size_t level = 0; level < deepest_; ++level) braces_.push_back({1, last_counts_[level]});
    }
  }

  void open() {
    if (!last_is_one_of({Last::kNothing, Last::kOpen, Last::kLevelDelimiter})) fail_unexpected('{');
    check_array_depth(depth_ + 1);
    ++at_;
    counts_[depth_++] = 1;
    last_ = Last::kOpen;
  }

  void close() {
    const bool empty = depth_ == 1 && last_ == Last::kOpen;
    if (!empty && !last_is_one_of({Last::kElement, Last::kQuoted, Last::kClose})) fail_unexpected('}');
    ++at_;
    --depth_;
    if (last_counts_[depth_] != 0 && last_counts_[depth_] != counts_[depth_]) {
      fail("Multidimensional arrays must have sub-arrays with matching dimensions.");
    }
    last_counts_[depth_] = counts_[depth_];
    last_ = Last::kClose;
  }

  void delimiter() {
    if (!last_is_one_of({Last::kElement, Last::kQuoted, Last::kClose})) fail_unexpected(',');
    ++at_;
    ++counts_[depth_ - 1];
    last_ = last_ == Last::kClose ? Last::kLevelDelimiter : Last::kElementDelimiter;
  }

  void element() {
    const char first = text_[at_];
    if (!last_is_one_of({Last::kOpen, Last::kElementDelimiter})) {
      if (first == '\\') fail_unexpected('\\');
      fail("Unexpected array element.");
    }
    shallowest_ = std::min(shallowest_, depth_);
    deepest_ = std::max(deepest_, depth_);
    if (first == '"') {
      quoted();
    } else {
      bare();
    }
  }

  void quoted() {
    const std::size_t first = ++at_;
    const std::size_t end = text_.find_first_of("\"\\", first);
    if (end != std::string_view::npos && text_[end] == '"') {
      value_.elements.emplace_back(text_.substr(first, end - first));
      at_ = end + 1;
    } else {
      std::string content;
      while (!next_is('"')) content += character();
      ++at_;
      value_.add(content);
    }
    last_ = Last::kQuoted;
  }

  void bare() {
    const std::size_t first = at_;
    // Most elements are numbers or plain words.
    while (!at_end() && (is_digit(text_[at_]) || text_[at_] == '-' || text_[at_] == '.')) ++at_;
    if (at_ > first && (next_is(',') || next_is('}'))) {
      value_.elements.emplace_back(text_.substr(first, at_ - first));
      last_ = Last::kElement;
      return;
    }
    at_ = first;
    bool escaped = false;
    std::string content;
    std::size_t kept = 0;  // up to here trailing space counts
    while (!at_end() && text_[at_] != ',' && text_[at_] != '}') {
      if (text_[at_] == '"') fail("Unexpected array element.");
      if (text_[at_] == '{') fail_unexpected('{');
      const bool escape = text_[at_] == '\\';
      if (escape && !escaped) {
        content = text_.substr(first, at_ - first);
        escaped = true;
      }
      const bool space = is_blank(text_[at_]);
      const char c = character();
      if (escaped) content += c;
      if (!space) kept = escaped ? content.size() : at_ - first;
    }
    if (at_end()) fail("Unexpected end of input.");
    const std::string_view plain = text_.substr(first, kept);
    if (escaped) {
      value_.add(std::string_view(content).substr(0, kept));
    } else if (is_null_word(plain)) {
      value_.elements.emplace_back(std::nullopt);
    } else {
      value_.elements.emplace_back(plain);
    }
    last_ = Last::kElement;
  }

  /// The next character, what a backslash protects included.
  char character() {
    if (next_is('\\')) ++at_;
    if (at_end()) fail("Unexpected end of input.");
    return text_[at_++];
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Last last_ = Last::kNothing;
  std::size_t depth_ = 0, shallowest_ = kMaxArrayDimensions, deepest_ = 0;
  std::array<std::int32_t, kMaxArrayDimensions> counts_{}, last_counts_{};
  std::vector<ArrayDimension> braces_;
  ArrayValue value_;
};

bool needs_quotes(std::string_view element) {
  return element.empty() || is_null_word(element) ||
         std::ranges::any_of(element, [](char c) { return c == '"' || c == '\\' || c == '{' || c == '}' || c == ',' || is_blank(c); });
}

void write_element(std::optional<std::string_view> element, std::string& text) {
  if (!element) {
    text += "NULL";
  } else if (!needs_quotes(*element)) {
    text += *element;
  } else {
    text += '"';
    for (const char c : *element) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
}

/// Appends the elements below one dimension, beginning with element `next`.
void append_level(const ArrayValue& value, std::size_t level, std::size_t& next, std::string& out) {
  out += '{';
  for (std::int32_t i = 0; i < value.dimensions[level].length; ++i) {
    if (i > 0) out += ',';
    if (level + 1 < value.dimensions.size()) {
      append_level(value, level + 1, next, out);
    } else {
      write_element(value.elements[next++], out);
    }
  }
  out += '}';
}

}  // namespace

void ArrayValue::add(std::optional<std::string_view> element) {
  if (element) {
    if (!memory) memory = std::make_shared<Arena>();
    element = memory->store(*element);
  }
  elements.push_back(element);
}

void ArrayValue::make_vector(std::int32_t lower) {
  dimensions.clear();
  if (!elements.empty()) dimensions.push_back({lower, static_cast<std::int32_t>(elements.size())});
}

bool is_array_type(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->element != 0 && (info->category == TypeCategory::kArray || type == oid::kRecordArray);
}

bool is_vector_type(Oid type) { return type == oid::kInt2Vector || type == oid::kOidVector; }

Type element_type_of(Type array) { return {type_info(array.oid).element, array_under(array).modifier}; }

std::int32_t first_subscript(Oid array) { return is_vector_type(array) ? 0 : 1; }

ArrayValue read_array(Oid array, std::string_view text) {
  if (!is_vector_type(array)) return ArrayReader(text).read();
  ArrayValue value;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\n\v\f\r", at), text.size());
    if (end > at) value.elements.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  value.make_vector(0);
  return value;
}

void append_array(Oid array, const ArrayValue& value, std::string& out) {
  if (is_vector_type(array)) {
    for (std::size_t i = 0; i < value.elements.size(); ++i) {
      if (i > 0) out += ' ';
      out += value.elements[i].value_or("0");
    }
    return;
  }
  if (value.elements.empty()) {
    out += "{}";
    return;
  }
  if (std::ranges::any_of(value.dimensions, [](const ArrayDimension& d) { return d.lower != 1; })) {
    for (const ArrayDimension& dimension : value.dimensions) out += fmt::format("[{}:{}]", dimension.lower, dimension.upper());
    out += '=';
  }
  std::size_t next = 0;
  append_level(value, 0, next, out);
}

std::string array_text(Oid array, const ArrayValue& value) {
  std::string text;
  append_array(array, value, text);
  return text;
}

void append_element(Column& column, std::optional<std::string_view> element) {
  if (!element) {
    column.append_null();
  } else if (is_kept_as_text(column.type().oid)) {
    column.append(*element);
  } else {
    append_parsed(column, *element, {});
  }
}

void append_array_element(std::optional<std::string_view> element, std::string& text) {
  text += text.empty() ? '{' : ',';
  write_element(element, text);
}

void finish_array_text(std::string& text) { text += text.empty() ? "{}" : "}"; }

std::int64_t check_array_size(const std::vector<ArrayDimension>& dimensions) {
  std::int64_t count = dimensions.empty() ? 0 : 1;
  for (const ArrayDimension& dimension : dimensions) {
    count *= dimension.length;
    if (count > kMaxArrayElements) {
      throw SqlError(sqlstate::kProgramLimitExceeded, fmt::format("array size exceeds the maximum allowed ({})", kMaxArrayElements));
    }
  }
  for (const ArrayDimension& dimension : dimensions) {
    if (std::int64_t{dimension.lower} + dimension.length > INT32_MAX) {
      throw SqlError(sqlstate::kProgramLimitExceeded, fmt::format("array lower bound is too large: {}", dimension.lower));
    }
  }
  return count;
}

void check_array_depth(std::size_t dimensions) {
  if (dimensions <= kMaxArrayDimensions) return;
  throw SqlError(sqlstate::kProgramLimitExceeded,
                 fmt::format("number of array dimensions ({}) exceeds the maximum allowed ({})", dimensions, kMaxArrayDimensions));
}

}  // namespace redquel::sql
