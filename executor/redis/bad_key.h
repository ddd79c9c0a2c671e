#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "executor/redis/reply.h"
#include "sql/error.h"

namespace redquel::executor {

/// A command or script has met a key that does not hold what it needs: a value of another Redis type (XX001), or no
/// number. Which key it is the reply does not say (storage/bad_keys.h finds it).
class BadKeyError : public sql::SqlError {
 public:
  explicit BadKeyError(sql::SqlError error) : SqlError(std::move(error)) {}
};

inline bool is_wrong_type(const Reply& reply) { return reply.is_error() && reply.text.starts_with("WRONGTYPE"); }

/// Returns true if the error is that of a key which holds something else than the command needs. Scripts put words of
/// their own in front.
inline bool has_bad_key(std::string_view error) {
  constexpr std::array<std::string_view, 5> kErrors = {"WRONGTYPE", "value is not an integer",
                                                       "value is not a valid float", "value is not a float",
                                                       "increment or decrement would overflow"};
  return std::ranges::any_of(kErrors,
                             [&](std::string_view known) { return error.find(known) != std::string_view::npos; });
}

}  // namespace redquel::executor
