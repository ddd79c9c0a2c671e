#pragma once

#include <cstdint>

namespace redquel::sql {

/// PostgreSQL's interval: three fields that only comparison folds together (a month is 30 days, a day 24 hours).
struct Interval {
  std::int64_t microseconds = 0;
  std::int32_t days = 0;
  std::int32_t months = 0;
  /// Same fields, not equal duration; `compare` in datetime.h is SQL's equality.
  friend bool operator==(const Interval&, const Interval&) = default;
};

}  // namespace redquel::sql
