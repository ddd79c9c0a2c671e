#include "sql/catalog/key_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sql/ascii.h"
#include "sql/catalog/key_segments.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/shown_text.h"

namespace redquel::sql {

namespace {

constexpr std::size_t kMaxTemplate = 1024;
constexpr int kMaxWidth = 20;
constexpr std::string_view kJavaSlot = "\\java";
constexpr std::size_t kLengthBytes = 2, kMostLength = 0xffff;

SqlError invalid(std::string_view text, std::string_view why) {
  return SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid key template \"{}\": {}", text, why));
}

/// A number as it is printed, with a sign or without.
bool is_number_text(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return all_digits(text);
}

/// A slot as it stands between its braces.
KeyTemplate::Part read_slot(std::string_view text, std::string_view slot, const KeyTemplate::ColumnOfName& column) {
  if (slot == "*") return {{}, KeyTemplate::kFieldSlot, 0};
  KeyTemplate::Part part;
  std::string_view name = slot;
  if (const std::size_t colon = slot.rfind(':'); colon != std::string_view::npos && all_digits(slot.substr(colon + 1))) {
    const std::string_view digits = slot.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), part.width);
    if (error != std::errc() || part.width < 1 || part.width > kMaxWidth) {
      throw invalid(text, fmt::format("the width of slot {{{}}} is not between 1 and {}", slot, kMaxWidth));
    }
    name = slot.substr(0, colon);
  }
  if (slot.ends_with(":*")) {
    part.takes_rest = true;
    name = slot.substr(0, slot.size() - 2);
  }
  if (name.empty()) throw invalid(text, "a slot without a name");
  part.column = column(name);
  if (part.column <= 0) throw invalid(text, fmt::format("slot {{{}}} is not a column of the table", name));
  return part;
}

/// Returns the bytes of `\xff00`, as it stands between braces.
std::string read_bytes(std::string_view text, std::string_view slot) {
  const std::string_view digits = slot.substr(2);
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const int high = hex_value(digits[i]), low = hex_value(digits[i + 1]);
    if (high < 0 || low < 0) break;
    bytes += static_cast<char>(high * 16 + low);
  }
  const bool is_whole = !bytes.empty() && bytes.size() * 2 == digits.size();
  if (!is_whole) throw invalid(text, fmt::format("{{{}}} has no pairs of hexadecimal digits", slot));
  return bytes;
}

void append_glob(std::string& pattern, std::string_view literal) {
  for (char c : literal) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\') pattern += '\\';
    pattern += c;
  }
}

}  // namespace

std::string template_literal(std::string_view literal) {
  std::string out, hidden;
  const auto end_hidden = [&] {
    if (!hidden.empty()) out += fmt::format("{{\\x{}}}", std::exchange(hidden, {}));
  };
  while (!literal.empty()) {
    const std::size_t size = shown_character(literal);
    if (size == 0) {
      hidden += fmt::format("{:02x}", static_cast<unsigned char>(literal.front()));
    } else {
      end_hidden();
      const bool is_brace = literal.front() == '{' || literal.front() == '}';
      if (is_brace) out += literal.front();
      out += literal.substr(0, size);
    }
    literal.remove_prefix(std::max<std::size_t>(size, 1));
  }
  end_hidden();
  return out;
}

std::optional<std::string_view> java_string(std::string_view bytes) {
  if (!bytes.starts_with(kJavaHead) || bytes.size() < kJavaHead.size() + kLengthBytes) return std::nullopt;
  bytes.remove_prefix(kJavaHead.size());
  const std::size_t length = static_cast<unsigned char>(bytes[0]) << 8U | static_cast<unsigned char>(bytes[1]);
  bytes.remove_prefix(kLengthBytes);
  return bytes.size() == length ? std::optional(bytes) : std::nullopt;
}

KeyTemplate KeyTemplate::parse(std::string_view text, const ColumnOfName& column) {
  if (text.empty()) throw invalid(text, "it is empty");
  if (text.size() > kMaxTemplate) throw invalid(text.substr(0, 40), fmt::format("it is longer than {} bytes", kMaxTemplate));
  KeyTemplate result;
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) result.parts_.push_back({std::exchange(literal, {}), 0, 0});
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_double = (c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c;
    if (is_double) {
      literal += c;
      ++i;
    } else if (c == '}') {
      throw invalid(text, "a } without its {");
    } else if (c == '{') {
      const std::size_t end = text.find('}', i);
      if (end == std::string_view::npos) throw invalid(text, "a { without its }");
      const std::string_view slot = text.substr(i + 1, end - i - 1);
      if (slot.starts_with("\\x")) {
        literal += read_bytes(text, slot);
        i = end;
        continue;
      }
      if (slot == kJavaSlot) {
        if (i != 0) throw invalid(text, fmt::format("{{{}}} is not at its beginning", slot));
        result.parts_.push_back({std::string(kJavaHead), 0, 0});
        result.parts_.push_back({.is_length = true});
        i = end;
        continue;
      }
      end_literal();
      Part part = read_slot(text, slot, column);
      if (!result.parts_.empty() && result.parts_.back().column != 0) {
        throw invalid(text, "two adjacent slots could be parsed in more than one way");
      }
      if (result.has_slot(part.column)) throw invalid(text, fmt::format("slot {} appears twice", text.substr(i, end - i + 1)));
      result.parts_.push_back(std::move(part));
      i = end;
    } else {
      literal += c;
    }
  }
  end_literal();
  for (std::size_t i = 0; i + 1 < result.parts_.size(); ++i) {
    if (result.parts_[i].takes_rest) throw invalid(text, "only the last part can take the rest of the key");
  }
  result.finish();
  return result;
}

KeyTemplate KeyTemplate::parse_stored(std::string_view text) {
  return parse(text, [](std::string_view name) -> std::int16_t {
    std::int16_t number = 0;
    if (name.starts_with('#')) std::from_chars(name.data() + 1, name.data() + name.size(), number);
    return number;
  });
}

std::string KeyTemplate::stored_text() const {
  return text([](std::int16_t number) { return fmt::format("#{}", number); });
}

std::string KeyTemplate::text(const NameOfColumn& name) const {
  std::string result;
  for (const Part& part : parts_) {
    if (part.is_length) {
      result = fmt::format("{{{}}}", kJavaSlot);  // instead of the header before it
    } else if (part.column == 0) {
      result += template_literal(part.literal);
    } else if (part.column == kFieldSlot) {
      result += "{*}";
    } else {
      if (part.takes_rest) result += fmt::format("{{{}:*}}", name(part.column));
      else result += part.width > 0 ? fmt::format("{{{}:{}}}", name(part.column), part.width) : fmt::format("{{{}}}", name(part.column));
    }
  }
  return result;
}

void KeyTemplate::finish() {
  has_colons_ = std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.literal.find(':') != std::string::npos; });
}

std::vector<std::int16_t> KeyTemplate::slots() const {
  std::vector<std::int16_t> columns;
  for (const Part& part : parts_) {
    if (part.column != 0) columns.push_back(part.column);
  }
  return columns;
}

bool KeyTemplate::has_slot(std::int16_t column) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.column == column && column != 0; });
}

std::string KeyTemplate::padded(const Part& part, std::string text) const {
  const auto width = static_cast<std::size_t>(part.width);
  if (text.size() < width && all_digits(text)) text.insert(0, width - text.size(), '0');
  return text;
}

std::string KeyTemplate::slot_text(std::int16_t column, std::string text) const {
  const auto slot = std::ranges::find(parts_, column, &Part::column);
  return slot == parts_.end() ? text : padded(*slot, std::move(text));
}

std::optional<std::string> KeyTemplate::render(const TextOfColumn& text) const {
  std::string key;
  for (const Part& part : parts_) {
    if (part.column == 0) {
      key.append(part.is_length ? kLengthBytes : 0, '\0');
      key += part.literal;
      continue;
    }
    std::optional<std::string> value = text(part.column);
    if (!value) return std::nullopt;
    key += padded(part, *std::move(value));
  }
  if (has_length()) {
    const std::size_t length = key.size() - kJavaHead.size() - kLengthBytes;
    if (length > kMostLength) return std::nullopt;
    key[kJavaHead.size()] = static_cast<char>(length >> 8);
    key[kJavaHead.size() + 1] = static_cast<char>(length & 0xff);
  }
  return key;
}

bool KeyTemplate::has_length() const { return parts_.size() > 1 && parts_[1].is_length; }

bool KeyTemplate::takes_rest() const { return !parts_.empty() && parts_.back().takes_rest; }

bool KeyTemplate::stops(std::size_t part, char character) const {
  if (parts_[part].takes_rest) return false;
  if (has_colons_ && character == ':') return true;
  return part + 1 < parts_.size() && parts_[part + 1].literal.front() == character;
}

bool KeyTemplate::may_hold(std::size_t slot, std::string_view text) const {
  return !text.empty() && std::none_of(text.begin(), text.end(), [&](char c) { return stops(slot, c); });
}

std::optional<std::vector<std::string_view>> KeyTemplate::match(std::string_view key) const {
  if (has_length() && !java_string(key)) return std::nullopt;
  std::vector<std::string_view> texts;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.is_length) {
      key.remove_prefix(kLengthBytes);
    } else if (part.column == 0) {
      if (!key.starts_with(part.literal)) return std::nullopt;
      key.remove_prefix(part.literal.size());
    }
    if (part.column == 0) continue;
    std::size_t length = 0;
    while (length < key.size() && !stops(i, key[length])) ++length;
    if (length == 0) return std::nullopt;
    texts.push_back(key.substr(0, length));
    key.remove_prefix(length);
  }
  if (!key.empty()) return std::nullopt;
  return texts;
}

std::string KeyTemplate::pattern(const TextOfColumn& text) const {
  std::string result;
  for (const Part& part : parts_) {
    if (part.is_length) {
      result.append(kLengthBytes, '?');
    } else if (part.column == 0) {
      append_glob(result, part.literal);
    } else if (const std::optional<std::string> value = text(part.column)) {
      append_glob(result, padded(part, *value));
    } else {
      result += '*';
    }
  }
  return result;
}

namespace {

using Segment = std::vector<KeyTemplate::Part>;

/// The parts between colons. Slots never hold one, so segments of two templates meet pairwise.
std::vector<Segment> segments_of(const KeyTemplate& key) {
  std::vector<Segment> segments(1);
  for (const KeyTemplate::Part& part : key.parts()) {
    if (part.column != 0) {
      segments.back().push_back(part);
      continue;
    }
    std::string_view rest = part.literal;
    for (std::size_t colon; (colon = rest.find(':')) != std::string_view::npos; rest.remove_prefix(colon + 1)) {
      if (colon > 0) segments.back().push_back({std::string(rest.substr(0, colon)), 0, 0});
      segments.emplace_back();
    }
    if (!rest.empty()) segments.back().push_back({std::string(rest), 0, 0});
  }
  return segments;
}

bool is_literal(const Segment& segment) { return segment.empty() || (segment.size() == 1 && segment[0].column == 0); }

std::string_view literal_of(const Segment& segment) { return segment.empty() ? std::string_view() : segment[0].literal; }

bool segment_may_be(const Segment& segment, const KeyTemplate::IsNumber& is_number, std::string_view literal) {
  if (segment.size() == 1 && segment[0].column > 0 && is_number(segment[0].column)) return is_number_text(literal);
  const bool starts = segment[0].column != 0 || literal.starts_with(segment[0].literal);
  const bool ends = segment.back().column != 0 || literal.ends_with(segment.back().literal);
  return !literal.empty() && starts && ends;
}

bool one_starts_the_other(std::string_view a, std::string_view b) { return a.starts_with(b) || b.starts_with(a); }
bool one_ends_the_other(std::string_view a, std::string_view b) { return a.ends_with(b) || b.ends_with(a); }

}  // namespace

bool KeyTemplate::may_overlap(const KeyTemplate& a, const IsNumber& a_number, const KeyTemplate& b, const IsNumber& b_number) {
  std::vector<Segment> left = segments_of(a), right = segments_of(b);
  if (a.takes_rest() || b.takes_rest()) {  // the rest of a key may have colons, so only the segments before it are compared
    if (!one_starts_the_other(a.parts_.front().literal, b.parts_.front().literal)) return false;
    if (!a.has_colons_ || !b.has_colons_) return true;
    if ((!a.takes_rest() && left.size() < right.size()) || (!b.takes_rest() && right.size() < left.size())) return false;
    const std::size_t compared = std::min(a.takes_rest() ? left.size() - 1 : left.size(), b.takes_rest() ? right.size() - 1 : right.size());
    left.resize(compared);
    right.resize(compared);
  } else if (a.has_colons_ && b.has_colons_ && left.size() != right.size()) {
    return false;
  }
  if (left.size() != right.size()) {  // a slot of the one without colons may hold some
    const Segment &first = left.front(), &second = right.front();
    if (first.empty() || second.empty() || first[0].column != 0 || second[0].column != 0) return true;
    return one_starts_the_other(first[0].literal, second[0].literal);
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Segment &x = left[i], &y = right[i];
    bool meet = true;
    if (is_literal(x) && is_literal(y)) {
      meet = literal_of(x) == literal_of(y);
    } else if (is_literal(x)) {
      meet = segment_may_be(y, b_number, literal_of(x));
    } else if (is_literal(y)) {
      meet = segment_may_be(x, a_number, literal_of(y));
    } else {
      meet = (x[0].column != 0 || y[0].column != 0 || one_starts_the_other(x[0].literal, y[0].literal)) &&
             (x.back().column != 0 || y.back().column != 0 || one_ends_the_other(x.back().literal, y.back().literal));
    }
    if (!meet) return false;
  }
  return true;
}

bool KeyTemplate::may_reach(std::string_view prefix, const IsNumber& is_number) const {
  if (has_colons_) {
    const std::vector<Segment> segments = segments_of(*this);
    const std::vector<std::string_view> names = split_segments(prefix);
    if (segments.size() <= names.size() && !takes_rest()) return false;
    for (std::size_t i = 0; i < std::min(names.size(), segments.size()); ++i) {
      const Segment& segment = segments[i];
      if (is_literal(segment) ? literal_of(segment) != names[i] : !segment_may_be(segment, is_number, names[i])) return false;
    }
    return true;
  }
  // A text slot may hold colons.
  const std::string start = std::string(prefix) + ":";
  const std::string_view literal = parts_.front().column == 0 ? std::string_view(parts_.front().literal) : std::string_view();
  const std::size_t slot = literal.empty() ? 0 : 1;
  if (slot == parts_.size() || !start.starts_with(literal)) return false;
  const char next = start[literal.size()];
  const bool is_digit = (next >= '0' && next <= '9') || next == '-';
  return is_digit || parts_[slot].column < 0 || !is_number(parts_[slot].column);
}

bool KeyTemplate::operator==(const KeyTemplate& other) const { return stored_text() == other.stored_text(); }

}  // namespace redquel::sql
