#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "executor/context/execution_context.h"
#include "sql/error.h"
#include "sql/value_errors.h"

namespace redquel::executor {

/// What one operator may hold: work_mem. Operators that can go on in a temporary file do so when it `is_exceeded`. For
/// what they cannot put there (long states of aggregates, rows with one key, the inner side of a nested loop) there is
/// a bound of its own, which a small work_mem does not lower. `what` names the operator in the error's detail.
class MemoryLimit {
 public:
  MemoryLimit(const ExecutionContext& context, std::string_view what)
      : bytes_(context.work_mem), temporary_space_(context.temporary_space), what_(what) {}

  std::size_t bytes() const { return bytes_; }
  /// For the temporary files in which the operator goes on.
  const TemporarySpacePtr& temporary_space() const { return temporary_space_; }
  bool is_exceeded(std::size_t used) const { return used > bytes_; }
  /// Throws 53200 beyond work_mem.
  void check(std::size_t used) const { refuse_beyond(bytes_, used); }
  /// Throws 53200 beyond the bound for what cannot go to a file.
  void check_bound(std::size_t used) const { refuse_beyond(std::max(2 * bytes_, kLeastBound), used); }

 private:
  static constexpr std::size_t kLeastBound = std::size_t{256} << 20;

  void refuse_beyond(std::size_t most, std::size_t used) const {
    if (used <= most) return;
    throw sql::out_of_memory()
        .detail(fmt::format("A {} needs {} kB, more than its limit of {} kB.", what_, used / 1024, most / 1024))
        .hint("Increase work_mem, or let the statement read fewer rows.");
  }

  std::size_t bytes_;
  TemporarySpacePtr temporary_space_;
  std::string_view what_;
};

}  // namespace redquel::executor
