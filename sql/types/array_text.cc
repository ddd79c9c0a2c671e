#include "sql/types/array_text.h"

#include <algorithm>

#include "sql/error.h"

namespace redquel::sql {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_null_word(std::string_view text) {
  return text.size() == 4 && std::ranges::equal(text, std::string_view("null"), [](char a, char b) { return (a | 0x20) == b; });
}

/// Reads one array literal from left to right.
class ArrayReader {
 public:
  explicit ArrayReader(std::string_view text) : text_(text) {}

  ArrayElements read() {
    ArrayElements elements;
    skip_space();
    if (at_end() || text_[at_] != '{') {
      if (!at_end() && text_[at_] == '[') throw not_supported("array with bounds of its own");
      throw malformed("Array value must start with \"{\" or dimension information.");
    }
    ++at_;
    skip_space();
    if (peek() == '}') {
      ++at_;
    } else {
      while (true) {
        elements.push_back(element());
        skip_space();
        const char separator = peek();
        ++at_;
        if (separator == '}') break;
        if (separator != ',') throw malformed("Unexpected array element.");
      }
    }
    skip_space();
    if (!at_end()) throw malformed("Junk after closing right brace.");
    return elements;
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const {
    if (at_end()) throw malformed("Unexpected end of input.");
    return text_[at_];
  }
  void skip_space() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }

  std::optional<std::string> element() {
    skip_space();
    const char first = peek();
    if (first == '{') throw not_supported("multidimensional array");
    if (first == ',' || first == '}') throw malformed(std::string("Unexpected \"") + first + "\" character.");
    std::string value;
    if (first == '"') {
      for (++at_; peek() != '"'; ++at_) {
        if (text_[at_] == '\\') ++at_;
        value += peek();
      }
      ++at_;
      return value;
    }
    bool escaped = false;
    std::size_t kept = 0;  // up to here trailing space counts
    while (peek() != ',' && peek() != '}') {
      if (text_[at_] == '"' || text_[at_] == '{') throw malformed("Unexpected array element.");
      const bool escape = text_[at_] == '\\';
      if (escape) ++at_;
      value += peek();
      if (escape || !is_space(text_[at_])) kept = value.size();
      escaped = escaped || escape;
      ++at_;
    }
    value.resize(kept);
    if (!escaped && is_null_word(value)) return std::nullopt;
    return value;
  }

  SqlError malformed(std::string_view detail) const {
    return SqlError("22P02", "malformed array literal: \"" + std::string(text_) + "\"").detail(std::string(detail));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool needs_quotes(std::string_view element) {
  return element.empty() || is_null_word(element) ||
         std::ranges::any_of(element, [](char c) { return c == '"' || c == '\\' || c == '{' || c == '}' || c == ',' || is_space(c); });
}

}  // namespace

bool is_array_type(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->category == TypeCategory::kArray && info->element != 0;
}

ArrayElements array_elements(Oid array, std::string_view text) {
  if (array != oid::kInt2Vector && array != oid::kOidVector) return ArrayReader(text).read();
  ArrayElements elements;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) elements.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return elements;
}

void append_array_element(std::optional<std::string_view> element, std::string& text) {
  text += text.empty() ? '{' : ',';
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

void finish_array_text(std::string& text) {
  if (text.empty()) text = "{";
  text += '}';
}

std::string array_text(const ArrayElements& elements) {
  std::string text;
  for (const std::optional<std::string>& element : elements) {
    append_array_element(element ? std::optional<std::string_view>(*element) : std::nullopt, text);
  }
  finish_array_text(text);
  return text;
}

}  // namespace redquel::sql
