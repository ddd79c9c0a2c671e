#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "sql/types/text_encoding.h"

namespace redquel::sql {

// Parts of binary values in network byte order.

template <class Unsigned>
void put_binary(Unsigned value, std::string& out) {
  static_assert(std::is_unsigned_v<Unsigned>);
  char bytes[sizeof(Unsigned)];
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) bytes[i] = static_cast<char>(value >> (8 * (sizeof(Unsigned) - 1 - i)));
  out.append(bytes, sizeof bytes);
}

/// The bytes with their length in front.
inline void put_sized(std::string_view bytes, std::string& out) {
  put_binary(static_cast<std::uint32_t>(bytes.size()), out);
  out += bytes;
}

/// A text in the client's encoding; null: UTF-8.
inline void put_text(std::string_view value, std::string& out, EncodingConverter* client) {
  if (client == nullptr) {
    out += value;
  } else {
    client->append_for_client(value, out);
  }
}

}  // namespace redquel::sql
