#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "executor/context/execution_context.h"
#include "sql/error.h"
#include "sql/memory_account.h"
#include "sql/value_errors.h"

namespace redquel::executor {

/// The memory of one operator: its bound, work_mem, and its part of the session's account. Operators that can go on in a temporary file do
/// so when it `is_exceeded`, which is earlier where the session or the process has no memory left. For what they cannot put there (long
/// states of aggregates, rows with one key, the inner side of a nested loop) there is a bound of its own, which a small work_mem does not
/// lower. `what` names the operator in the error's detail. Each of the three questions charges the account with `used`, in pieces of 64 kB;
/// a copy begins without a charge.
class MemoryLimit {
 public:
  MemoryLimit(const ExecutionContext& context, std::string_view what)
      : bytes_(context.work_mem), temporary_space_(context.temporary_space), account_(context.account.get()), what_(what) {
    begin_charge();
  }
  MemoryLimit(const MemoryLimit& other) : bytes_(other.bytes_), temporary_space_(other.temporary_space_), account_(other.account_), what_(other.what_) {
    begin_charge();
  }
  MemoryLimit(MemoryLimit&&) noexcept = default;
  MemoryLimit& operator=(MemoryLimit&&) noexcept = default;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  std::size_t bytes() const { return bytes_; }
  /// For the temporary files in which the operator goes on.
  const TemporarySpacePtr& temporary_space() const { return temporary_space_; }
  bool is_exceeded(std::size_t used) { return !held_.try_resize(pieces(used)) || used > bytes_; }
  /// Throws 53200 beyond work_mem.
  void check(std::size_t used) { charge(used, bytes_); }
  /// Throws 53200 beyond the bound for what cannot go to a file.
  void check_bound(std::size_t used) { charge(used, std::max(2 * bytes_, kLeastBound)); }
  /// The operator holds nothing any more.
  void release() { held_.resize(0); }
  /// From now on another operator charges what this one holds.
  void leave_account() { held_ = {}; }
  /// Takes over the other's charge, whose operator holds nothing then.
  void take_charge(MemoryLimit& other) {
    held_.resize(0);
    std::swap(held_, other.held_);
  }

 private:
  static constexpr std::size_t kLeastBound = std::size_t{256} << 20;
  static constexpr std::size_t kPiece = std::size_t{64} << 10;

  static std::size_t pieces(std::size_t used) { return used / kPiece * kPiece; }
  void begin_charge() {
    if (account_ != nullptr) held_ = sql::HeldBytes(*account_, 0, sql::MemoryPart::kStatements);
  }
  void charge(std::size_t used, std::size_t most) {
    if (used > most) {
      throw sql::out_of_memory()
          .detail(fmt::format("A {} needs {} kB, more than its limit of {} kB.", what_, used / 1024, most / 1024))
          .hint("Increase work_mem, or let the statement read fewer rows.");
    }
    held_.resize(pieces(used));
  }

  std::size_t bytes_;
  TemporarySpacePtr temporary_space_;
  sql::SessionMemory* account_;  // null: nothing is counted
  sql::HeldBytes held_;
  std::string_view what_;
};

}  // namespace redquel::executor
