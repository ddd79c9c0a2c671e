#include "sql/catalog/buckets.h"

#include <array>
#include <cassert>

namespace redquel::sql {

namespace {

constexpr int kSlotsOfBucket = kSlotCount / kBucketLimit;

/// CRC16-CCITT (XMODEM) of one byte, as the cluster specification of Redis has it.
constexpr std::array<std::uint16_t, 256> crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    auto crc = static_cast<std::uint16_t>(byte << 8);
    for (int bit = 0; bit < 8; ++bit) crc = static_cast<std::uint16_t>((crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0));
    table[byte] = crc;
  }
  return table;
}

std::uint16_t crc16(std::string_view bytes) {
  static constexpr std::array<std::uint16_t, 256> kTable = crc_table();
  std::uint16_t crc = 0;
  for (const char byte : bytes) {
    const auto index = static_cast<std::uint8_t>((crc >> 8) ^ static_cast<std::uint8_t>(byte));
    crc = static_cast<std::uint16_t>((crc << 8) ^ kTable[index]);
  }
  return crc;
}

std::array<std::string, kBucketLimit> make_tags() {
  std::array<std::string, kBucketLimit> tags;
  int missing = kBucketLimit;
  for (int number = 0; missing > 0; ++number) {
    const std::string text = std::to_string(number);
    std::string& tag = tags[static_cast<std::size_t>((crc16(text) % kSlotCount) / kSlotsOfBucket)];
    if (!tag.empty()) continue;
    tag = "{" + text + "}";
    --missing;
  }
  return tags;
}

bool is_cluster = false;

}  // namespace

int slot_of(std::string_view key) {
  if (const std::size_t open = key.find('{'); open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return crc16(key) % kSlotCount;
}

std::string_view bucket_tag(int bucket) {
  assert(bucket >= 0 && bucket < kBucketLimit);
  static const std::array<std::string, kBucketLimit> kTags = make_tags();
  return kTags[static_cast<std::size_t>(bucket)];
}

std::string_view tag_of(std::string_view key) {
  if (!key.starts_with('{')) return {};
  return key.substr(0, key.find('}') + 1);
}

std::string_view without_tag(std::string_view key) { return key.substr(tag_of(key).size()); }

int bucket_of(std::string_view key) { return slot_of(key) / kSlotsOfBucket; }

std::size_t part_number(std::string_view canonical_text, std::size_t parts) { return crc16(canonical_text) % parts; }

void use_cluster() { is_cluster = true; }

bool uses_cluster() { return is_cluster; }

std::string_view home_tag() { return is_cluster ? bucket_tag(kHomeBucket) : std::string_view(); }

std::string home_key(std::string_view key) { return std::string(home_tag()).append(key); }

}  // namespace redquel::sql
