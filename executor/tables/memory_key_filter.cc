#include "executor/tables/memory_key_filter.h"

#include <cstring>

namespace redquel::executor {

namespace {

/// After so many rows a filter that leaves out less than a tenth of them is not worth its time.
constexpr std::size_t kTrial = 65'536;

/// `first`: the packed column's smallest value as an offset from the smallest key; it may be below it, as unsigned numbers wrap around.
template <class Stored>
void keep_keys(const std::vector<std::uint8_t>& bytes, std::uint64_t first, const KeyFilter& keys, std::vector<std::uint32_t>& rows) {
  const std::uint8_t* const values = bytes.data();
  std::size_t kept = 0;
  for (const std::uint32_t row : rows) {
    Stored value;
    std::memcpy(&value, values + std::size_t{row} * sizeof value, sizeof value);
    rows[kept] = row;
    kept += keys.may_contain_offset(first + value) ? 1 : 0;
  }
  rows.resize(kept);
}

}  // namespace

bool ScanKeyFilter::may_match(const Chunk& chunk) const {
  const auto values = chunk.columns.at(number_)->range();
  return !values || (keys_->smallest() <= values->second && values->first <= keys_->largest());
}

void ScanKeyFilter::apply(const Chunk& chunk, std::vector<std::uint32_t>& rows) {
  const PackedColumn& column = *chunk.columns.at(number_);
  const bool rests = looked_at_ >= kTrial && kept_ * 10 > looked_at_ * 9;
  if (rests || !column.range()) return;
  looked_at_ += rows.size();
  const auto& packed = std::get<PackedColumn::Integers>(column.values());
  const std::uint64_t first = static_cast<std::uint64_t>(packed.smallest) - static_cast<std::uint64_t>(keys_->smallest());
  switch (packed.width) {
    case 1: keep_keys<std::uint8_t>(packed.bytes, first, *keys_, rows); break;
    case 2: keep_keys<std::uint16_t>(packed.bytes, first, *keys_, rows); break;
    case 4: keep_keys<std::uint32_t>(packed.bytes, first, *keys_, rows); break;
    default: keep_keys<std::uint64_t>(packed.bytes, first, *keys_, rows); break;
  }
  kept_ += rows.size();
}

}  // namespace redquel::executor
