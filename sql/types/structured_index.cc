#include "sql/types/structured_index.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "sql/types/index_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {
namespace {

constexpr char kEscape = '\1';  // twice: the end of an element's bytes; before kOrderedEnd: a byte 1 of its own

}  // namespace

std::string ordered_integer(std::int64_t value) { return fmt::format("{:016x}", static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63)); }

std::string ordered_float(double value) {
  if (std::isnan(value)) return std::string(16, 'g');
  const auto bits = std::bit_cast<std::int64_t>(value == 0 ? 0.0 : value);
  return ordered_integer(bits < 0 ? ~(bits ^ INT64_MIN) : bits);
}

std::string ordered_element(Type type, std::string_view text) {
  if (type.oid == oid::kBytea) return std::string(text);
  const Datum value = stored_value(type, text);
  switch (storage_of(type)) {
    case Storage::kInt2:
      return ordered_integer(std::get<std::int16_t>(value));
    case Storage::kInt4: {
      const std::int32_t number = std::get<std::int32_t>(value);
      return ordered_integer(operations_of(type.oid).is_unsigned ? std::int64_t{static_cast<std::uint32_t>(number)} : number);
    }
    case Storage::kInt8:
      return ordered_integer(std::get<std::int64_t>(value));
    case Storage::kFloat4:
      return ordered_float(std::get<float>(value));
    case Storage::kFloat8:
      return ordered_float(std::get<double>(value));
    default:
      return ordered_member_prefix(type, value);
  }
}

void append_escaped(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) {
    out += byte;
    if (byte == kEscape) out += kOrderedEnd;
  }
  out.append(2, kEscape);
}

std::string hexadecimal_bytes(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

}  // namespace redquel::sql
