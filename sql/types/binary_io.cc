#include "sql/types/binary_io.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "sql/error.h"
#include "sql/jsonpath/jsonpath.h"
#include "sql/types/bit_string.h"
#include "sql/types/byte_text.h"
#include "sql/types/datetime.h"
#include "sql/types/jsonb.h"
#include "sql/types/more_types.h"
#include "sql/types/network.h"
#include "sql/types/numeric_binary.h"
#include "sql/types/text_io.h"
#include "sql/types/zoned_time.h"

namespace redquel::sql {
namespace {

class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : bytes_(bytes) {}

  template <class Unsigned>
  Unsigned integer() {
    const std::string_view taken = take(sizeof(Unsigned));
    Unsigned value = 0;
    for (const char c : taken) value = static_cast<Unsigned>(value << 8 | static_cast<unsigned char>(c));
    return value;
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(take(1)[0]); }
  std::string_view take(std::size_t size) {
    if (bytes_.size() < size) throw SqlError("08P01", "insufficient data left in message");
    const std::string_view result = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return result;
  }
  std::string_view rest() { return take(bytes_.size()); }
  void expect_end() const {
    if (!bytes_.empty()) throw SqlError("22P03", "incorrect binary data format");
  }

 private:
  std::string_view bytes_;
};

template <class Unsigned>
void put(Unsigned value, std::string& out) {
  char bytes[sizeof(Unsigned)];
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
    bytes[i] = static_cast<char>(value >> (8 * (sizeof(Unsigned) - 1 - i)));
  out.append(bytes, sizeof bytes);
}

Numeric decode_numeric(BinaryReader& reader) {
  const auto invalid = [](std::string_view what) {
    return SqlError("22P03", fmt::format("invalid {} in external \"numeric\" value", what));
  };
  NumericGroups groups;
  const std::size_t count = reader.integer<std::uint16_t>();
  groups.weight = static_cast<std::int16_t>(reader.integer<std::uint16_t>());
  groups.sign = reader.integer<std::uint16_t>();
  groups.scale = reader.integer<std::uint16_t>();
  if (groups.sign != NumericGroups::kPositive && groups.sign != NumericGroups::kNegative &&
      groups.sign != NumericGroups::kNan && groups.sign != NumericGroups::kInfinity &&
      groups.sign != NumericGroups::kNegativeInfinity)
    throw invalid("sign");
  if (groups.scale > Numeric::kMaxScale) throw invalid("scale");
  groups.digits.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    groups.digits.push_back(reader.integer<std::uint16_t>());
    if (groups.digits.back() >= 10000) throw invalid("digit");
  }
  return from_groups(groups);
}

void encode_numeric(const Numeric& value, std::string& out) {
  const NumericGroups groups = to_groups(value);
  put(static_cast<std::uint16_t>(groups.digits.size()), out);
  put(static_cast<std::uint16_t>(groups.weight), out);
  put(groups.sign, out);
  put(groups.scale, out);
  for (const std::uint16_t group : groups.digits) put(group, out);
}

std::int64_t decode_timestamp(BinaryReader& reader) {
  const auto value = static_cast<std::int64_t>(reader.integer<std::uint64_t>());
  if (is_finite_timestamp(value) && (value < kMinTimestamp || value >= kEndTimestamp))
    throw SqlError("22008", "timestamp out of range");
  return value;
}

std::string decode_text(BinaryReader& reader) {
  const std::string_view text = reader.rest();
  check_utf8(text);
  return std::string(text);
}

Datum decode(Type type, BinaryReader& reader) {
  switch (type.oid) {
    case oid::kBool:
      return reader.byte() != 0;
    case oid::kInt2:
      return static_cast<std::int16_t>(reader.integer<std::uint16_t>());
    case oid::kInt4:
    case oid::kOid:
    case oid::kRegclass:
    case oid::kRegtype:
    case oid::kRegproc:
      return static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    case oid::kInt8:
      return static_cast<std::int64_t>(reader.integer<std::uint64_t>());
    case oid::kFloat4:
      return std::bit_cast<float>(reader.integer<std::uint32_t>());
    case oid::kFloat8:
      return std::bit_cast<double>(reader.integer<std::uint64_t>());
    case oid::kNumeric:
      return decode_numeric(reader);
    case oid::kChar: {
      const std::string_view byte = reader.take(1);
      return std::string(byte[0] == '\0' ? std::string_view() : byte);
    }
    case oid::kText:
    case oid::kVarchar:
    case oid::kBpchar:
    case oid::kUnknown:
      return decode_text(reader);
    case oid::kName: {
      std::string name = decode_text(reader);
      if (name.size() > 63) {
        throw SqlError("42622", "identifier too long").detail("Identifier must be less than 64 characters.");
      }
      return name;
    }
    case oid::kJson: {
      std::string text = decode_text(reader);
      check_json(text);
      return text;
    }
    case oid::kJsonb: {
      const int version = reader.byte();
      if (version != 1) throw SqlError("XX000", fmt::format("unsupported jsonb version number {}", version));
      return parse_jsonb(decode_text(reader));
    }
    case oid::kBit:
    case oid::kVarbit: {
      const std::size_t count = reader.integer<std::uint32_t>();
      if (count > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw SqlError("22P03", "invalid length in external bit string");
      }
      return unpack_bits(count, reader.take((count + 7) / 8));
    }
    case oid::kInet:
    case oid::kCidr:
      return read_network(type.oid, reader.rest());
    case oid::kMacaddr:
      return std::string(reader.take(6));
    case oid::kMacaddr8: {
      std::string bytes(reader.rest());
      if (bytes.size() == 6) bytes.insert(3, "\xFF\xFE");
      if (bytes.size() != 8) throw SqlError("08P01", "insufficient data left in message");
      return bytes;
    }
    case oid::kTimetz: {
      ZonedTime value;
      value.time = static_cast<std::int64_t>(reader.integer<std::uint64_t>());
      value.offset = -static_cast<std::int32_t>(reader.integer<std::uint32_t>());
      if (value.time < 0 || value.time > kMicrosecondsPerDay) throw SqlError("22008", "time out of range");
      if (std::abs(value.offset) >= 16 * 3600) throw SqlError("22009", "time zone displacement out of range");
      return value.encode();
    }
    case oid::kJsonpath: {
      const int version = reader.byte();
      if (version != 1) throw SqlError("XX000", fmt::format("unsupported jsonpath version number: {}", version));
      return to_string(parse_jsonpath(decode_text(reader)));
    }
    case oid::kBytea:
      return std::string(reader.rest());
    case oid::kDate: {
      const auto date = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
      if (is_finite_date(date) && (date < kMinDate || date >= kEndDate)) throw SqlError("22008", "date out of range");
      return date;
    }
    case oid::kTime: {
      const auto time = static_cast<std::int64_t>(reader.integer<std::uint64_t>());
      if (time < 0 || time > kMicrosecondsPerDay) throw SqlError("22008", "time out of range");
      return time;
    }
    case oid::kTimestamp:
    case oid::kTimestamptz:
      return decode_timestamp(reader);
    case oid::kInterval: {
      Interval interval;
      interval.microseconds = static_cast<std::int64_t>(reader.integer<std::uint64_t>());
      interval.days = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
      interval.months = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
      return interval;
    }
    case oid::kUuid: {
      Uuid uuid;
      std::memcpy(uuid.bytes.data(), reader.take(uuid.bytes.size()).data(), uuid.bytes.size());
      return uuid;
    }
    default:
      throw SqlError("42883", fmt::format("no binary input function available for type {}", format_type(type)));
  }
}

/// Types that are kept as text or bytes.
void encode_text(Type type, std::string_view value, std::string& out) {
  switch (type.oid) {
    case oid::kJsonb:
    case oid::kJsonpath:
      out.push_back('\1');  // the version of the format
      out += value;
      break;
    case oid::kBit:
    case oid::kVarbit:
      put(static_cast<std::uint32_t>(value.size()), out);
      out += pack_bits(value);
      break;
    case oid::kInet:
    case oid::kCidr:
      out += write_network(type.oid, value);
      break;
    case oid::kTimetz: {
      const ZonedTime time = ZonedTime::decode(value);
      put(static_cast<std::uint64_t>(time.time), out);
      put(static_cast<std::uint32_t>(-time.offset), out);
      break;
    }
    case oid::kChar:
      out += value;
      if (value.empty()) out.push_back('\0');
      break;
    case oid::kBpchar:
      out += value;
      append_padding(type, value, out);
      break;
    default:
      out += value;
  }
}

/// `Text` is std::string of a Datum or std::string_view of a column.
template <class Value>
void encode(Type type, const Value& value, std::string& out) {
  if constexpr (std::is_same_v<Value, bool>) {
    out.push_back(value ? '\1' : '\0');
  } else if constexpr (std::is_same_v<Value, std::int16_t>) {
    put(static_cast<std::uint16_t>(value), out);
  } else if constexpr (std::is_same_v<Value, std::int32_t>) {
    put(static_cast<std::uint32_t>(value), out);
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    put(static_cast<std::uint64_t>(value), out);
  } else if constexpr (std::is_same_v<Value, float>) {
    put(std::bit_cast<std::uint32_t>(value), out);
  } else if constexpr (std::is_same_v<Value, double>) {
    put(std::bit_cast<std::uint64_t>(value), out);
  } else if constexpr (std::is_same_v<Value, Numeric>) {
    encode_numeric(value, out);
  } else if constexpr (std::is_same_v<Value, Interval>) {
    put(static_cast<std::uint64_t>(value.microseconds), out);
    put(static_cast<std::uint32_t>(value.days), out);
    put(static_cast<std::uint32_t>(value.months), out);
  } else if constexpr (std::is_same_v<Value, Uuid>) {
    out.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
  } else if constexpr (!std::is_same_v<Value, std::monostate>) {
    encode_text(type, value, out);
  }
}

}  // namespace

Datum decode_binary(Type type, std::string_view bytes) {
  BinaryReader reader(bytes);
  Datum value = decode(type, reader);
  reader.expect_end();
  return value;
}

void encode_binary(Type type, const Datum& value, std::string& out) {
  std::visit([&](const auto& alternative) { encode(type, alternative, out); }, value);
}

void encode_binary(const Column& column, std::size_t row, std::string& out) {
  const Type type = column.type();
  if (column.is_encoded()) {
    encode_binary(type, parse_value(type, column.get<std::string_view>(row), {}), out);
    return;
  }
  switch (storage_of(type)) {
    case Storage::kBool:
      encode(type, column.get<bool>(row), out);
      break;
    case Storage::kInt2:
      encode(type, column.get<std::int16_t>(row), out);
      break;
    case Storage::kInt4:
      encode(type, column.get<std::int32_t>(row), out);
      break;
    case Storage::kInt8:
      encode(type, column.get<std::int64_t>(row), out);
      break;
    case Storage::kFloat4:
      encode(type, column.get<float>(row), out);
      break;
    case Storage::kFloat8:
      encode(type, column.get<double>(row), out);
      break;
    case Storage::kNumeric:
      encode(type, column.ref<Numeric>(row), out);
      break;
    case Storage::kText:
      encode(type, column.get<std::string_view>(row), out);
      break;
    case Storage::kInterval:
      encode(type, column.get<Interval>(row), out);
      break;
    case Storage::kUuid:
      encode(type, column.get<Uuid>(row), out);
      break;
  }
}

}  // namespace redquel::sql
