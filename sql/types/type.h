#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace redquel::sql {

/// PostgreSQL's object identifier. Built-in types have PostgreSQL's own numbers; user-made ones start at kFirstUserOid.
using Oid = std::uint32_t;

inline constexpr Oid kFirstUserOid = 16384;

namespace oid {
inline constexpr Oid kBool = 16, kBytea = 17, kChar = 18, kName = 19, kInt8 = 20, kInt2 = 21, kInt4 = 23, kRegproc = 24,
                     kText = 25, kOid = 26, kJson = 114, kFloat4 = 700, kFloat8 = 701, kUnknown = 705, kBpchar = 1042,
                     kVarchar = 1043, kDate = 1082, kTime = 1083, kTimestamp = 1114, kTimestamptz = 1184,
                     kInterval = 1186, kNumeric = 1700, kRegclass = 2205, kRegtype = 2206, kRecord = 2249, kAny = 2276,
                     kVoid = 2278, kUuid = 2950, kAnyElement = 2283, kAnyArray = 2277, kInt2Vector = 22, kOidVector = 30,
                     kRegprocedure = 2202, kRegnamespace = 4089, kRegrole = 4096;
inline constexpr Oid kBoolArray = 1000, kByteaArray = 1001, kCharArray = 1002, kNameArray = 1003, kInt2Array = 1005,
                     kInt4Array = 1007, kTextArray = 1009, kBpcharArray = 1014, kVarcharArray = 1015, kInt8Array = 1016,
                     kFloat4Array = 1021, kFloat8Array = 1022, kOidArray = 1028, kTimestampArray = 1115,
                     kDateArray = 1182, kTimeArray = 1183, kTimestamptzArray = 1185, kIntervalArray = 1187,
                     kNumericArray = 1231, kUuidArray = 2951;
}  // namespace oid

/// The representation of a type's values in memory, in a Column and in a Datum.
enum class Storage : std::uint8_t {
  kBool,      // bool
  kInt2,      // std::int16_t
  kInt4,      // std::int32_t: int4, oid-like types (bit pattern), date (days since 2000-01-01)
  kInt8,      // std::int64_t: int8, time (µs since midnight), timestamp and timestamptz (µs since 2000-01-01 UTC)
  kFloat4,    // float
  kFloat8,    // double
  kNumeric,   // Numeric
  kText,      // std::string_view: text, varchar, bpchar, name, unknown (UTF-8), bytea (raw bytes), json
  kInterval,  // Interval
  kUuid,      // Uuid
};

/// The letter of pg_type.typcategory that overload resolution uses.
enum class TypeCategory : char {
  kBoolean = 'B', kDateTime = 'D', kNumeric = 'N', kString = 'S', kTimespan = 'T', kUserDefined = 'U', kUnknown = 'X',
  kPseudo = 'P', kArray = 'A', kInternal = 'Z',
};

/// A type as an expression or column has it: identity and modifier (-1: none; PostgreSQL's encoding of typmods).
struct Type {
  Oid oid = oid::kUnknown;
  std::int32_t modifier = -1;
  friend bool operator==(const Type&, const Type&) = default;
};

inline constexpr Type kBool{oid::kBool}, kBytea{oid::kBytea}, kName{oid::kName}, kInt8{oid::kInt8}, kInt2{oid::kInt2},
    kInt4{oid::kInt4}, kText{oid::kText}, kOidType{oid::kOid}, kFloat4{oid::kFloat4}, kFloat8{oid::kFloat8},
    kUnknown{oid::kUnknown}, kBpchar{oid::kBpchar}, kVarchar{oid::kVarchar}, kDate{oid::kDate}, kTime{oid::kTime},
    kTimestamp{oid::kTimestamp}, kTimestamptz{oid::kTimestamptz}, kInterval{oid::kInterval}, kNumeric{oid::kNumeric},
    kUuid{oid::kUuid}, kVoid{oid::kVoid};

struct TypeOperations;

/// The attributes of a type in pg_type, its kin and its operations. Built-in types are rows of the families in type_families.h.
struct TypeInfo {
  Oid oid = 0;
  std::string_view name;          // pg_type.typname: "int4"
  std::string_view display_name;  // format_type(): "integer"
  TypeCategory category = TypeCategory::kUserDefined;
  bool preferred = false;     // pg_type.typispreferred
  std::int16_t length = -1;   // pg_type.typlen: bytes, or -1
  char alignment = 'i';       // pg_type.typalign
  Oid element = 0;            // the element type of an array type
  Oid array = 0;              // the array type over this type
  Oid operators = 0;          // the type whose operators and operator classes this type uses; 0: its own
  Oid subtype = 0;            // the subtype of a range type
  Oid multirange = 0;         // the multirange type over a range type
  Oid range = 0;              // the range type in a multirange type
  Storage storage = Storage::kText;
  const TypeOperations* operations = nullptr;  // not null for a type that find_type() returns
};

/// nullptr for an oid that is neither a built-in type nor a user-made one that this computation knows (user_types.h).
const TypeInfo* find_type(Oid oid);
/// Throws SqlError XX000 if there is no such type: it was dropped after the value was made.
const TypeInfo& type_info(Oid oid);
/// By pg_type.typname or by an SQL spelling of one word ("int4", "integer", "decimal"); nullptr if there is none.
const TypeInfo* find_type(std::string_view name);
/// Every built-in type, in order of oid.
std::span<const TypeInfo> all_types();

inline Storage storage_of(Type type) { return type_info(type.oid).storage; }
constexpr bool is_integer_type(Oid type) { return type == oid::kInt2 || type == oid::kInt4 || type == oid::kInt8; }

/// PostgreSQL's format_type(): "character varying(20)", "numeric(10,2)", "timestamp(3) without time zone", "integer[]".
std::string format_type(Type type);

/// Modifiers as written: varchar(20) → 24, numeric(10,2), time(3). Throws 22023, 42601 in PostgreSQL's words.
std::int32_t encode_modifier(Oid type, std::span<const std::int32_t> written);

}  // namespace redquel::sql
