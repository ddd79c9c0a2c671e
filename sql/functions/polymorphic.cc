#include "sql/functions/polymorphic.h"

#include <algorithm>

#include "sql/functions/candidates.h"
#include "sql/functions/resolve.h"
#include "sql/types/array_value.h"
#include "sql/types/range_value.h"

namespace redquel::sql {
namespace {

/// Sets what is not set yet; false where something else is.
bool unify(Oid& slot, Oid type) {
  if (slot == 0) slot = type;
  return slot == type;
}

Oid element_of_array(Oid type) { return is_array_type(type) ? type_info(type).element : 0; }
bool is_enum(Oid type) { return category_of(type) == kEnumCategory; }

/// The types that anycompatible's arguments must meet in.
std::optional<Oid> common_type_of(const std::vector<Oid>& given) {
  std::vector<Type> types;
  for (const Oid oid : given) types.push_back(Type{oid});
  const std::optional<Type> common = find_common_type(types);
  if (!common) return std::nullopt;
  const bool reachable = std::ranges::all_of(types, [&](Type type) { return can_coerce(type, *common, CastContext::kImplicit); });
  return reachable ? std::optional(common->oid) : std::nullopt;
}

/// Reads one signature's arguments one after the other.
class Matcher {
 public:
  std::optional<PolymorphicTypes> match(std::span<const Oid> declared, std::span<const Oid> given) {
    for (std::size_t i = 0; i < declared.size(); ++i) {
      if (given[i] == oid::kUnknown ? !note_unknown(declared[i]) : !take(declared[i], given[i])) return std::nullopt;
    }
    if (!conclude_element() || !conclude_compatible()) return std::nullopt;
    return types_;
  }

 private:
  bool note_unknown(Oid declared) {
    non_array_ |= declared == oid::kAnyNonArray;
    enum_ |= declared == oid::kAnyEnum;
    has_compatible_ |= declared == oid::kAnyCompatible || declared == oid::kAnyCompatibleArray || declared == oid::kAnyCompatibleNonArray;
    compatible_non_array_ |= declared == oid::kAnyCompatibleNonArray;
    return true;
  }

  bool take(Oid declared, Oid given) {
    note_unknown(declared);
    switch (declared) {
      case oid::kAnyElement:
      case oid::kAnyNonArray:
      case oid::kAnyEnum:
        return unify(types_.element, given);
      case oid::kAnyArray:
        return element_of_array(given) != 0 && unify(types_.array, given);
      case oid::kAnyRange:
        return is_range_type(given) && unify(types_.range, given);
      case oid::kAnyMultirange:
        return is_multirange_type(given) && unify(types_.multirange, given);
      case oid::kAnyCompatible:
      case oid::kAnyCompatibleNonArray:
        compatible_.push_back(given);
        return true;
      case oid::kAnyCompatibleArray:
        compatible_.push_back(element_of_array(given));
        return compatible_.back() != 0;
      case oid::kAnyCompatibleRange:
        return is_range_type(given) && unify(types_.compatible_range, given);
      case oid::kAnyCompatibleMultirange:
        return is_multirange_type(given) && unify(types_.compatible_multirange, given);
      default:
        return true;
    }
  }

  /// A range says its multirange and its element, and the other way round.
  bool conclude_range() {
    if (types_.multirange != 0 && !unify(types_.range, range_in(types_.multirange))) return false;
    if (types_.range == 0) return true;
    types_.multirange = multirange_over(types_.range);
    return unify(types_.element, range_subtype(types_.range).oid);
  }

  bool conclude_element() {
    if (!conclude_range()) return false;
    if (types_.array != 0 && !unify(types_.element, element_of_array(types_.array))) return false;
    if (types_.element == 0) return !enum_;
    if (types_.array == 0) types_.array = array_type_over(types_.element);
    if (non_array_ && is_array_type(types_.element)) return false;
    return !enum_ || is_enum(types_.element);
  }

  /// A range's subtype is one of the types to meet in, and must be the one that they meet in: no range is made another.
  bool conclude_compatible_range() {
    const Oid multirange = types_.compatible_multirange;
    if (multirange != 0 && !unify(types_.compatible_range, range_in(multirange))) return false;
    if (types_.compatible_range == 0) return true;
    types_.compatible_multirange = multirange_over(types_.compatible_range);
    compatible_.push_back(range_subtype(types_.compatible_range).oid);
    return true;
  }

  bool conclude_compatible() {
    if (!conclude_compatible_range()) return false;
    if (compatible_.empty()) {
      if (has_compatible_) types_.compatible = oid::kText;
      return true;
    }
    const std::optional<Oid> common = common_type_of(compatible_);
    if (!common) return false;
    types_.compatible = *common;
    if (types_.compatible_range != 0 && range_subtype(types_.compatible_range).oid != *common) return false;
    return !compatible_non_array_ || !is_array_type(*common);
  }

  PolymorphicTypes types_;
  std::vector<Oid> compatible_;
  bool non_array_ = false, enum_ = false, has_compatible_ = false, compatible_non_array_ = false;
};

}  // namespace

bool is_polymorphic(Oid type) {
  switch (type) {
    case oid::kAnyElement:
    case oid::kAnyArray:
    case oid::kAnyNonArray:
    case oid::kAnyEnum:
    case oid::kAnyRange:
    case oid::kAnyMultirange:
    case oid::kAnyCompatible:
    case oid::kAnyCompatibleArray:
    case oid::kAnyCompatibleNonArray:
    case oid::kAnyCompatibleRange:
    case oid::kAnyCompatibleMultirange:
      return true;
    default:
      return false;
  }
}

Oid PolymorphicTypes::actual(Oid declared) const {
  switch (declared) {
    case oid::kAnyElement:
    case oid::kAnyNonArray:
    case oid::kAnyEnum:
      return element;
    case oid::kAnyArray:
      return array;
    case oid::kAnyRange:
      return range;
    case oid::kAnyMultirange:
      return multirange;
    case oid::kAnyCompatible:
    case oid::kAnyCompatibleNonArray:
      return compatible;
    case oid::kAnyCompatibleArray:
      return compatible == 0 ? 0 : array_type_over(compatible);
    case oid::kAnyCompatibleRange:
      return compatible_range;
    case oid::kAnyCompatibleMultirange:
      return compatible_multirange;
    default:
      return declared;
  }
}

std::optional<PolymorphicTypes> match_polymorphic(std::span<const Oid> declared, std::span<const Oid> given) {
  return Matcher().match(declared, given);
}

Oid array_type_over(Oid element) {
  const TypeInfo* info = find_type(element);
  return info == nullptr ? 0 : info->array;
}

}  // namespace redquel::sql
