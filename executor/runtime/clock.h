#pragma once

#include <chrono>
#include <cstdint>

namespace redquel::executor {

/// Microseconds since 2000-01-01, as timestamps count.
inline std::int64_t now_microseconds() {
  // 2000-01-01 in Unix time
  constexpr std::int64_t kEpoch = 946684800;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count() - kEpoch * 1'000'000;
}

}  // namespace redquel::executor
