#pragma once

#include "sql/types/type.h"

namespace redquel::sql {

// Oids of the types that type.h leaves out: types with few users, pseudo-types, arrays, ranges.

namespace oid {
inline constexpr Oid kTid = 27, kTidArray = 1010, kCidr = 650, kMacaddr8 = 774, kMoney = 790, kMacaddr = 829, kInet = 869, kTimetz = 1266, kBit = 1560,
                     kVarbit = 1562, kCstring = 2275, kPgLsn = 3220, kJsonb = 3802, kJsonpath = 4072;
inline constexpr Oid kTsvector = 3614, kTsvectorArray = 3643, kTsquery = 3615, kTsqueryArray = 3645, kRegconfig = 3734, kRegconfigArray = 3735,
                     kRegdictionary = 3769, kRegdictionaryArray = 3770;
inline constexpr Oid kRefcursor = 1790, kRefcursorArray = 2201, kCstringArray = 1263;
// Types of extensions: they have a name while their extension is created.
inline constexpr Oid kCitext = 6190, kCitextArray = 6191;
// Types of the catalogs' columns.
inline constexpr Oid kNodeTree = 194, kAclitem = 1033, kAclitemArray = 1034, kRegoper = 2203, kRegoperator = 2204, kRegcollation = 4191;
inline constexpr Oid kJsonArray = 199, kCidrArray = 651, kMacaddr8Array = 775, kMoneyArray = 791, kMacaddrArray = 1040,
                     kInetArray = 1041, kTimetzArray = 1270, kBitArray = 1561, kVarbitArray = 1563, kPgLsnArray = 3221,
                     kJsonbArray = 3807, kJsonpathArray = 4073;
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

/// Returns true for a type of an extension, and for the array over it.
constexpr bool is_extension_type(Oid type) { return type >= oid::kCitext && type <= oid::kCitextArray; }

/// pg_type.typcategory of network addresses and of bit strings.
inline constexpr TypeCategory kNetworkCategory{'I'}, kBitStringCategory{'V'};
inline constexpr TypeCategory kCompositeCategory{'C'}, kEnumCategory{'E'}, kRangeCategory{'R'};

inline constexpr Type kJson{oid::kJson}, kJsonb{oid::kJsonb}, kJsonpath{oid::kJsonpath}, kTextArray{oid::kTextArray},
    kTimetz{oid::kTimetz}, kBit{oid::kBit}, kVarbit{oid::kVarbit}, kInet{oid::kInet}, kCidr{oid::kCidr},
    kMacaddr{oid::kMacaddr}, kMacaddr8{oid::kMacaddr8}, kMoney{oid::kMoney}, kTsvector{oid::kTsvector}, kTsquery{oid::kTsquery}, kRegconfig{oid::kRegconfig}, kRegdictionary{oid::kRegdictionary}, kPgLsn{oid::kPgLsn}, kCstring{oid::kCstring}, kTid{oid::kTid}, kCitext{oid::kCitext};

}  // namespace redquel::sql
