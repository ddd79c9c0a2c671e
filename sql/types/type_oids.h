#pragma once

#include "sql/types/type.h"

namespace redquel::sql {

// Types that are made of others, and those that stand for any of them.

namespace oid {
inline constexpr Oid kAnyNonArray = 2776, kAnyEnum = 3500, kAnyRange = 3831, kAnyMultirange = 4537, kAnyCompatible = 5077,
                     kAnyCompatibleArray = 5078, kAnyCompatibleNonArray = 5079, kAnyCompatibleRange = 5080,
                     kAnyCompatibleMultirange = 4538;
inline constexpr Oid kInt2VectorArray = 1006, kRegprocArray = 1008, kOidVectorArray = 1013, kRegprocedureArray = 2207,
                     kRegclassArray = 2210, kRegtypeArray = 2211, kRecordArray = 2287, kRegnamespaceArray = 4090,
                     kRegroleArray = 4097;
inline constexpr Oid kInt4Range = 3904, kNumRange = 3906, kTsRange = 3908, kTstzRange = 3910, kDateRange = 3912, kInt8Range = 3926,
                     kInt4Multirange = 4451, kNumMultirange = 4532, kTsMultirange = 4533, kTstzMultirange = 4534,
                     kDateMultirange = 4535, kInt8Multirange = 4536;
}  // namespace oid

inline constexpr TypeCategory kCompositeCategory{'C'}, kEnumCategory{'E'}, kRangeCategory{'R'};

}  // namespace redquel::sql
