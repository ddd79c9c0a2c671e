#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace redquel::executor {

/// Bytes in temporary files of one session's queries, and their limit.
struct TemporarySpace {
  std::uint64_t used = 0;
  std::optional<std::uint64_t> limit;  // temp_file_limit; none: any number
};
/// Null where nothing is counted.
using TemporarySpacePtr = std::shared_ptr<TemporarySpace>;

}  // namespace redquel::executor
