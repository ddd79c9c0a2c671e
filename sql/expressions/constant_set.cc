#include "sql/expressions/constant_set.h"

#include <bit>

#include "sql/interrupts.h"
#include "sql/types/compare.h"

namespace redquel::sql {

ConstantSet::ConstantSet(Type type, std::span<const Datum> values)
    : values_(type), slots_(std::bit_ceil(values.size() * 2 + 1), kFree) {
  const std::size_t mask = slots_.size() - 1;
  for (const Datum& value : values) {
    note_analysis();
    if (is_null(value)) {
      has_null_ = true;
      continue;
    }
    const auto row = static_cast<std::uint32_t>(values_.size());
    values_.append_datum(value);
    hashes_.push_back(hash(values_, row));
    std::size_t slot = hashes_.back() & mask;
    while (slots_[slot] != kFree) slot = (slot + 1) & mask;
    slots_[slot] = row;
  }
}

bool ConstantSet::contains(const Column& column, std::size_t row) const {
  const std::uint64_t code = hash(column, row);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = code & mask; slots_[slot] != kFree; slot = (slot + 1) & mask) {
    const std::uint32_t candidate = slots_[slot];
    if (hashes_[candidate] == code && compare(column, row, values_, candidate) == 0) return true;
  }
  return false;
}

}  // namespace redquel::sql
