#pragma once

#include <cstdint>
#include <vector>

#include "executor/context/key_filter.h"
#include "executor/memory/table_version.h"

namespace redquel::executor {

/// The keys of a join's other input, compared with the packed values of a column. Rests once most rows pass.
class ScanKeyFilter {
 public:
  ScanKeyFilter(std::int16_t number, KeyFilterPtr keys) : number_(number), keys_(std::move(keys)) {}

  /// Returns false if no row of the chunk has one of the keys.
  bool may_match(const Chunk& chunk) const;
  /// Leaves rows of the chunk that may have one of the keys.
  void apply(const Chunk& chunk, std::vector<std::uint32_t>& rows);

 private:
  std::int16_t number_;
  KeyFilterPtr keys_;
  std::size_t looked_at_ = 0, kept_ = 0;
};

}  // namespace redquel::executor
