#include "executor/runtime/random_version.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace redquel::executor {

std::string random_version() {
  std::random_device device;
  const std::uint64_t value = (std::uint64_t{device()} << 32) | device();
  return fmt::format("{:016x}", value);
}

}  // namespace redquel::executor
