#include "sql/system_tables/type_layout.h"

#include "sql/system_tables/relations.h"
#include "sql/types/more_types.h"

namespace redquel::sql {
namespace {

constexpr Oid B = oid::kBtreeMethod, H = oid::kHashMethod;

constexpr OperatorClass kOperatorClasses[] = {
    {10003, B, "bool_ops", 424, "bool_ops", oid::kBool},
    {10048, H, "bool_ops", 2222, "bool_ops", oid::kBool},
    {10006, B, "bytea_ops", 428, "bytea_ops", oid::kBytea},
    {10049, H, "bytea_ops", 2223, "bytea_ops", oid::kBytea},
    {10007, B, "char_ops", 429, "char_ops", oid::kChar},
    {10008, H, "char_ops", 431, "char_ops", oid::kChar},
    {10028, B, "name_ops", 1994, "text_ops", oid::kName},
    {10029, H, "name_ops", 1995, "text_ops", oid::kName},
    {3124, B, "int8_ops", 1976, "integer_ops", oid::kInt8},
    {10021, H, "int8_ops", 1977, "integer_ops", oid::kInt8},
    {1979, B, "int2_ops", 1976, "integer_ops", oid::kInt2},
    {10019, H, "int2_ops", 1977, "integer_ops", oid::kInt2},
    {1978, B, "int4_ops", 1976, "integer_ops", oid::kInt4},
    {10020, H, "int4_ops", 1977, "integer_ops", oid::kInt4},
    {3126, B, "text_ops", 1994, "text_ops", oid::kText},
    {10037, H, "text_ops", 1995, "text_ops", oid::kText},
    {1981, B, "oid_ops", 1989, "oid_ops", oid::kOid},
    {10031, H, "oid_ops", 1990, "oid_ops", oid::kOid},
    {10012, B, "float4_ops", 1970, "float_ops", oid::kFloat4},
    {10013, H, "float4_ops", 1971, "float_ops", oid::kFloat4},
    {3123, B, "float8_ops", 1970, "float_ops", oid::kFloat8},
    {10014, H, "float8_ops", 1971, "float_ops", oid::kFloat8},
    {10004, B, "bpchar_ops", 426, "bpchar_ops", oid::kBpchar},
    {10005, H, "bpchar_ops", 427, "bpchar_ops", oid::kBpchar},
    {3122, B, "date_ops", 434, "datetime_ops", oid::kDate},
    {10011, H, "date_ops", 435, "date_ops", oid::kDate},
    {10038, B, "time_ops", 1996, "time_ops", oid::kTime},
    {10039, H, "time_ops", 1997, "time_ops", oid::kTime},
    {3128, B, "timestamp_ops", 434, "datetime_ops", oid::kTimestamp},
    {10046, H, "timestamp_ops", 2040, "timestamp_ops", oid::kTimestamp},
    {3127, B, "timestamptz_ops", 434, "datetime_ops", oid::kTimestamptz},
    {10040, H, "timestamptz_ops", 1999, "timestamptz_ops", oid::kTimestamptz},
    {10022, B, "interval_ops", 1982, "interval_ops", oid::kInterval},
    {10023, H, "interval_ops", 1983, "interval_ops", oid::kInterval},
    {3125, B, "numeric_ops", 1988, "numeric_ops", oid::kNumeric},
    {10030, H, "numeric_ops", 1998, "numeric_ops", oid::kNumeric},
    {10065, B, "uuid_ops", 2968, "uuid_ops", oid::kUuid},
    {10026, B, "macaddr8_ops", 3371, "macaddr8_ops", oid::kMacaddr8},
    {10027, H, "macaddr8_ops", 3372, "macaddr8_ops", oid::kMacaddr8},
    {10024, B, "macaddr_ops", 1984, "macaddr_ops", oid::kMacaddr},
    {10025, H, "macaddr_ops", 1985, "macaddr_ops", oid::kMacaddr},
    {10015, B, "inet_ops", 1974, "network_ops", oid::kInet},
    {10016, H, "inet_ops", 1975, "network_ops", oid::kInet},
    {10041, B, "timetz_ops", 2000, "timetz_ops", oid::kTimetz},
    {10042, H, "timetz_ops", 2001, "timetz_ops", oid::kTimetz},
    {10002, B, "bit_ops", 423, "bit_ops", oid::kBit},
    {10043, B, "varbit_ops", 2002, "varbit_ops", oid::kVarbit},
    {10088, B, "jsonb_ops", 4033, "jsonb_ops", oid::kJsonb},
    {10089, H, "jsonb_ops", 4034, "jsonb_ops", oid::kJsonb},
    {10066, H, "uuid_ops", 2969, "uuid_ops", oid::kUuid},
};

}  // namespace

bool passed_by_value(const TypeInfo& type) {
  return type.length == 1 || type.length == 2 || type.length == 4 || type.length == 8;
}

char storage_letter(const TypeInfo& type) {
  if (type.oid == oid::kNumeric || type.oid == oid::kInet || type.oid == oid::kCidr) return 'm';
  const bool is_vector = type.category == TypeCategory::kArray && !is_true_array(type);
  return type.length == -1 && !is_vector ? 'x' : 'p';
}

Oid collation_of(Oid type) {
  const TypeInfo* info = find_type(type);
  if (info != nullptr && is_true_array(*info)) return collation_of(info->element);
  switch (type) {
    case oid::kText:
    case oid::kVarchar:
    case oid::kBpchar: return oid::kDefaultCollation;
    case oid::kName: return oid::kCCollation;
    default: return 0;
  }
}

bool is_true_array(const TypeInfo& type) {
  if (type.category != TypeCategory::kArray || type.element == 0) return false;
  const TypeInfo* element = find_type(type.element);
  return element != nullptr && element->array == type.oid;
}

std::span<const OperatorClass> all_operator_classes() { return kOperatorClasses; }

Oid operator_class_of(Oid method, Oid type) {
  const Oid input = type == oid::kVarchar ? oid::kText : type;
  for (const OperatorClass& entry : kOperatorClasses) {
    if (entry.method == method && entry.input == input) return entry.oid;
  }
  return 0;
}

}  // namespace redquel::sql
