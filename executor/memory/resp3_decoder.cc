#include "executor/memory/resp3_decoder.h"

#include <charconv>

#include "executor/redis/resp_codec.h"

namespace redquel::executor {

namespace {

constexpr int kMostDepth = 8;
constexpr std::size_t kMostLine = 64 * 1024;

std::int64_t number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) throw ProtocolError("not a number in a reply");
  return number;
}

}  // namespace

void Resp3Decoder::feed(std::string_view bytes) {
  if (begin_ > bytes_.size() / 2) {
    bytes_.erase(0, begin_);
    begin_ = 0;
  }
  bytes_ += bytes;
  if (bytes_.size() - begin_ > most_bytes_) throw ProtocolError("a message is too long");
}

std::optional<Resp3Value> Resp3Decoder::next() {
  if (bytes_.size() - begin_ < needed_) return std::nullopt;
  std::size_t at = begin_;
  if (!parse(at, nullptr, 0)) {
    // A long message is looked at again when it may be twice as long: its bytes are looked at a bounded number of times.
    needed_ = (bytes_.size() - begin_) + (bytes_.size() - begin_) / 8 + 1;
    if (bytes_.size() - begin_ < kMostLine) needed_ = 0;
    return std::nullopt;
  }
  needed_ = 0;
  Resp3Value value;
  at = begin_;
  parse(at, &value, 0);
  begin_ = at;
  return value;
}

bool Resp3Decoder::read_line(std::size_t& at, std::string_view& line) const {
  const std::size_t end = bytes_.find("\r\n", at);
  if (end == std::string::npos) {
    if (bytes_.size() - at > kMostLine) throw ProtocolError("a line of a reply does not end");
    return false;
  }
  line = std::string_view(bytes_).substr(at, end - at);
  at = end + 2;
  return true;
}

/// Reads the value at `at`, which moves behind it. `value`: null to look only whether it is complete.
bool Resp3Decoder::parse(std::size_t& at, Resp3Value* value, int depth) const {
  using Kind = Resp3Value::Kind;
  if (depth > kMostDepth) throw ProtocolError("a reply is nested too deeply");
  std::string_view line;
  if (!read_line(at, line)) return false;
  if (line.empty()) throw ProtocolError("an empty line in place of a reply");
  const std::string_view rest = line.substr(1);
  const auto set = [&](Kind kind) {
    if (value != nullptr) value->kind = kind;
  };
  switch (line[0]) {
    case '_':
      return true;
    case ':':
    case '#':
      set(Kind::kInteger);
      if (value != nullptr) value->integer = line[0] == ':' ? number_of(rest) : rest == "t";
      return true;
    case '+':
    case ',':
    case '(':
    case '-':
      set(line[0] == '-' ? Kind::kError : Kind::kText);
      if (value != nullptr) value->text = rest;
      return true;
    case '$':
    case '!':
    case '=': {
      const std::int64_t length = number_of(rest);
      if (length < 0) return true;
      if (static_cast<std::uint64_t>(length) > most_bytes_) throw ProtocolError("a text is too long");
      if (bytes_.size() - at < static_cast<std::size_t>(length) + 2) return false;
      set(line[0] == '!' ? Kind::kError : Kind::kText);
      if (value != nullptr) value->text = bytes_.substr(at, static_cast<std::size_t>(length));
      at += static_cast<std::size_t>(length) + 2;
      return true;
    }
    case '*':
    case '~':
    case '>':
    case '%': {
      std::int64_t count = number_of(rest);
      if (count < 0) return true;
      if (static_cast<std::uint64_t>(count) > most_bytes_) throw ProtocolError("an array is too long");
      if (line[0] == '%') count *= 2;
      set(line[0] == '>' ? Kind::kPush : Kind::kArray);
      for (std::int64_t i = 0; i < count; ++i) {
        Resp3Value* child = value == nullptr ? nullptr : &value->children.emplace_back();
        if (!parse(at, child, depth + 1)) return false;
      }
      return true;
    }
    default:
      throw ProtocolError("a reply of an unknown kind");
  }
}

}  // namespace redquel::executor
