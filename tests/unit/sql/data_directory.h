#pragma once

#include <filesystem>

namespace redquel::sql {

/// tests/unit/sql/data, from wherever the test is run. Empty: not found.
inline std::filesystem::path data_directory() {
  for (std::filesystem::path start :
       {std::filesystem::current_path(), std::filesystem::read_symlink("/proc/self/exe")}) {
    for (;; start = start.parent_path()) {
      if (exists(start / "tests/unit/sql/data")) return start / "tests/unit/sql/data";
      if (start == start.parent_path()) break;
    }
  }
  return {};
}

}  // namespace redquel::sql
