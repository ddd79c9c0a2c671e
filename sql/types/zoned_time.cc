#include "sql/types/zoned_time.h"

#include <fmt/format.h>

#include <cstdlib>

namespace redquel::sql {
namespace {

constexpr std::uint64_t kTimeBias = std::uint64_t{1} << 63;
constexpr std::uint32_t kZoneBias = std::uint32_t{1} << 31;

template <class Unsigned>
void put_big_endian(Unsigned value, std::string& out) {
  for (std::size_t i = sizeof value; i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
}
template <class Unsigned>
Unsigned take(std::string_view bytes) {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value = static_cast<Unsigned>(value << 8 | static_cast<unsigned char>(bytes[i]));
  return value;
}

}  // namespace

std::int64_t time_of_day(std::int64_t time) {
  const std::int64_t rest = time % kMicrosecondsPerDay;
  return rest < 0 ? rest + kMicrosecondsPerDay : rest;
}

ZonedTime ZonedTime::in_zone(std::int32_t east) const {
  return {time_of_day(utc() + east * kMicrosecondsPerSecond), east};
}

ZonedTime ZonedTime::decode(std::string_view bytes) {
  ZonedTime value;
  value.offset = -static_cast<std::int32_t>(take<std::uint32_t>(bytes.substr(8)) - kZoneBias);
  value.time = static_cast<std::int64_t>(take<std::uint64_t>(bytes) - kTimeBias) + value.offset * kMicrosecondsPerSecond;
  return value;
}

std::string ZonedTime::encode() const {
  std::string bytes;
  put_big_endian(static_cast<std::uint64_t>(utc()) + kTimeBias, bytes);
  put_big_endian(static_cast<std::uint32_t>(-offset) + kZoneBias, bytes);
  return bytes;
}

void append_zoned_time(const ZonedTime& value, std::string& out) {
  append_time(value.time, out);
  const std::int32_t seconds = std::abs(value.offset);
  out += fmt::format("{}{:02}", value.offset < 0 ? '-' : '+', seconds / 3600);
  if (seconds % 3600 != 0) out += fmt::format(":{:02}", seconds / 60 % 60);
  if (seconds % 60 != 0) out += fmt::format(":{:02}", seconds % 60);
}

}  // namespace redquel::sql
