#pragma once

#include <string>

namespace redquel::executor {

/// Rows that one MULTI reads for a copy: a few milliseconds of Redis.
inline constexpr std::size_t kPieceRows = 1000;

inline constexpr const char* kSwappedDatabase = "Redis shows another logical database (SWAPDB)";

/// Ends a fill or a re-read of a copy for this reason.
struct NotKept {
  std::string reason;
};

}  // namespace redquel::executor
