#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sql/column.h"

namespace redquel::executor {

class KeyFilter;
using KeyFilterPtr = std::shared_ptr<const KeyFilter>;

/// The integers that some keys have, a bit each: the other input of a join leaves out rows with other ones.
class KeyFilter {
 public:
  /// Returns the filter of a decoded column. Null: the column has no integers, or they are too far from each other.
  static KeyFilterPtr of(const sql::Column& keys);

  std::int64_t smallest() const { return smallest_; }
  std::int64_t largest() const { return static_cast<std::int64_t>(static_cast<std::uint64_t>(smallest_) + last_); }
  /// Returns whether some key is `smallest() + offset`, an unsigned number that may be beyond all keys.
  bool contains_offset(std::uint64_t offset) const { return offset <= last_ && (words_[offset / 64] >> (offset % 64) & 1) != 0; }

 private:
  std::int64_t smallest_ = 0;
  std::uint64_t last_ = 0;  // offset
  std::vector<std::uint64_t> words_;
};

}  // namespace redquel::executor
