#pragma once

#include <cstdint>
#include <string_view>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::server {

inline sql::SqlError insufficient_data() { return sql::insufficient_message_data(); }

/// Reads the fields of a message's body from front to back. Every read is bounded; 08P01 in PostgreSQL's words.
class BodyReader {
 public:
  explicit BodyReader(std::string_view body) : rest_(body) {}

  std::string_view bytes(std::size_t count) {
    if (rest_.size() < count) throw insufficient_data();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  char byte() {
    if (rest_.empty()) throw sql::SqlError(sqlstate::kProtocolViolation, "no data left in message");
    return bytes(1)[0];
  }
  std::uint16_t uint16() { return static_cast<std::uint16_t>(big_endian(bytes(2))); }
  std::uint32_t uint32() { return big_endian(bytes(4)); }

  /// A text up to its terminating zero, which is taken too.
  std::string_view text() {
    const std::size_t zero = rest_.find('\0');
    if (zero == std::string_view::npos) throw sql::SqlError(sqlstate::kProtocolViolation, "invalid string in message");
    const std::string_view taken = rest_.substr(0, zero);
    rest_.remove_prefix(zero + 1);
    return taken;
  }

  /// A count of elements that take at least `element_bytes` each: what is not there is not believed.
  std::size_t count(std::size_t element_bytes) {
    const std::size_t elements = uint16();
    if (elements * element_bytes > rest_.size()) throw insufficient_data();
    return elements;
  }

  void end() const {
    if (!rest_.empty()) throw sql::SqlError(sqlstate::kProtocolViolation, "invalid message format");
  }
  std::string_view rest() const { return rest_; }

 private:
  static std::uint32_t big_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }

  std::string_view rest_;
};

}  // namespace redquel::server
