#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "executor/execution_context.h"
#include "sql/error.h"

namespace redquel::executor {

/// What one operator may hold: work_mem. `what` names the operator in the error's detail: "hash join".
class MemoryLimit {
 public:
  MemoryLimit(const ExecutionContext& context, std::string_view what) : bytes_(context.work_mem), what_(what) {}

  std::size_t bytes() const { return bytes_; }
  /// Throws 53200.
  void check(std::size_t used) const {
    if (used <= bytes_) return;
    throw sql::SqlError("53200", "out of memory")
        .detail(fmt::format("A {} needs {} kB, more than work_mem ({} kB).", what_, used / 1024, bytes_ / 1024))
        .hint("Increase work_mem, or let the statement read fewer rows.");
  }

 private:
  std::size_t bytes_;
  std::string_view what_;
};

}  // namespace redquel::executor
