#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace redquel::executor {

/// The version of a logical database's definitions that this thread's shared connection was last answered with; empty: none yet, or Redis has none. A statement
/// that only writes hears by it of changes that concern no table (roles).
inline std::string& seen_version(int database) {
  thread_local std::vector<std::string> versions;
  const auto index = static_cast<std::size_t>(database);
  if (versions.size() <= index) versions.resize(index + 1);
  return versions[index];
}

}  // namespace redquel::executor
