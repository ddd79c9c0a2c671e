#include "sql/types/server_numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "sql/error.h"

namespace redquel::sql {
namespace {

bool parse_half(std::string_view text, std::uint32_t& half) {
  if (text.empty() || text.size() > 8) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), half, 16);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::int32_t parse_xid(std::string_view text) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(std::strtoull(std::string(text).c_str(), nullptr, 0)));
}

std::int64_t parse_xid8(std::string_view text) { return from_unsigned_bits(std::strtoull(std::string(text).c_str(), nullptr, 0)); }

std::int64_t parse_log_position(std::string_view text) {
  const std::size_t slash = text.find('/');
  std::uint32_t upper = 0, lower = 0;
  if (slash == std::string_view::npos || !parse_half(text.substr(0, slash), upper) || !parse_half(text.substr(slash + 1), lower)) {
    throw SqlError("22P02", fmt::format("invalid input syntax for type pg_lsn: \"{}\"", text));
  }
  return from_unsigned_bits(std::uint64_t{upper} << 32 | lower);
}

void append_log_position(std::int64_t position, std::string& out) {
  const std::uint64_t bits = to_unsigned_bits(position);
  out += fmt::format("{:X}/{:X}", bits >> 32, bits & 0xFFFFFFFF);
}

}  // namespace redquel::sql
