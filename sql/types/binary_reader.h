#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/text_encoding.h"
#include "sql/value_errors.h"

namespace redquel::sql {

/// 22P03: bytes are left over behind a value. The caller names the parameter or the column.
class UnreadBytes final : public SqlError {
 public:
  UnreadBytes() : SqlError(sqlstate::kInvalidBinaryRepresentation, "incorrect binary data format") {}
};

/// The bytes of a binary value, taken from front to back. 08P01 where they are too few.
class BinaryReader {
 public:
  BinaryReader(std::string_view bytes, EncodingConverter* client) : bytes_(bytes), client_(client) {}

  template <class Unsigned>
  Unsigned integer() {
    const std::string_view taken = take(sizeof(Unsigned));
    Unsigned value = 0;
    for (const char c : taken) value = static_cast<Unsigned>(value << 8 | static_cast<unsigned char>(c));
    return value;
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(take(1)[0]); }
  std::string_view take(std::size_t size) {
    if (bytes_.size() < size) throw insufficient_message_data();
    const std::string_view result = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return result;
  }
  std::string_view rest() { return take(bytes_.size()); }
  /// All that is left, as UTF-8. 22021, 22P05
  std::string text() {
    if (client_ != nullptr) return client_->from_client(rest());
    check_utf8(bytes_);
    return std::string(rest());
  }
  EncodingConverter* client() const { return client_; }
  void expect_end() const {
    if (!bytes_.empty()) throw UnreadBytes();
  }

 private:
  std::string_view bytes_;
  EncodingConverter* client_;  // null: texts are UTF-8
};

}  // namespace redquel::sql
