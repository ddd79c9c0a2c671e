#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "executor/storage/locks.h"

namespace redquel::executor {

enum class WriteStatus : std::uint8_t {
  kApplied,
  kConflict,  // a value that the statement had read is not the same any more: run the statement again
  kStale,     // a table's definition changed: load the catalog, plan and run again
  kLocked,    // another transaction holds a lock: wait and run again
  kLostLock,  // a lock of the committing transaction is not its own any more
  kFenced,    // it was decided that the commit does not take place
};

// A finding of a program of many rows. Changes are numbers of the unit's changes, parents and children those of its ForeignKeyDemands.

/// The key of a new row is there.
struct TakenKey {
  std::size_t change;
};
/// Another row owns a unique value.
struct TakenValue {
  std::size_t change, structure;
  std::string owner;
};
/// A row is not as it was read.
struct ChangedRow {
  std::size_t change;
};
/// A row that is not changed, but relied on, is not as it was read.
struct ChangedGuard {};
/// A foreign key refers to a row that is not there.
struct MissingParent {
  std::size_t parent;
};
/// The number of rows that still refer to a row that is deleted.
struct RemainingChildren {
  std::size_t children, count;
};
/// The number of rows that refer to a deleted row and are deleted, too; another call checks the others.
struct LeavingChildren {
  std::size_t children, count;
};
using WriteFinding =
    std::variant<TakenKey, TakenValue, ChangedRow, ChangedGuard, MissingParent, RemainingChildren, LeavingChildren>;

/// The answer of a program. WriteEncoding::decode makes it.
struct WriteAnswer {
  /// kApplied also if the call was only to verify, and if there are findings: then nothing was applied.
  WriteStatus status = WriteStatus::kApplied;
  LockConflict blocker = {};  // of kLocked
  std::vector<WriteFinding> findings = {};
};

}  // namespace redquel::executor
