#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sql/types/type.h"

namespace redquel::sql {

/// Pseudo-types that stand for whatever the call's arguments are.
inline constexpr Oid kAnyNonArrayOid = 2776, kAnyCompatibleOid = 5077;
bool is_polymorphic(Oid type);

/// Which of several signatures a call means, or that none or more than one fits. Positions in the given list.
struct Choice {
  enum class Outcome { kFound, kNone, kAmbiguous } outcome;
  std::size_t index = 0;
};
/// `signatures` all have as many types as `arguments`: steps 2 to 4 of the manual's 10.2 and 10.3.
Choice choose_candidate(std::span<const std::vector<Oid>> signatures, std::span<const Oid> arguments);

/// What the polymorphic types of a signature stand for; unset where it has none or only unknown arguments.
std::optional<Type> polymorphic_type(std::span<const Oid> signature, std::span<const Type> arguments);

TypeCategory category_of(Oid type);

}  // namespace redquel::sql
