#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sql/types/type.h"

namespace redquel::sql {

/// The signature that a call matches, as a position in the given list, or that none or more than one matches.
struct Choice {
  enum class Outcome { kFound, kNone, kAmbiguous } outcome;
  std::size_t index = 0;
};
/// `signatures` all have as many types as `arguments`: steps 2 to 4 of the manual's 10.2 and 10.3.
Choice choose_candidate(std::span<const std::vector<Oid>> signatures, std::span<const Oid> arguments);

TypeCategory category_of(Oid type);

/// resolve_common_type(); nullopt where the types cannot be matched.
std::optional<Type> find_common_type(std::span<const Type> types);

}  // namespace redquel::sql
