#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::executor {

/// One value of RESP3. Maps are arrays of keys and values.
struct Resp3Value {
  enum class Kind : std::uint8_t { kNull, kInteger, kText, kError, kArray, kPush };
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;
  std::string text;
  std::vector<Resp3Value> children;

  bool is_text() const { return kind == Kind::kText; }
};

/// Decodes RESP3 as it arrives in pieces: sans I/O. A message is bounded in bytes and in depth.
class Resp3Decoder {
 public:
  explicit Resp3Decoder(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  void feed(std::string_view bytes);
  /// Returns the next value once it is complete. Throws ProtocolError.
  std::optional<Resp3Value> next();

 private:
  bool parse(std::size_t& at, Resp3Value* value, int depth) const;
  bool read_line(std::size_t& at, std::string_view& line) const;

  std::size_t most_bytes_;
  std::string bytes_;
  std::size_t begin_ = 0;   // of the next value
  std::size_t needed_ = 0;  // bytes without which it is not complete
};

}  // namespace redquel::executor
