#include "sql/types/binary_io.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "sql/error.h"
#include "sql/jsonpath/jsonpath.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/binary_reader.h"
#include "sql/types/bit_string.h"
#include "sql/types/byte_text.h"
#include "sql/types/datetime.h"
#include "sql/types/geometry.h"
#include "sql/types/jsonb.h"
#include "sql/types/network.h"
#include "sql/types/numeric_binary.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/server_numbers.h"
#include "sql/types/text_encoding.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"
#include "sql/types/zoned_time.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

template <class Unsigned>
void put(Unsigned value, std::string& out) {
  char bytes[sizeof(Unsigned)];
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
    bytes[i] = static_cast<char>(value >> (8 * (sizeof(Unsigned) - 1 - i)));
  out.append(bytes, sizeof bytes);
}

void put_sized(const std::string& bytes, std::string& out) {
  put(static_cast<std::uint32_t>(bytes.size()), out);
  out += bytes;
}

TransactionSnapshot decode_snapshot(BinaryReader& reader) {
  const std::uint32_t count = reader.integer<std::uint32_t>();
  TransactionSnapshot snapshot{.begin = reader.integer<std::uint64_t>(), .end = reader.integer<std::uint64_t>(), .running = {}};
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  bool is_valid = snapshot.begin > 0 && snapshot.end >= snapshot.begin && snapshot.end <= kMost;
  std::uint64_t last = snapshot.begin;
  for (std::uint32_t i = 0; is_valid && i < count; ++i) {
    const std::uint64_t number = reader.integer<std::uint64_t>();
    is_valid = number >= last && number < snapshot.end;
    if (snapshot.running.empty() || number != last) snapshot.running.push_back(number);
    last = number;
  }
  if (!is_valid) throw SqlError(sqlstate::kInvalidBinaryRepresentation, "invalid external pg_snapshot data");
  return snapshot;
}

void encode_snapshot(const TransactionSnapshot& snapshot, std::string& out) {
  put(static_cast<std::uint32_t>(snapshot.running.size()), out);
  put(snapshot.begin, out);
  put(snapshot.end, out);
  for (const std::uint64_t number : snapshot.running) put(number, out);
}

Numeric decode_numeric(BinaryReader& reader) {
  const auto invalid = [](std::string_view what) {
    return SqlError(sqlstate::kInvalidBinaryRepresentation, fmt::format("invalid {} in external \"numeric\" value", what));
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
    throw datetime_out_of_range("timestamp");
  return value;
}

std::string decode_array(Oid array, BinaryReader& reader) {
  const auto invalid = [](std::string message) { return SqlError(sqlstate::kInvalidBinaryRepresentation, std::move(message)); };
  const auto dimensions = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
  if (dimensions < 0) throw invalid(fmt::format("invalid number of dimensions: {}", dimensions));
  check_array_depth(static_cast<std::size_t>(dimensions));
  if (reader.integer<std::uint32_t>() > 1) throw invalid("invalid array flags");
  const Oid element = type_info(array).element, declared = declared_element(array), given = reader.integer<std::uint32_t>();
  if (given != declared) {
    const auto named = [](Oid type) { return fmt::format("{} ({})", type, format_type(Type{type})); };
    throw SqlError(sqlstate::kDatatypeMismatch,
                   fmt::format("binary data has array element type {} instead of expected {}", named(given), named(declared)));
  }
  ArrayValue value;
  for (std::int32_t i = 0; i < dimensions; ++i) {
    const auto length = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    const auto lower = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    if (length < 0) throw invalid("invalid array dimension");
    value.dimensions.push_back({lower, length});
  }
  const std::int64_t count = check_array_size(value.dimensions);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto size = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    if (size < -1) throw invalid("insufficient data left in message");
    if (size == -1) {
      value.elements.push_back(std::nullopt);
    } else {
      const std::string_view bytes = reader.take(static_cast<std::size_t>(size));
      value.add(format_value(Type{element}, decode_binary(Type{element}, bytes, reader.client())));
    }
  }
  return array_text(array, value);
}

void encode_array(Type type, std::string_view text, std::string& out, EncodingConverter* client) {
  const ArrayValue value = read_array(type.oid, text);
  const Type element{type_info(type.oid).element};
  const bool has_null = std::ranges::any_of(value.elements, [](const auto& item) { return !item; });
  put(static_cast<std::uint32_t>(value.dimensions.size()), out);
  put(static_cast<std::uint32_t>(has_null ? 1 : 0), out);
  put(declared_element(type.oid), out);
  for (const ArrayDimension& dimension : value.dimensions) {
    put(static_cast<std::uint32_t>(dimension.length), out);
    put(static_cast<std::uint32_t>(dimension.lower), out);
  }
  for (const auto& item : value.elements) {
    if (!item) {
      put(std::uint32_t{0xFFFFFFFF}, out);
      continue;
    }
    std::string bytes;
    encode_binary(element, stored_value(element, *item), bytes, client);
    put_sized(bytes, out);
  }
}

/// Reads the form of record_recv: the number of fields, then type, length and bytes of each.
std::string decode_row(Oid type, BinaryReader& reader) {
  const std::vector<CompositeField>& fields = find_user_type(type)->fields;
  const std::uint32_t count = reader.integer<std::uint32_t>();
  if (count != fields.size()) {
    throw SqlError(sqlstate::kDatatypeMismatch,
                   fmt::format("wrong number of columns: {}, expected {}", static_cast<std::int32_t>(count), fields.size()));
  }
  RowValue row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Oid given = reader.integer<std::uint32_t>();
    const Type field = fields[i].type;
    const Oid declared = fields[i].domain != 0 ? fields[i].domain : field.oid;
    if (given != declared) {
      const auto named = [](Oid oid) { return fmt::format("{} ({})", oid, format_type(Type{oid})); };
      throw SqlError(sqlstate::kDatatypeMismatch,
                     fmt::format("binary data has type {} instead of expected {} in record column {}", named(given), named(declared), i + 1));
    }
    const auto size = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    if (size < -1) throw SqlError(sqlstate::kInvalidBinaryRepresentation, "insufficient data left in message");
    std::optional<std::string> stored;
    if (size >= 0) {
      stored = format_value(field, apply_modifier(field, decode_binary(field, reader.take(static_cast<std::size_t>(size)), reader.client()), false));
    }
    row.add(field, stored);
  }
  return row_text(type, row);
}

void encode_row(Oid type, std::string_view text, std::string& out, EncodingConverter* client) {
  const RowValue row = read_row(type, text);
  const UserType* composite = find_user_type(type);
  put(static_cast<std::uint32_t>(row.fields.size()), out);
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    const Oid domain = composite != nullptr && i < composite->fields.size() ? composite->fields[i].domain : 0;
    put(domain != 0 ? domain : row.types[i].oid, out);
    if (!row.fields[i]) {
      put(std::uint32_t{0xFFFFFFFF}, out);
      continue;
    }
    std::string bytes;
    encode_binary(row.types[i], stored_value(row.types[i], *row.fields[i]), bytes, client);
    put_sized(bytes, out);
  }
}

std::string decode_label(Type type, BinaryReader& reader) {
  std::string label = reader.text();
  const EnumLabel* known = find_label(type.oid, label);
  if (known != nullptr && known->name == label) return label;
  throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input value for enum {}: \"{}\"", format_type(type), label));
}

constexpr std::uint8_t kEmptyRange = 1, kLowerInclusive = 2, kUpperInclusive = 4, kLowerInfinite = 8, kUpperInfinite = 16;

RangeValue decode_range(Oid range, BinaryReader& reader) {
  const std::uint8_t flags = reader.byte();
  const auto bound = [&](std::uint8_t infinite, std::uint8_t inclusive) {
    RangeBound result{std::nullopt, (flags & inclusive) != 0};
    if ((flags & (kEmptyRange | infinite)) != 0) return result;
    const std::uint32_t size = reader.integer<std::uint32_t>();
    result.value = decode_binary(range_subtype(range), reader.take(size), reader.client());
    return result;
  };
  RangeBound lower = bound(kLowerInfinite, kLowerInclusive);
  RangeBound upper = bound(kUpperInfinite, kUpperInclusive);
  if ((flags & kEmptyRange) != 0) return {true, {}, {}};
  return make_range(range, std::move(lower), std::move(upper));
}

RangeSet decode_multirange(Oid multirange, BinaryReader& reader) {
  std::vector<RangeValue> ranges;
  for (std::uint32_t left = reader.integer<std::uint32_t>(); left > 0; --left) {
    const std::uint32_t size = reader.integer<std::uint32_t>();
    BinaryReader part(reader.take(size), reader.client());
    ranges.push_back(decode_range(range_in(multirange), part));
    part.expect_end();
  }
  return normalize(range_subtype(range_in(multirange)), std::move(ranges));
}

/// A range in parsed form; none: empty.
void encode_range(Oid range, const RangeValue* value, std::string& out, EncodingConverter* client) {
  std::uint8_t flags = value == nullptr ? kEmptyRange : 0;
  if (value != nullptr) {
    if (value->lower.inclusive) flags |= kLowerInclusive;
    if (value->upper.inclusive) flags |= kUpperInclusive;
    if (!value->lower.value) flags |= kLowerInfinite;
    if (!value->upper.value) flags |= kUpperInfinite;
  }
  out.push_back(static_cast<char>(flags));
  if (value == nullptr) return;
  for (const RangeBound* bound : {&value->lower, &value->upper}) {
    if (!bound->value) continue;
    std::string bytes;
    encode_binary(range_subtype(range), *bound->value, bytes, client);
    put_sized(bytes, out);
  }
}

void encode_ranges(Oid type, std::string_view text, std::string& out, EncodingConverter* client) {
  const RangeSet ranges = read_ranges(type, text);
  if (is_range_type(type)) return encode_range(type, ranges.empty() ? nullptr : &ranges[0], out, client);
  put(static_cast<std::uint32_t>(ranges.size()), out);
  for (const RangeValue& range : ranges) {
    std::string bytes;
    encode_range(range_in(type), &range, bytes, client);
    put_sized(bytes, out);
  }
}

std::string decode_geometry(Oid type, BinaryReader& reader) {
  bool closed = false;
  std::size_t count = type == oid::kPoint ? 2 : type == oid::kLine || type == oid::kCircle ? 3 : 4;
  if (type == oid::kPath) closed = reader.byte() != 0;
  if (type == oid::kPath || type == oid::kPolygon) {
    const auto points = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    constexpr std::int32_t kMostPoints = 1 << 26;
    if (points <= 0 || points >= kMostPoints) {
      throw SqlError(sqlstate::kInvalidBinaryRepresentation,
                     fmt::format("invalid number of points in external \"{}\" value", type_info(type).name));
    }
    count = 2 * static_cast<std::size_t>(points);
  }
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(std::bit_cast<double>(reader.integer<std::uint64_t>()));
  return geometry_from_numbers(type, numbers, closed);
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
    case oid::kXid:
    case oid::kCid:
      return static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    case oid::kInt8:
    case oid::kMoney:
      return static_cast<std::int64_t>(reader.integer<std::uint64_t>());
    case oid::kXid8:
    case oid::kPgLsn:
      return from_unsigned_bits(reader.integer<std::uint64_t>());
    case oid::kTid: {
      const std::uint64_t block = reader.integer<std::uint32_t>();
      return static_cast<std::int64_t>((block << 16 | reader.integer<std::uint16_t>()) << 16) >> 16;
    }
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
    case oid::kCstring:
      return reader.text();
    case oid::kName: {
      std::string name = reader.text();
      if (name.size() > 63) {
        throw SqlError(sqlstate::kNameTooLong, "identifier too long").detail("Identifier must be less than 64 characters.");
      }
      return name;
    }
    case oid::kJson: {
      std::string text = reader.text();
      check_json(text);
      return text;
    }
    case oid::kJsonb: {
      const int version = reader.byte();
      if (version != 1) throw SqlError(sqlstate::kInternalError, fmt::format("unsupported jsonb version number {}", version));
      return parse_jsonb(reader.text());
    }
    case oid::kBit:
    case oid::kVarbit: {
      const std::size_t count = reader.integer<std::uint32_t>();
      if (count > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw SqlError(sqlstate::kInvalidBinaryRepresentation, "invalid length in external bit string");
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
      if (bytes.size() != 8) throw insufficient_message_data();
      return bytes;
    }
    case oid::kTimetz: {
      ZonedTime value;
      value.time = static_cast<std::int64_t>(reader.integer<std::uint64_t>());
      value.offset = -static_cast<std::int32_t>(reader.integer<std::uint32_t>());
      if (value.time < 0 || value.time > kMicrosecondsPerDay) throw datetime_out_of_range("time");
      if (std::abs(value.offset) >= 16 * 3600) throw SqlError(sqlstate::kInvalidTimeZoneDisplacementValue, "time zone displacement out of range");
      return value.encode();
    }
    case oid::kJsonpath: {
      const int version = reader.byte();
      if (version != 1) throw SqlError(sqlstate::kInternalError, fmt::format("unsupported jsonpath version number: {}", version));
      return to_string(parse_jsonpath(reader.text()));
    }
    case oid::kBytea:
      return std::string(reader.rest());
    case oid::kDate: {
      const auto date = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
      if (is_finite_date(date) && (date < kMinDate || date >= kEndDate)) throw datetime_out_of_range("date");
      return date;
    }
    case oid::kTime: {
      const auto time = static_cast<std::int64_t>(reader.integer<std::uint64_t>());
      if (time < 0 || time > kMicrosecondsPerDay) throw datetime_out_of_range("time");
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
    case oid::kPgSnapshot:
    case oid::kTxidSnapshot:
      return snapshot_text(decode_snapshot(reader));
    case oid::kUuid: {
      Uuid uuid;
      std::memcpy(uuid.bytes.data(), reader.take(uuid.bytes.size()).data(), uuid.bytes.size());
      return uuid;
    }
    default:
      if (is_geometric_type(type.oid)) return decode_geometry(type.oid, reader);
      if (is_enum_type(type.oid)) return decode_label(type, reader);
      if (is_composite_type(type.oid)) return decode_row(type.oid, reader);
      if (type.oid == oid::kRecord) throw SqlError(sqlstate::kFeatureNotSupported, "input of anonymous composite types is not implemented");
      if (is_array_type(type.oid)) return decode_array(type.oid, reader);
      if (is_range_type(type.oid)) {
        const RangeValue range = decode_range(type.oid, reader);
        return ranges_text(type.oid, range.empty ? RangeSet{} : RangeSet{range});
      }
      if (is_multirange_type(type.oid)) return ranges_text(type.oid, decode_multirange(type.oid, reader));
      throw SqlError(sqlstate::kUndefinedFunction, fmt::format("no binary input function available for type {}", format_type(type)));
  }
}

void encode_geometry(Oid type, std::string_view value, std::string& out) {
  const std::vector<double> numbers = geometry_numbers(type, value);
  if (type == oid::kPath) out.push_back(value.starts_with('(') ? '\1' : '\0');
  if (type == oid::kPath || type == oid::kPolygon) put(static_cast<std::uint32_t>(numbers.size() / 2), out);
  for (const double number : numbers) put(std::bit_cast<std::uint64_t>(number), out);
}

void put_text(std::string_view value, std::string& out, EncodingConverter* client) {
  if (client == nullptr) {
    out += value;
  } else {
    client->append_for_client(value, out);
  }
}

/// Types that are kept as text or bytes.
void encode_text(Type type, std::string_view value, std::string& out, EncodingConverter* client) {
  switch (type.oid) {
    case oid::kJsonb:
    case oid::kJsonpath:
      out.push_back('\1');  // the version of the format
      put_text(value, out, client);
      break;
    case oid::kText:
    case oid::kVarchar:
    case oid::kName:
    case oid::kUnknown:
    case oid::kCstring:
    case oid::kJson:
      put_text(value, out, client);
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
      put_text(value, out, client);
      append_padding(type, value, out);
      break;
    case oid::kPgSnapshot:
    case oid::kTxidSnapshot:
      encode_snapshot(parse_snapshot(value), out);
      break;
    case oid::kAclitem:
      throw SqlError(sqlstate::kUndefinedFunction, fmt::format("no binary output function available for type {}", format_type(type)));
    default:
      if (is_geometric_type(type.oid)) return encode_geometry(type.oid, value, out);
      if (is_enum_type(type.oid)) return put_text(value, out, client);
      if (is_row_type(type.oid)) return encode_row(type.oid, value, out, client);
      if (is_array_type(type.oid)) return encode_array(type, value, out, client);
      if (is_range_type(type.oid) || is_multirange_type(type.oid)) return encode_ranges(type.oid, value, out, client);
      out += value;
  }
}

/// `Text` is std::string of a Datum or std::string_view of a column.
template <class Value>
void encode(Type type, const Value& value, std::string& out, EncodingConverter* client) {
  if constexpr (std::is_same_v<Value, bool>) {
    out.push_back(value ? '\1' : '\0');
  } else if constexpr (std::is_same_v<Value, std::int16_t>) {
    put(static_cast<std::uint16_t>(value), out);
  } else if constexpr (std::is_same_v<Value, std::int32_t>) {
    put(static_cast<std::uint32_t>(value), out);
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    if (type.oid == oid::kTid) {
      put(static_cast<std::uint32_t>(value >> 16), out);
      put(static_cast<std::uint16_t>(value), out);
    } else if (type.oid == oid::kXid8 || type.oid == oid::kPgLsn) {
      put(to_unsigned_bits(value), out);
    } else {
      put(static_cast<std::uint64_t>(value), out);
    }
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
    encode_text(type, value, out, client);
  }
}

}  // namespace

Datum decode_binary(Type type, std::string_view bytes, EncodingConverter* client) {
  BinaryReader reader(bytes, client);
  Datum value = decode(type, reader);
  reader.expect_end();
  return value;
}

void encode_binary(Type type, const Datum& value, std::string& out, EncodingConverter* client) {
  std::visit([&](const auto& alternative) { encode(type, alternative, out, client); }, value);
}

void encode_binary(const Column& column, std::size_t row, std::string& out, EncodingConverter* client) {
  const Type type = column.type();
  if (column.is_encoded()) {
    encode_binary(type, parse_value(type, column.get<std::string_view>(row), {}), out, client);
    return;
  }
  switch (storage_of(type)) {
    case Storage::kBool:
      encode(type, column.get<bool>(row), out, client);
      break;
    case Storage::kInt2:
      encode(type, column.get<std::int16_t>(row), out, client);
      break;
    case Storage::kInt4:
      encode(type, column.get<std::int32_t>(row), out, client);
      break;
    case Storage::kInt8:
      encode(type, column.get<std::int64_t>(row), out, client);
      break;
    case Storage::kFloat4:
      encode(type, column.get<float>(row), out, client);
      break;
    case Storage::kFloat8:
      encode(type, column.get<double>(row), out, client);
      break;
    case Storage::kNumeric:
      encode(type, column.ref<Numeric>(row), out, client);
      break;
    case Storage::kText:
      encode(type, column.get<std::string_view>(row), out, client);
      break;
    case Storage::kInterval:
      encode(type, column.get<Interval>(row), out, client);
      break;
    case Storage::kUuid:
      encode(type, column.get<Uuid>(row), out, client);
      break;
  }
}

}  // namespace redquel::sql
