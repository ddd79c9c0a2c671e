// Casts among numbers, booleans and oids (pg_cast).

#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/conversions.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

constexpr auto kImplicit = CastContext::kImplicit;
constexpr auto kAssignment = CastContext::kAssignment;
constexpr auto kExplicit = CastContext::kExplicit;

CastFunction relabel(Type source, Type target, CastContext context) {
  return {source.oid, target.oid, context, nullptr, Volatility::kImmutable};
}

/// The casts of one source type to all other number types; integers widen implicitly, everything else narrows by
/// assignment.
template <class T>
void add_number(std::vector<CastFunction>& table, Type source) {
  const auto is = [&](Type type) { return source == type; };
  const bool integer = is(kInt2) || is(kInt4) || is(kInt8);
  if constexpr (!std::is_same_v<T, std::int16_t>) {
    table.push_back(cast<[](const T& value) { return int2_from(value); }>(source, kInt2, kAssignment));
  }
  if constexpr (!std::is_same_v<T, std::int32_t>) {
    table.push_back(
        cast<[](const T& value) { return int4_from(value); }>(source, kInt4, is(kInt2) ? kImplicit : kAssignment));
  }
  if constexpr (!std::is_same_v<T, std::int64_t>) {
    table.push_back(
        cast<[](const T& value) { return int8_from(value); }>(source, kInt8, integer ? kImplicit : kAssignment));
  }
  if constexpr (!std::is_same_v<T, float>) {
    table.push_back(cast<[](const T& value) { return float4_from(value); }>(source, kFloat4,
                                                                            is(kFloat8) ? kAssignment : kImplicit));
  }
  if constexpr (!std::is_same_v<T, double>) {
    table.push_back(cast<[](const T& value) { return float8_from(value); }>(source, kFloat8, kImplicit));
  }
  if constexpr (!std::is_same_v<T, Numeric>) {
    table.push_back(
        cast<[](const T& value) { return numeric_from(value); }>(source, kNumeric, integer ? kImplicit : kAssignment));
  }
}

/// oid and the types that are oids with a name; int4's bits are theirs.
void add_oids(std::vector<CastFunction>& table) {
  for (Type type : {kOidType, kRegproc, kRegclass, kRegtype, Type{oid::kRegprocedure}, Type{oid::kRegnamespace},
                    Type{oid::kRegrole}, Type{oid::kRegoper}, Type{oid::kRegoperator}, Type{oid::kRegcollation}, kRegconfig, kRegdictionary}) {
    table.push_back(cast<[](std::int64_t value) { return oid_from(value); }>(kInt8, type, kImplicit));
    table.push_back(cast<[](std::int16_t value) { return std::int32_t{value}; }>(kInt2, type, kImplicit));
    table.push_back(relabel(kInt4, type, kImplicit));
    table.push_back(cast<int8_from_oid>(type, kInt8, kAssignment));
    table.push_back(relabel(type, kInt4, kAssignment));
    if (type == kOidType) continue;
    table.push_back(relabel(kOidType, type, kImplicit));
    table.push_back(relabel(type, kOidType, kImplicit));
  }
  constexpr Type kRegprocedure{oid::kRegprocedure}, kRegoper{oid::kRegoper}, kRegoperator{oid::kRegoperator};
  const std::pair<Type, Type> kSameObjects[] = {{kRegproc, kRegprocedure}, {kRegoper, kRegoperator}};
  for (const auto& [plain, with_types] : kSameObjects) {
    table.push_back(relabel(plain, with_types, kImplicit));
    table.push_back(relabel(with_types, plain, kImplicit));
  }
}

}  // namespace

std::vector<CastFunction> number_casts() {
  std::vector<CastFunction> table;
  add_number<std::int16_t>(table, kInt2);
  add_number<std::int32_t>(table, kInt4);
  add_number<std::int64_t>(table, kInt8);
  add_number<float>(table, kFloat4);
  add_number<double>(table, kFloat8);
  add_number<Numeric>(table, kNumeric);
  table.push_back(cast<[](bool value) { return int4_from(value); }>(kBool, kInt4, kExplicit));
  table.push_back(cast<[](std::int32_t value) { return bool_from(value); }>(kInt4, kBool, kExplicit));
  add_oids(table);
  return table;
}

}  // namespace redquel::sql
