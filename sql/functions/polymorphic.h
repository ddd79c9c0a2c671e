#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sql/types/type_oids.h"

namespace redquel::sql {

/// Returns true for a pseudo-type that takes the type of a call's arguments: anyelement, anyarray, anycompatible… (manual 38.2.5).
bool is_polymorphic(Oid type);

/// The types of the pseudo-types in one call; 0 if only untyped literals or no arguments determine it.
struct PolymorphicTypes {
  Oid element = 0, array = 0, range = 0, multirange = 0;           // anyelement, anynonarray, anyenum; anyarray …
  Oid compatible = 0, compatible_range = 0, compatible_multirange = 0;

  /// The type that stands for `declared`, itself where it is not polymorphic; 0 where nothing says it.
  Oid actual(Oid declared) const;
};

/// nullopt where the arguments contradict each other. Both lists have the same length.
std::optional<PolymorphicTypes> match_polymorphic(std::span<const Oid> declared, std::span<const Oid> given);

/// The array type over a type, 0 where there is none.
Oid array_type_over(Oid element);

}  // namespace redquel::sql
