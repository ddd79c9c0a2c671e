#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/resp_codec.h"

namespace redquel::executor {

/// A value of RESP3. Doubles, booleans and big numbers are texts as they were sent; verbatim texts keep their form ("txt:").
struct Resp3Value {
  enum class Kind : std::uint8_t { kNull, kText, kError, kInteger, kArray, kPush };
  Kind kind = Kind::kNull;
  std::string text;                  // kText, kError
  std::int64_t integer = 0;          // kInteger
  std::vector<Resp3Value> children;  // kArray (also of sets; of maps names and values in turn), kPush

  bool is_text() const { return kind == Kind::kText; }
  bool is_error() const { return kind == Kind::kError; }
  bool is_integer() const { return kind == Kind::kInteger; }
  bool is_array() const { return kind == Kind::kArray; }
};

/// Decodes RESP3 as it arrives in pieces: sans I/O. Little is reserved on the word of the server. Streamed values and attributes, which
/// Redis does not send, are errors.
class Resp3Decoder {
 public:
  /// Bounds of one value with all that it holds.
  struct Bounds {
    std::size_t bytes = std::size_t{64} << 20;
    std::size_t values = 1'000'000;
    std::size_t depth = 8;
  };
  Resp3Decoder() = default;
  explicit Resp3Decoder(Bounds bounds) : bounds_(bounds) {}

  void feed(std::string_view bytes) { input_.append(bytes); }
  /// Returns the next value once it is complete. Throws ProtocolError; the decoder is then of no further use.
  std::optional<Resp3Value> next();
  /// Takes the next value if it is the message of invalidated keys that Redis sends for a write, and complete, and calls `visit` with each
  /// key: a view into what was fed. Returns false, and takes nothing, if it is anything else: next() decodes it.
  template <class Visit>
  bool take_invalidation(const Visit& visit) {
    if (!open_.empty()) return false;
    std::string_view rest = std::string_view(input_).substr(position_);
    if (!rest.starts_with(kInvalidation)) return false;
    rest.remove_prefix(kInvalidation.size());
    const std::optional<std::size_t> count = take_count(rest);
    if (!count || *count > bounds_.values) return false;
    keys_.clear();
    for (std::size_t i = 0; i < *count; ++i) {
      if (!rest.starts_with('$')) return false;
      rest.remove_prefix(1);
      const std::optional<std::size_t> size = take_count(rest);
      constexpr std::size_t kEnd = 2;
      if (!size || *size > bounds_.bytes || rest.size() < *size + kEnd || rest.substr(*size, kEnd) != "\r\n") return false;
      keys_.push_back(rest.substr(0, *size));
      rest.remove_prefix(*size + kEnd);
    }
    position_ = input_.size() - rest.size();
    for (const std::string_view key : keys_) visit(key);
    drop_consumed();
    return true;
  }

 private:
  static constexpr std::string_view kInvalidation = ">2\r\n$10\r\ninvalidate\r\n*";

  struct Open {
    Resp3Value value;
    std::size_t missing;  // children
  };

  /// Takes a number of up to eight digits and the end of its line.
  static std::optional<std::size_t> take_count(std::string_view& rest);
  /// Returns a complete line without its end; nullopt: more bytes are needed.
  std::optional<std::string_view> line();
  /// Returns the value that begins with the line; nullopt: more bytes are needed, or an aggregate was opened.
  std::optional<Resp3Value> read(std::string_view header, bool& needs_bytes);
  std::optional<Resp3Value> read_bulk(std::string_view header, Resp3Value::Kind kind, bool& needs_bytes);
  std::optional<Resp3Value> open(std::string_view header, Resp3Value::Kind kind, std::size_t factor);
  void drop_consumed();

  Bounds bounds_;
  std::string input_;
  std::size_t position_ = 0;       // of what is not consumed yet
  std::vector<std::string_view> keys_;  // of the message under way
  std::vector<Open> open_;         // aggregates that lack children, the innermost last
  std::size_t bytes_ = 0, values_ = 0;  // of the value under way
};

}  // namespace redquel::executor
