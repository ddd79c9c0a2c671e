#pragma once

#include "sql/types/numeric.h"

namespace redquel::sql {

/// Adds numerics one after another, with the digits that a chain of + gives: values of one scale that fit 64 bits are
/// added as integers.
class NumericSum {
 public:
  void add(const Numeric& value) {
    const std::optional<std::int64_t> unscaled = value.small_unscaled();
    if (unscaled && value.scale() == scale_) {
      small_ += *unscaled;
      return;
    }
    rest_ = total();
    scale_ = value.scale();
    small_ = unscaled.value_or(0);
    if (!unscaled) rest_ = rest_ + value;
  }
  Numeric total() const { return rest_ + Numeric::from_int128(small_, scale_); }

 private:
  Int128 small_ = 0;
  std::int32_t scale_ = 0;
  Numeric rest_;
};

}  // namespace redquel::sql
