#include "sql/types/server_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

bool parse_half(std::string_view text, std::uint32_t& half) {
  if (text.empty() || text.size() > 8) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), half, 16);
  return error == std::errc() && end == text.data() + text.size();
}

/// The number in front of `rest`, which goes on behind it; 0 where there is none, or one of more than 63 bits.
std::uint64_t take_number(std::string_view& rest) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return error == std::errc() && number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

bool take_character(std::string_view& rest, char character) {
  if (!rest.starts_with(character)) return false;
  rest.remove_prefix(1);
  return true;
}

bool read_snapshot(std::string_view rest, TransactionSnapshot& snapshot) {
  snapshot.begin = take_number(rest);
  if (!take_character(rest, ':')) return false;
  snapshot.end = take_number(rest);
  if (!take_character(rest, ':') || snapshot.begin == 0 || snapshot.end < snapshot.begin) return false;
  while (!rest.empty()) {
    const std::uint64_t transaction = take_number(rest), last = snapshot.running.empty() ? 0 : snapshot.running.back();
    if (transaction < std::max(snapshot.begin, last) || transaction >= snapshot.end) return false;
    if (transaction != last) snapshot.running.push_back(transaction);
    if (!take_character(rest, ',') && !rest.empty()) return false;
  }
  return true;
}

}  // namespace

bool TransactionSnapshot::sees(std::uint64_t transaction) const {
  return transaction < begin || (transaction < end && !std::ranges::binary_search(running, transaction));
}

TransactionSnapshot parse_snapshot(std::string_view text) {
  TransactionSnapshot snapshot;
  if (!read_snapshot(text, snapshot)) {
    throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type pg_snapshot: \"{}\"", text));
  }
  return snapshot;
}

std::string snapshot_text(const TransactionSnapshot& snapshot) {
  return fmt::format("{}:{}:{}", snapshot.begin, snapshot.end, fmt::join(snapshot.running, ","));
}

std::int32_t parse_xid(std::string_view text) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(std::strtoull(std::string(text).c_str(), nullptr, 0)));
}

std::int64_t parse_xid8(std::string_view text) { return from_unsigned_bits(std::strtoull(std::string(text).c_str(), nullptr, 0)); }

std::int64_t parse_log_position(std::string_view text) {
  const std::size_t slash = text.find('/');
  std::uint32_t upper = 0, lower = 0;
  if (slash == std::string_view::npos || !parse_half(text.substr(0, slash), upper) || !parse_half(text.substr(slash + 1), lower)) {
    throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type pg_lsn: \"{}\"", text));
  }
  return from_unsigned_bits(std::uint64_t{upper} << 32 | lower);
}

void append_log_position(std::int64_t position, std::string& out) {
  const std::uint64_t bits = to_unsigned_bits(position);
  out += fmt::format("{:X}/{:X}", bits >> 32, bits & 0xFFFFFFFF);
}

}  // namespace redquel::sql
