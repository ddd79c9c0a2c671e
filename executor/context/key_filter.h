#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sql/column.h"

namespace redquel::executor {

class KeyFilter;
using KeyFilterPtr = std::shared_ptr<const KeyFilter>;

/// The integers that some keys have: the other input of a join leaves out rows with other ones. A bit for each integer between the smallest
/// and the largest key; a bit for each hash where these are too far from each other, so that a few other integers pass as well.
class KeyFilter {
 public:
  /// Returns the filter of a decoded column. Null: the column has no integers, or millions that are far from each other.
  static KeyFilterPtr of(const sql::Column& keys);

  std::int64_t smallest() const { return smallest_; }
  std::int64_t largest() const { return static_cast<std::int64_t>(static_cast<std::uint64_t>(smallest_) + last_); }
  /// Returns true if some key is `smallest() + offset`, an unsigned number that may be beyond all keys. False: none is.
  bool may_contain_offset(std::uint64_t offset) const {
    if (offset > last_) return false;
    const std::uint64_t bit = bit_of(offset);
    return (words_[bit / 64] >> (bit % 64) & 1) != 0;
  }

 private:
  std::uint64_t bit_of(std::uint64_t offset) const { return hash_shift_ == 0 ? offset : offset * 0x9E3779B97F4A7C15 >> hash_shift_; }

  std::int64_t smallest_ = 0;
  std::uint64_t last_ = 0;  // offset
  unsigned hash_shift_ = 0;  // leaves as many bits of a hash as there are; 0: bits are offsets
  std::vector<std::uint64_t> words_;
};

}  // namespace redquel::executor
