#include "sql/types/bit_string.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"
#include "sql/types/varlena.h"

namespace redquel::sql {
namespace {

constexpr std::int32_t kMaxBits = 8 * kMaxTextLength;

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

std::string bits_of_integer(std::int64_t number, std::int32_t length) {
  std::string bits(static_cast<std::size_t>(std::max(length, 1)), '0');
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::size_t bit = std::min<std::size_t>(bits.size() - 1 - i, 63);
    if ((number >> bit & 1) != 0) bits[i] = '1';
  }
  return bits;
}

namespace {

/// The length coercion. Explicit casts cut or fill at the right; else 22026, 22001.
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

/// The binary format: a count and the bits, eight to a byte.
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

template <bool is_fixed>
constexpr ModifierOperations kBitModifier{
    .encode = [](std::span<const std::int32_t> written) { return encode_length(is_fixed ? "bit" : "varbit", written, kMaxBits); },
    .name = [](std::string_view name, std::int32_t modifier) { return fmt::format("{}({})", name, modifier); },
    .has_effect = [](std::int32_t) { return true; },
    .apply = [](Type type, Datum value, bool explicit_cast) -> Datum {
      return fit_bits(type, std::get<std::string>(std::move(value)), explicit_cast);
    },
    .may_cut = true,
};

template <bool is_fixed>
struct BitType : StoredAs<std::string_view> {
  static constexpr bool kHasHashClass = false;
  static constexpr const ModifierOperations* kModifier = &kBitModifier<is_fixed>;
  static TypeProperties properties(Type type) { return type.modifier < 0 ? TypeProperties{} : TypeProperties{.maximum_length = type.modifier}; }
  static std::string parse(const TextInput& input) { return parse_bits(input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
  static std::string decode(Type, BinaryReader& reader) {
    const std::size_t count = reader.integer<std::uint32_t>();
    if (count > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
      throw SqlError(sqlstate::kInvalidBinaryRepresentation, "invalid length in external bit string");
    }
    return unpack_bits(count, reader.take((count + 7) / 8));
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter*) {
    put_binary(static_cast<std::uint32_t>(value.size()), out);
    out += pack_bits(value);
  }
  static std::size_t payload_size(Type, Value value) { return 4 + (value.size() + 7) / 8; }
};

}  // namespace

std::span<const TypeRow> bit_string_types() {
  static constexpr TypeRow kRows[] = {
      type_row<BitType<true>>({.oid = oid::kBit, .name = "bit", .category = kBitStringCategory, .array = oid::kBitArray},
                              {"bit_in", "bit_out", "bit_send"},
                              {"bitcmp"}),
      type_row<BitType<false>>({.oid = oid::kVarbit, .name = "varbit", .display_name = "bit varying", .category = kBitStringCategory,
                                .preferred = true, .array = oid::kVarbitArray},
                               {"varbit_in", "varbit_out", "varbit_send"},
                               {"varbitcmp"}),
  };
  return kRows;
}

}  // namespace redquel::sql
