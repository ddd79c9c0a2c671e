#pragma once

#include <cstddef>
#include <optional>

#include "sql/column.h"

namespace redquel::executor {

/// The rows of an operator as several threads make them side by side. The operator outlives them.
class Morsels {
 public:
  virtual ~Morsels() = default;
  /// Returns the next rows for a worker, after less than a millisecond or so; an empty batch: none yet; nullopt: none are left. Each worker is in one
  /// thread at a time. Throws SqlError.
  virtual std::optional<sql::Batch> next(std::size_t worker) = 0;
};

}  // namespace redquel::executor
