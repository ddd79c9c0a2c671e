#include "sql/catalog/slot_tags.h"

#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "sql/catalog/buckets.h"

namespace redquel::sql {

namespace {

/// Returns the number of each slot: some 200,000 numbers are tried, which takes milliseconds.
std::vector<std::uint32_t> make_numbers() {
  std::vector<std::optional<std::uint32_t>> found(kSlotCount);
  int missing = kSlotCount;
  for (std::uint32_t number = 0; missing > 0; ++number) {
    std::optional<std::uint32_t>& place = found[static_cast<std::size_t>(slot_of(std::to_string(number)))];
    if (place) continue;
    place = number;
    --missing;
  }
  std::vector<std::uint32_t> numbers;
  for (const std::optional<std::uint32_t>& number : found) numbers.push_back(*number);
  return numbers;
}

}  // namespace

std::string slot_tag(int slot) {
  assert(slot >= 0 && slot < kSlotCount);
  static const std::vector<std::uint32_t> kNumbers = make_numbers();
  return "{" + std::to_string(kNumbers[static_cast<std::size_t>(slot)]) + "}";
}

}  // namespace redquel::sql
