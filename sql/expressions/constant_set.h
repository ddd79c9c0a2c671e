#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sql/column.h"
#include "sql/datum.h"

namespace redquel::sql {

/// The constants of a long IN list as a hash table: equality is that of the type's operator =.
class ConstantSet {
 public:
  ConstantSet(Type type, std::span<const Datum> values);

  bool has_null() const { return has_null_; }
  /// Returns true if the list has the value of a row that is not NULL. The column has the set's type and is decoded.
  bool contains(const Column& column, std::size_t row) const;

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;

  Column values_;
  std::vector<std::uint32_t> slots_;  // open addressing; rows of values_
  std::vector<std::uint64_t> hashes_;
  bool has_null_ = false;
};

}  // namespace redquel::sql
