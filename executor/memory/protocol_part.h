#pragma once

#include <cstdlib>
#include <string_view>

namespace redquel::executor {

/// Returns true if tests have this part of the protocol left out, to show that they notice: REDQUEL_MEMORY_WITHOUT names it. Builds without
/// assertions never leave anything out.
inline bool is_left_out([[maybe_unused]] std::string_view part) {
#ifdef NDEBUG
  return false;
#else
  static const char* const left_out = std::getenv("REDQUEL_MEMORY_WITHOUT");
  return left_out != nullptr && part == left_out;
#endif
}

}  // namespace redquel::executor
