#include "executor/redis/slot.h"

#include <array>

namespace redquel::executor {

namespace {

constexpr std::array<std::uint16_t, 256> crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = static_cast<std::uint32_t>(byte) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}
constexpr std::array<std::uint16_t, 256> kCrc = crc_table();

std::string_view hashed_part(std::string_view key) {
  const std::size_t begin = key.find('{');
  if (begin == std::string_view::npos) return key;
  const std::size_t end = key.find('}', begin + 1);
  return end == std::string_view::npos || end == begin + 1 ? key : key.substr(begin + 1, end - begin - 1);
}

}  // namespace

Slot slot_of(std::string_view key) {
  std::uint32_t crc = 0;
  for (const char character : hashed_part(key)) crc = ((crc << 8) & 0xFFFF) ^ kCrc[((crc >> 8) ^ static_cast<unsigned char>(character)) & 0xFF];
  return static_cast<Slot>(crc % kSlotCount);
}

}  // namespace redquel::executor
