// Ranges and multiranges.

#include "sql/types/binary_io.h"
#include "sql/types/index_value.h"
#include "sql/types/range_value.h"
#include "sql/types/structured_compare.h"
#include "sql/types/structured_index.h"
#include "sql/types/text_io.h"
#include "sql/types/text_order.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

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

std::uint64_t hash_ranges(Oid type, std::string_view value) {
  const Type subtype = range_subtype(is_multirange_type(type) ? range_in(type) : type);
  std::uint64_t result = 1;
  for (const RangeValue& range : read_ranges(type, value)) {
    for (const RangeBound* bound : {&range.lower, &range.upper}) {
      result = result * 31 + (bound->value ? hash(subtype, *bound->value) : 0) + (bound->inclusive ? 1 : 0);
    }
  }
  return result;
}

/// Ranges one after the other; bounds in the order of their values, then of their sides.
std::string ordered_ranges(Oid type, std::string_view text) {
  const Type subtype = range_subtype(is_multirange_type(type) ? range_in(type) : type);
  std::string bytes;
  const auto append_bound = [&](const RangeBound& bound, char infinite, char inclusive, char exclusive) {
    if (!bound.value) {
      bytes += infinite;
      return;
    }
    bytes += kOrderedValue;
    append_escaped(ordered_element(subtype, format_value(subtype, *bound.value)), bytes);
    bytes += bound.inclusive ? inclusive : exclusive;
  };
  for (const RangeValue& range : read_ranges(type, text)) {
    bytes += kOrderedValue;
    append_bound(range.lower, kOrderedEnd, '1', '2');
    append_bound(range.upper, kOrderedNull, '1', '0');
  }
  return bytes + kOrderedEnd;
}

/// numrange: the only subtype of which equal values print differently.
std::string canonical_ranges(Oid type, std::string_view text) {
  const Type subtype = range_subtype(is_multirange_type(type) ? range_in(type) : type);
  RangeSet ranges = read_ranges(type, text);
  for (RangeValue& range : ranges) {
    for (RangeBound* bound : {&range.lower, &range.upper}) {
      if (bound->value) bound->value = parse_value(subtype, canonical_text(subtype, *bound->value), {});
    }
  }
  return ranges_text(type, ranges);
}

std::uint64_t hash_one_range(Type subtype, const RangeValue& range, HashSeed seed) {
  constexpr std::uint32_t kEmpty = 1, kLowerInclusive = 2, kUpperInclusive = 4, kNoLower = 8, kNoUpper = 16;
  std::uint32_t flags = kEmpty;
  std::uint64_t lower = 0, upper = 0;
  if (!range.empty) {
    flags = (range.lower.inclusive ? kLowerInclusive : 0) | (range.upper.inclusive ? kUpperInclusive : 0) |
            (range.lower.value ? 0 : kNoLower) | (range.upper.value ? 0 : kNoUpper);
    if (range.lower.value) lower = postgres_hash_of(subtype, *range.lower.value, seed);
    if (range.upper.value) upper = postgres_hash_of(subtype, *range.upper.value, seed);
  }
  return rotated_hash(hash_word(flags, seed.value) ^ lower) ^ upper;
}

/// The operations that ranges and multiranges have in common.
struct RangesType : StoredAs<std::string_view> {
  static constexpr bool kComparesAsBytes = false, kIsStructured = true;
  static Type subtype_of(Type type) { return range_subtype(is_multirange_type(type.oid) ? range_in(type.oid) : type.oid); }
  static bool prints_stored_form(Type type, const SessionSettings& settings) { return output_is_storage_form(subtype_of(type), settings); }
  static bool depends_on_settings(Type type) { return output_depends_on_settings(subtype_of(type)); }
  static int compare(Type type, Value a, Value b) { return compare_ranges(type.oid, a, b); }
  static std::uint64_t hash(Type type, Value value) {
    return has_textual_equality(type) ? StoredAs::hash(type, value) : hash_ranges(type.oid, value);
  }
  static bool has_textual_equality(Type type) { return sql::has_textual_equality(subtype_of(type).oid); }
  static std::string canonical(Type type, Value value) {
    return has_textual_equality(type) ? std::string(value) : canonical_ranges(type.oid, value);
  }
  static std::string ordered_bytes(Type type, Value value) { return ordered_ranges(type.oid, value); }
};

struct RangeType : RangesType {
  static std::string parse(const TextInput& input) {
    std::string text;
    append_range(input.type.oid, parse_range(input.type.oid, input.text, input.settings, input.now), {}, text);
    return text;
  }
  static void format(Type type, Value value, const SessionSettings& settings, std::string& out) {
    if (prints_stored_form(type, settings)) {
      out += value;
    } else {
      append_range(type.oid, parse_range(type.oid, value, {}), settings, out);
    }
  }
  static std::string decode(Type type, BinaryReader& reader) {
    const RangeValue range = decode_range(type.oid, reader);
    return ranges_text(type.oid, range.empty ? RangeSet{} : RangeSet{range});
  }
  static void encode(Type type, Value value, std::string& out, EncodingConverter* client) {
    const RangeSet ranges = read_ranges(type.oid, value);
    encode_range(type.oid, ranges.empty() ? nullptr : &ranges[0], out, client);
  }
  static std::uint64_t postgres_hash(Type type, Value value, HashSeed seed) {
    const RangeSet ranges = read_ranges(type.oid, value);
    return hash_one_range(range_subtype(type.oid), ranges.empty() ? RangeValue{true, {}, {}} : ranges[0], seed);
  }
};

struct MultirangeType : RangesType {
  static std::string parse(const TextInput& input) {
    std::string text;
    append_multirange(input.type.oid, parse_multirange(input.type.oid, input.text, input.settings, input.now), {}, text);
    return text;
  }
  static void format(Type type, Value value, const SessionSettings& settings, std::string& out) {
    if (prints_stored_form(type, settings)) {
      out += value;
    } else {
      append_multirange(type.oid, read_ranges(type.oid, value), settings, out);
    }
  }
  static std::string decode(Type type, BinaryReader& reader) { return ranges_text(type.oid, decode_multirange(type.oid, reader)); }
  static void encode(Type type, Value value, std::string& out, EncodingConverter* client) {
    const RangeSet ranges = read_ranges(type.oid, value);
    put_binary(static_cast<std::uint32_t>(ranges.size()), out);
    for (const RangeValue& range : ranges) {
      std::string bytes;
      encode_range(range_in(type.oid), &range, bytes, client);
      put_sized(bytes, out);
    }
  }
  static std::uint64_t postgres_hash(Type type, Value value, HashSeed seed) {
    const Type subtype = range_subtype(range_in(type.oid));
    std::uint64_t hash = 1;
    for (const RangeValue& range : read_ranges(type.oid, value)) hash = mixed_hash(hash, hash_one_range(subtype, range, seed));
    return hash;
  }
};

constexpr TypeRow range_row(Oid oid, std::string_view name, Oid subtype, Oid multirange, char alignment, Oid array) {
  return type_row<RangeType>({.oid = oid, .name = name, .category = kRangeCategory, .alignment = alignment, .array = array,
                              .subtype = subtype, .multirange = multirange});
}
constexpr TypeRow multirange_row(Oid oid, std::string_view name, Oid range, char alignment, Oid array) {
  return type_row<MultirangeType>({.oid = oid, .name = name, .category = kRangeCategory, .alignment = alignment, .array = array, .range = range});
}

}  // namespace

const TypeOperations kRangeOperations = define_type<RangeType>();
const TypeOperations kMultirangeOperations = define_type<MultirangeType>();

std::span<const TypeRow> range_types() {
  static constexpr TypeRow kRows[] = {
      range_row(oid::kInt4Range, "int4range", oid::kInt4, oid::kInt4Multirange, 'i', 3905),
      range_row(oid::kNumRange, "numrange", oid::kNumeric, oid::kNumMultirange, 'i', 3907),
      range_row(oid::kTsRange, "tsrange", oid::kTimestamp, oid::kTsMultirange, 'd', 3909),
      range_row(oid::kTstzRange, "tstzrange", oid::kTimestamptz, oid::kTstzMultirange, 'd', 3911),
      range_row(oid::kDateRange, "daterange", oid::kDate, oid::kDateMultirange, 'i', 3913),
      range_row(oid::kInt8Range, "int8range", oid::kInt8, oid::kInt8Multirange, 'd', 3927),
      multirange_row(oid::kInt4Multirange, "int4multirange", oid::kInt4Range, 'i', 6150),
      multirange_row(oid::kNumMultirange, "nummultirange", oid::kNumRange, 'i', 6151),
      multirange_row(oid::kTsMultirange, "tsmultirange", oid::kTsRange, 'd', 6152),
      multirange_row(oid::kTstzMultirange, "tstzmultirange", oid::kTstzRange, 'd', 6153),
      multirange_row(oid::kDateMultirange, "datemultirange", oid::kDateRange, 'i', 6155),
      multirange_row(oid::kInt8Multirange, "int8multirange", oid::kInt8Range, 'd', 6157),
  };
  return kRows;
}

}  // namespace redquel::sql
