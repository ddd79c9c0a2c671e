#include "executor/memory/resp3_decoder.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace redquel::executor {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
/// The longest line: of an error, or of a number with many digits.
constexpr std::size_t kLongestLine = 64 * 1024;

std::int64_t number_of(std::string_view digits) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) throw ProtocolError("a number is expected");
  return number;
}

}  // namespace

std::optional<std::size_t> Resp3Decoder::take_count(std::string_view& rest) {
  constexpr std::size_t kMostDigits = 8;
  std::size_t count = 0, digits = 0;
  while (digits < rest.size() && digits < kMostDigits && rest[digits] >= '0' && rest[digits] <= '9') {
    count = count * 10 + static_cast<std::size_t>(rest[digits++] - '0');
  }
  if (digits == 0 || !rest.substr(digits).starts_with(kLineEnd)) return std::nullopt;
  rest.remove_prefix(digits + kLineEnd.size());
  return count;
}

std::optional<std::string_view> Resp3Decoder::line() {
  const std::string_view rest = std::string_view(input_).substr(position_);
  const std::size_t end = rest.find(kLineEnd);
  if (end == std::string_view::npos) {
    if (rest.size() > kLongestLine) throw ProtocolError("a line is too long");
    return std::nullopt;
  }
  return rest.substr(0, end);
}

std::optional<Resp3Value> Resp3Decoder::read_bulk(std::string_view header, Resp3Value::Kind kind, bool& needs_bytes) {
  const std::int64_t size = number_of(header.substr(1));
  if (size == -1 && kind == Resp3Value::Kind::kText) {
    position_ += header.size() + kLineEnd.size();
    return Resp3Value{};
  }
  if (size < 0 || static_cast<std::uint64_t>(size) > bounds_.bytes) throw ProtocolError("a text is too long");
  const std::size_t begin = position_ + header.size() + kLineEnd.size(), bytes = static_cast<std::size_t>(size);
  if (input_.size() < begin + bytes + kLineEnd.size()) {
    needs_bytes = true;
    return std::nullopt;
  }
  if (input_.compare(begin + bytes, kLineEnd.size(), kLineEnd) != 0) throw ProtocolError("a text does not end where it should");
  position_ = begin + bytes + kLineEnd.size();
  return Resp3Value{.kind = kind, .text = input_.substr(begin, bytes), .children = {}};
}

std::optional<Resp3Value> Resp3Decoder::open(std::string_view header, Resp3Value::Kind kind, std::size_t factor) {
  const std::int64_t count = number_of(header.substr(1));
  position_ += header.size() + kLineEnd.size();
  if (count == -1 && kind == Resp3Value::Kind::kArray) return Resp3Value{};
  if (count < 0 || static_cast<std::uint64_t>(count) > bounds_.values) throw ProtocolError("a value has too many parts");
  Resp3Value value{.kind = kind, .text = {}, .children = {}};
  if (count == 0) return value;
  if (open_.size() >= bounds_.depth) throw ProtocolError("a value nests too deeply");
  constexpr std::size_t kReserved = 64;
  value.children.reserve(std::min(static_cast<std::size_t>(count), kReserved));
  open_.push_back({std::move(value), static_cast<std::size_t>(count) * factor});
  return std::nullopt;
}

std::optional<Resp3Value> Resp3Decoder::read(std::string_view header, bool& needs_bytes) {
  using Kind = Resp3Value::Kind;
  if (header.empty()) throw ProtocolError("an empty line");
  const std::string_view rest = header.substr(1);
  const auto take_line = [&](Resp3Value value) {
    position_ += header.size() + kLineEnd.size();
    return value;
  };
  switch (header[0]) {
    case '+':
    case ',':
    case '#':
    case '(':
      return take_line({.kind = Kind::kText, .text = std::string(rest), .children = {}});
    case '-':
      return take_line({.kind = Kind::kError, .text = std::string(rest), .children = {}});
    case ':':
      return take_line({.kind = Kind::kInteger, .text = {}, .integer = number_of(rest), .children = {}});
    case '_':
      return take_line({});
    case '$':
    case '=':
      return read_bulk(header, Kind::kText, needs_bytes);
    case '!':
      return read_bulk(header, Kind::kError, needs_bytes);
    case '*':
    case '~':
      return open(header, Kind::kArray, 1);
    case '%':
      return open(header, Kind::kArray, 2);
    case '>':
      if (!open_.empty()) throw ProtocolError("a push within a value");
      return open(header, Kind::kPush, 1);
    default:
      throw ProtocolError("an unknown kind of value");
  }
}

std::optional<Resp3Value> Resp3Decoder::next() {
  while (true) {
    const std::optional<std::string_view> header = line();
    if (!header) break;
    const std::size_t before = position_;
    bool needs_bytes = false;
    std::optional<Resp3Value> value = read(*header, needs_bytes);
    if (needs_bytes) break;
    bytes_ += position_ - before;
    if (++values_ > bounds_.values || bytes_ > bounds_.bytes) throw ProtocolError("a value is too large");
    while (value && !open_.empty()) {
      Open& parent = open_.back();
      parent.value.children.push_back(*std::exchange(value, std::nullopt));
      if (--parent.missing > 0) break;
      value = std::move(parent.value);
      open_.pop_back();
    }
    if (!value) continue;
    bytes_ = values_ = 0;
    drop_consumed();
    return value;
  }
  drop_consumed();
  return std::nullopt;
}

void Resp3Decoder::drop_consumed() {
  constexpr std::size_t kMostConsumed = 64 * 1024;
  if (position_ == input_.size()) {
    input_.clear();
    position_ = 0;
  } else if (position_ > kMostConsumed) {
    input_.erase(0, position_);
    position_ = 0;
  }
}

}  // namespace redquel::executor
