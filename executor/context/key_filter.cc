#include "executor/context/key_filter.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace redquel::executor {

namespace {

/// Bits for each key at most, and for few keys. Beyond that, bits are found by hash.
constexpr std::uint64_t kMostBitsPerKey = 64, kFewBits = 65'536;
/// Bits for each key that is found by hash: about one of so many other integers passes. More keys have no such filter.
constexpr std::uint64_t kHashedBitsPerKey = 16, kMostHashedKeys = std::uint64_t{1} << 22;

template <class Value, class Use>
void for_each_value(const sql::Column& keys, Use use) {
  const std::vector<Value>& values = keys.values<Value>();
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!keys.is_null(row)) use(static_cast<std::int64_t>(values[row]));
  }
}

/// Calls `use` with each value that is not NULL. False: they are no integers.
template <class Use>
bool for_each_integer(const sql::Column& keys, Use use) {
  switch (sql::storage_of(keys.type())) {
    case sql::Storage::kInt2: return for_each_value<std::int16_t>(keys, use), true;
    case sql::Storage::kInt4: return for_each_value<std::int32_t>(keys, use), true;
    case sql::Storage::kInt8: return for_each_value<std::int64_t>(keys, use), true;
    default: return false;
  }
}

}  // namespace

KeyFilterPtr KeyFilter::of(const sql::Column& keys) {
  if (keys.is_encoded() || keys.is_constant()) return nullptr;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max(), largest = std::numeric_limits<std::int64_t>::min();
  const bool are_integers = for_each_integer(keys, [&](std::int64_t value) {
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  });
  if (!are_integers || smallest > largest) return nullptr;
  const auto first = static_cast<std::uint64_t>(smallest);
  const std::uint64_t span = static_cast<std::uint64_t>(largest) - first;
  const bool is_hashed = span >= std::max<std::uint64_t>(kFewBits, kMostBitsPerKey * keys.size());
  if (is_hashed && keys.size() > kMostHashedKeys) return nullptr;
  const auto filter = std::make_shared<KeyFilter>();
  filter->smallest_ = smallest;
  filter->last_ = span;
  std::uint64_t last_bit = span;
  if (is_hashed) {
    const std::uint64_t bits = std::bit_ceil(std::max<std::uint64_t>(kFewBits, kHashedBitsPerKey * keys.size()));
    filter->hash_shift_ = 64 - static_cast<unsigned>(std::bit_width(bits - 1));
    last_bit = bits - 1;
  }
  filter->words_.resize(last_bit / 64 + 1);
  for_each_integer(keys, [&](std::int64_t value) {
    const std::uint64_t bit = filter->bit_of(static_cast<std::uint64_t>(value) - first);
    filter->words_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  });
  return filter;
}

}  // namespace redquel::executor
