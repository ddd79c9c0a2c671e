#include "sql/system_tables/type_properties.h"

#include "sql/system_tables/type_layout.h"
#include "sql/types/interval.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

void describe_number(Type type, TypeProperties& properties) {
  switch (type.oid) {
    case oid::kInt2: properties.precision = 16; break;
    case oid::kInt4: properties.precision = 32; break;
    case oid::kInt8: properties.precision = 64; break;
    case oid::kFloat4: properties.precision = 24; break;
    case oid::kFloat8: properties.precision = 53; break;
    case oid::kNumeric:
      properties.radix = 10;
      if (type.modifier < 0) return;
      properties.precision = ((type.modifier - 4) >> 16) & 0xFFFF;
      properties.scale = (type.modifier - 4) & 0xFFFF;
      return;
    default: return;
  }
  properties.radix = 2;
  if (is_integer_type(type.oid)) properties.scale = 0;
}

}  // namespace

TypeProperties type_properties(Type type) {
  constexpr std::int32_t kHeader = 4, kBytesOfCharacter = 4, kUnlimited = 1 << 30, kPrecision = 6, kAnyPrecision = 0xFFFF;
  TypeProperties properties;
  describe_number(type, properties);
  const std::int32_t modifier = type.modifier;
  switch (type.oid) {
    case oid::kText: properties.octet_length = kUnlimited; break;
    case oid::kVarchar:
    case oid::kBpchar:
      properties.octet_length = kUnlimited;
      if (modifier >= 0) {
        properties.maximum_length = modifier - kHeader;
        properties.octet_length = (modifier - kHeader) * kBytesOfCharacter;
      }
      break;
    case oid::kBit:
    case oid::kVarbit:
      if (modifier >= 0) properties.maximum_length = modifier;
      break;
    case oid::kDate: properties.datetime_precision = 0; break;
    case oid::kTime:
    case oid::kTimetz:
    case oid::kTimestamp:
    case oid::kTimestamptz: properties.datetime_precision = modifier < 0 ? kPrecision : modifier; break;
    case oid::kInterval: {
      const bool any = modifier < 0 || (modifier & kAnyPrecision) == kAnyPrecision;
      properties.datetime_precision = any ? kPrecision : modifier & kAnyPrecision;
      std::string fields = format_type(type).substr(std::string_view("interval").size());
      std::erase_if(fields, [](char c) { return c == '(' || c == ')' || (c >= '0' && c <= '9'); });
      if (!fields.empty()) {
        for (char& c : fields) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
        properties.interval_type = fields.substr(1);
      }
      break;
    }
    default: break;
  }
  properties.collation = shown_collation(collation_of(type.oid));
  return properties;
}

std::optional<std::string_view> shown_collation(Oid collation) {
  switch (collation) {
    case oid::kCCollation: return "C";
    case oid::kPosixCollation: return "POSIX";
    case oid::kUcsBasicCollation: return "ucs_basic";
    default: return std::nullopt;
  }
}

}  // namespace redquel::sql
