#include "sql/types/bit_string.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

[[noreturn]] void throw_digit(std::string_view rest, std::string_view kind) {
  throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("\"{}\" is not a valid {} digit", rest.substr(0, utf8_prefix(rest, 1)), kind));
}

}  // namespace

std::string parse_bits(std::string_view text) {
  const char prefix = text.empty() ? '\0' : text[0];
  const bool hexadecimal = prefix == 'x' || prefix == 'X';
  if (hexadecimal || prefix == 'b' || prefix == 'B') text.remove_prefix(1);
  std::string bits;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!hexadecimal) {
      if (text[at] != '0' && text[at] != '1') throw_digit(text.substr(at), "binary");
      bits.push_back(text[at]);
      continue;
    }
    const int digit = hex_value(text[at]);
    if (digit < 0) throw_digit(text.substr(at), "hexadecimal");
    for (int bit = 3; bit >= 0; --bit) bits.push_back(static_cast<char>('0' + (digit >> bit & 1)));
  }
  return bits;
}

std::string fit_bits(Type type, std::string bits, bool is_explicit) {
  const auto limit = static_cast<std::size_t>(type.modifier);
  if (type.oid == oid::kBit) {
    if (!is_explicit && bits.size() != limit) {
      throw SqlError(sqlstate::kStringDataLengthMismatch, fmt::format("bit string length {} does not match type bit({})", bits.size(), limit));
    }
    bits.resize(limit, '0');
  } else if (bits.size() > limit) {
    if (!is_explicit) throw SqlError(sqlstate::kStringDataRightTruncation, fmt::format("bit string too long for type bit varying({})", limit));
    bits.resize(limit);
  }
  return bits;
}

std::string unpack_bits(std::size_t count, std::string_view bytes) {
  std::string bits(count, '0');
  for (std::size_t i = 0; i < count; ++i) {
    if ((static_cast<unsigned char>(bytes[i / 8]) >> (7 - i % 8) & 1) != 0) bits[i] = '1';
  }
  return bits;
}

std::string pack_bits(std::string_view bits) {
  std::string bytes((bits.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i] == '1') bytes[i / 8] = static_cast<char>(static_cast<unsigned char>(bytes[i / 8]) | 0x80U >> i % 8);
  }
  return bytes;
}

std::string bits_of_integer(std::int64_t number, std::int32_t length) {
  std::string bits(static_cast<std::size_t>(std::max(length, 1)), '0');
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::size_t bit = std::min<std::size_t>(bits.size() - 1 - i, 63);
    if ((number >> bit & 1) != 0) bits[i] = '1';
  }
  return bits;
}

}  // namespace redquel::sql
