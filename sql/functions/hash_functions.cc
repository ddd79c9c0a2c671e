// Hash functions of types (hashtext(…) and its like), which programs use to spread keys and to name advisory locks. Their numbers
// are PostgreSQL's: Bob Jenkins' lookup3 over the bytes that PostgreSQL has in memory.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "sql/error.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/privileges/acl_text.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/binary_io.h"
#include "sql/types/compare.h"
#include "sql/types/interval.h"
#include "sql/types/json_text.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/server_numbers.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"
#include "sql/types/zoned_time.h"

namespace redquel::sql {
namespace {

/// lookup3's three words.
class Mixer {
 public:
  Mixer(std::size_t length, std::uint64_t seed) {
    a_ = b_ = c_ = 0x9e3779b9U + static_cast<std::uint32_t>(length) + 3923095U;
    if (seed == 0) return;
    a_ += static_cast<std::uint32_t>(seed >> 32);
    b_ += static_cast<std::uint32_t>(seed);
    mix();
  }

  void add_word(std::uint32_t word) { a_ += word; }
  void add_bytes(std::string_view bytes) {
    for (; bytes.size() >= 12; bytes.remove_prefix(12), mix()) {
      a_ += word_at(bytes, 0);
      b_ += word_at(bytes, 4);
      c_ += word_at(bytes, 8);
    }
    // The lowest byte of c is left out: the length is there.
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::uint32_t byte = static_cast<unsigned char>(bytes[i]);
      if (i < 4) a_ += byte << (8 * i);
      else if (i < 8) b_ += byte << (8 * (i - 4));
      else c_ += byte << (8 * (i - 7));
    }
  }

  std::uint64_t finish() {
    const auto step = [](std::uint32_t& x, std::uint32_t y, int bits) { x = (x ^ y) - std::rotl(y, bits); };
    step(c_, b_, 14);
    step(a_, c_, 11);
    step(b_, a_, 25);
    step(c_, b_, 16);
    step(a_, c_, 4);
    step(b_, a_, 14);
    step(c_, b_, 24);
    return std::uint64_t{b_} << 32 | c_;
  }

 private:
  static std::uint32_t word_at(std::string_view bytes, std::size_t at) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word;
  }
  void mix() {
    const auto step = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t z, int bits) {
      x = (x - y) ^ std::rotl(y, bits);
      y += z;
    };
    step(a_, c_, b_, 4);
    step(b_, a_, c_, 6);
    step(c_, b_, a_, 8);
    step(a_, c_, b_, 16);
    step(b_, a_, c_, 19);
    step(c_, b_, a_, 4);
  }

  std::uint32_t a_, b_, c_;
};

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  Mixer mixer(bytes.size(), seed);
  mixer.add_bytes(bytes);
  return mixer.finish();
}
std::uint64_t hash_word(std::uint32_t word, std::uint64_t seed) {
  Mixer mixer(sizeof word, seed);
  mixer.add_word(word);
  return mixer.finish();
}
/// Equal numbers of int8 and int4 have equal hashes.
std::uint64_t hash_long(std::int64_t value, std::uint64_t seed) {
  const auto low = static_cast<std::uint32_t>(value), high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32);
  return hash_word(low ^ (value >= 0 ? high : ~high), seed);
}
std::uint64_t hash_double(double value, std::uint64_t seed) {
  if (value == 0) return seed;
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  return hash_bytes({reinterpret_cast<const char*>(&value), sizeof value}, seed);
}

std::string binary_form(Type type, const Datum& value) {
  std::string bytes;
  encode_binary(type, value, bytes);
  return bytes;
}

/// The digits of base 10000 without zeros at either end; the weight of the first is mixed in.
std::uint64_t hash_numeric(const Datum& value, std::uint64_t seed) {
  const std::string bytes = binary_form(kNumeric, value);
  const auto number_at = [&](std::size_t index) {
    return static_cast<std::int16_t>(static_cast<unsigned char>(bytes[2 * index]) << 8 | static_cast<unsigned char>(bytes[2 * index + 1]));
  };
  constexpr std::size_t kHeader = 4;  // count, weight, sign, scale
  const auto sign = static_cast<std::uint16_t>(number_at(2));
  if (sign != 0 && sign != 0x4000) return seed;  // NaN and the infinities
  std::string digits;
  std::size_t begin = kHeader, end = bytes.size() / 2;
  int weight = number_at(1);
  for (; begin < end && number_at(begin) == 0; ++begin) --weight;
  for (; end > begin && number_at(end - 1) == 0; --end) {
  }
  if (begin == end) return seed - 1;
  for (std::size_t i = begin; i < end; ++i) {
    const std::int16_t digit = number_at(i);
    digits.append(reinterpret_cast<const char*>(&digit), sizeof digit);
  }
  return hash_bytes(digits, seed) ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(weight));
}

std::uint64_t hash_interval(const Interval& value, std::uint64_t seed) {
  constexpr std::int64_t kMicrosecondsPerDay = 86'400'000'000;
  const std::uint64_t days = static_cast<std::uint64_t>(std::int64_t{value.months} * 30 + value.days);
  return hash_long(static_cast<std::int64_t>(static_cast<std::uint64_t>(value.microseconds) + days * kMicrosecondsPerDay), seed);
}

/// `extended`: a function with a seed is asked, as errors say.
struct HashSeed {
  std::uint64_t value = 0;
  bool extended = false;
};

std::uint64_t hash_of(Type type, const Datum& value, HashSeed seed);

std::uint64_t hash_stored(Type type, std::optional<std::string_view> text, HashSeed seed) {
  return text ? hash_of(type, stored_value(type, *text), seed) : 0;
}

/// Returns the hash of the parts before, combined with the hash of the next part.
std::uint64_t mixed(std::uint64_t before, std::uint64_t part) { return before * 31 + part; }
/// Both halves by one bit to the left, each round itself: the lower half is the hash of 32 bits.
std::uint64_t rotated(std::uint64_t hash) {
  const auto high = static_cast<std::uint32_t>(hash >> 32), low = static_cast<std::uint32_t>(hash);
  return std::uint64_t{std::rotl(high, 1)} << 32 | std::rotl(low, 1);
}

std::uint64_t array_hash(Type type, const std::string& text, HashSeed seed) {
  const Type element{element_type_of(type).oid};
  std::uint64_t hash = 1;
  for (const auto& item : read_array(type.oid, text).elements) hash = mixed(hash, hash_stored(element, item, seed));
  return hash;
}

std::uint64_t hash_oid_vector(const std::string& text, std::uint64_t seed) {
  std::string bytes;
  for (const auto& item : read_array(oid::kOidVector, text).elements) {
    const std::int32_t number = std::get<std::int32_t>(stored_value(kOidType, item.value_or("0")));
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return hash_bytes(bytes, seed);
}

std::uint64_t row_hash(Type type, const std::string& text, HashSeed seed) {
  const RowValue row = read_row(type.oid, text);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < row.fields.size(); ++i) hash = mixed(hash, hash_stored(row.types[i], row.fields[i], seed));
  return hash;
}

std::uint64_t hash_one_range(Type subtype, const RangeValue& range, HashSeed seed) {
  constexpr std::uint32_t kEmpty = 1, kLowerInclusive = 2, kUpperInclusive = 4, kNoLower = 8, kNoUpper = 16;
  std::uint32_t flags = kEmpty;
  std::uint64_t lower = 0, upper = 0;
  if (!range.empty) {
    flags = (range.lower.inclusive ? kLowerInclusive : 0) | (range.upper.inclusive ? kUpperInclusive : 0) |
            (range.lower.value ? 0 : kNoLower) | (range.upper.value ? 0 : kNoUpper);
    if (range.lower.value) lower = hash_of(subtype, *range.lower.value, seed);
    if (range.upper.value) upper = hash_of(subtype, *range.upper.value, seed);
  }
  return rotated(hash_word(flags, seed.value) ^ lower) ^ upper;
}

std::uint64_t ranges_hash(Type type, const std::string& text, HashSeed seed) {
  const RangeSet ranges = read_ranges(type.oid, text);
  if (is_range_type(type.oid)) return hash_one_range(range_subtype(type.oid), ranges.empty() ? RangeValue{.empty = true} : ranges[0], seed);
  const Type subtype = range_subtype(range_in(type.oid));
  std::uint64_t hash = 1;
  for (const RangeValue& range : ranges) hash = mixed(hash, hash_one_range(subtype, range, seed));
  return hash;
}

std::uint64_t hash_json_scalar(std::string_view value, std::uint64_t seed) {
  switch (json_kind(value)) {
    case JsonKind::kNull: return seed + 1;
    case JsonKind::kString: return hash_bytes(json_string(value), seed);
    case JsonKind::kNumber: return hash_numeric(stored_value(kNumeric, value), seed);
    default: {
      const bool truth = value == "true";
      return seed != 0 ? hash_word(truth ? 1 : 0, seed) : truth ? 2 : 4;
    }
  }
}

/// The contents of a container follow its mark; names of members are strings before their values.
void add_json(std::string_view value, std::uint64_t seed, std::uint64_t& hash) {
  constexpr std::uint64_t kArrayMark = 0x40000000'40000000, kObjectMark = 0x20000000'20000000;
  if (!is_json_container(value)) {
    hash = rotated(hash) ^ hash_json_scalar(value, seed);
    return;
  }
  const bool is_object = value[0] == '{';
  hash ^= is_object ? kObjectMark : kArrayMark;
  for (JsonReader reader(value); reader.next();) {
    if (is_object) add_json(reader.key(), seed, hash);
    add_json(reader.value(), seed, hash);
  }
}

std::uint64_t hash_jsonb_value(const std::string& value, std::uint64_t seed) {
  if (is_json_container(value) && json_count(value) == 0) return seed;
  std::uint64_t hash = 0;
  // A scalar is an array of one to jsonb.
  add_json(is_json_container(value) ? value : "[" + value + "]", seed, hash);
  return hash;
}

/// A sum of bits and of the roles' oids, not mixed.
std::uint64_t hash_access_item(std::string_view text, std::uint64_t seed) {
  const AclItem item = decode_acl_item_text(text);
  const std::uint32_t sum = (item.rights | item.grantable << 16) + item.grantee + item.grantor;
  return seed == 0 ? sum : hash_word(sum, seed);
}

std::uint64_t hash_zoned_time(const std::string& bytes, std::uint64_t seed) {
  const ZonedTime value = ZonedTime::decode(bytes);
  return hash_long(value.time, seed) ^ hash_word(static_cast<std::uint32_t>(-value.offset), seed);  // PostgreSQL counts to the west
}

/// The number of the block, its upper half first, and of the row in it.
std::uint64_t hash_tid(std::int64_t number, std::uint64_t seed) {
  const std::uint16_t parts[] = {static_cast<std::uint16_t>(number >> 32), static_cast<std::uint16_t>(number >> 16),
                                 static_cast<std::uint16_t>(number)};
  return hash_bytes({reinterpret_cast<const char*>(parts), sizeof parts}, seed);
}

/// Hashes a value of a composite or user-made type.
std::uint64_t hash_made_type(Type type, const Datum& value, HashSeed seed) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (is_array_type(type.oid)) return array_hash(type, *text, seed);
    if (is_row_type(type.oid)) return row_hash(type, *text, seed);
    if (is_range_type(type.oid) || is_multirange_type(type.oid)) return ranges_hash(type, *text, seed);
    if (is_enum_type(type.oid)) {
      const EnumLabel* label = find_label(type.oid, *text);
      return hash_word(label == nullptr ? 0 : label->oid, seed.value);
    }
  }
  throw SqlError(sqlstate::kUndefinedFunction,
                 std::string("could not identify ") + (seed.extended ? "an extended" : "a") + " hash function for type " + format_type(type));
}

/// The value is not NULL. The lower half is the hash of 32 bits where the seed is 0.
std::uint64_t hash_of(Type type, const Datum& value, HashSeed given) {
  const std::uint64_t seed = given.value;
  switch (type.oid) {
    case oid::kBool: return hash_word(std::get<bool>(value) ? 1 : 0, seed);
    case oid::kInt2: return hash_word(static_cast<std::uint32_t>(std::int32_t{std::get<std::int16_t>(value)}), seed);
    case oid::kInt4:
    case oid::kOid:
    case oid::kXid:
    case oid::kCid:
    case oid::kRegclass:
    case oid::kRegtype:
    case oid::kRegproc:
    case oid::kRegprocedure:
    case oid::kRegoper:
    case oid::kRegoperator:
    case oid::kRegcollation:
    case oid::kRegnamespace:
    case oid::kRegrole:
    case oid::kDate: return hash_word(static_cast<std::uint32_t>(std::get<std::int32_t>(value)), seed);
    case oid::kInt8:
    case oid::kTime:
    case oid::kTimestamp:
    case oid::kTimestamptz: return hash_long(std::get<std::int64_t>(value), seed);
    case oid::kFloat4: return hash_double(std::get<float>(value), seed);
    case oid::kFloat8: return hash_double(std::get<double>(value), seed);
    case oid::kNumeric: return hash_numeric(value, seed);
    case oid::kInterval: return hash_interval(std::get<Interval>(value), seed);
    case oid::kChar: {
      const std::string& text = std::get<std::string>(value);
      return hash_word(static_cast<std::uint32_t>(std::int32_t{text.empty() ? '\0' : static_cast<signed char>(text[0])}), seed);
    }
    case oid::kBpchar: return hash_bytes(without_trailing_blanks(std::get<std::string>(value)), seed);
    case oid::kXid8:
    case oid::kPgLsn: return hash_long(static_cast<std::int64_t>(to_unsigned_bits(std::get<std::int64_t>(value))), seed);
    case oid::kTid: return hash_tid(std::get<std::int64_t>(value), seed);
    case oid::kTimetz: return hash_zoned_time(std::get<std::string>(value), seed);
    case oid::kJsonb: return hash_jsonb_value(std::get<std::string>(value), seed);
    case oid::kAclitem: return hash_access_item(std::get<std::string>(value), seed);
    case oid::kOidVector: return hash_oid_vector(std::get<std::string>(value), seed);
    case oid::kInet:
    case oid::kCidr: {
      // Family, bits, address: the wire has two bytes more.
      std::string bytes = binary_form(type, value);
      return hash_bytes(bytes.erase(2, 2), seed);
    }
    case oid::kMacaddr:
    case oid::kMacaddr8:
    case oid::kUuid: return hash_bytes(binary_form(type, value), seed);
    case oid::kName:
    case oid::kText:
    case oid::kVarchar:
    case oid::kBytea: return hash_bytes(std::get<std::string>(value), seed);
    default: return hash_made_type(type, value, given);
  }
}

template <bool extended>
ColumnPtr hash_kernel(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Type type = arguments[0]->type();
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const Datum value = arguments[0]->datum(row);
    if constexpr (extended) {
      column.append(static_cast<std::int64_t>(hash_of(type, value, {static_cast<std::uint64_t>(arguments[1]->get<std::int64_t>(row)), true})));
    } else {
      column.append(static_cast<std::int32_t>(static_cast<std::uint32_t>(hash_of(type, value, {}))));
    }
  });
}

struct HashFunction {
  std::string_view name, extended;
  Oid type;
};
constexpr HashFunction kHashFunctions[] = {
    {"hashint2", "hashint2extended", oid::kInt2},
    {"hashint4", "hashint4extended", oid::kInt4},
    {"hashint8", "hashint8extended", oid::kInt8},
    {"hashoid", "hashoidextended", oid::kOid},
    {"hashfloat4", "hashfloat4extended", oid::kFloat4},
    {"hashfloat8", "hashfloat8extended", oid::kFloat8},
    {"hash_numeric", "hash_numeric_extended", oid::kNumeric},
    {"hashchar", "hashcharextended", oid::kChar},
    {"hashname", "hashnameextended", oid::kName},
    {"hashtext", "hashtextextended", oid::kText},
    {"hashbpchar", "hashbpcharextended", oid::kBpchar},
    {"hashinet", "hashinetextended", oid::kInet},
    {"hashmacaddr", "hashmacaddrextended", oid::kMacaddr},
    {"uuid_hash", "uuid_hash_extended", oid::kUuid},
    {"time_hash", "time_hash_extended", oid::kTime},
    {"timestamp_hash", "timestamp_hash_extended", oid::kTimestamp},
    {"interval_hash", "interval_hash_extended", oid::kInterval},
    {"timetz_hash", "timetz_hash_extended", oid::kTimetz},
    {"hashmacaddr8", "hashmacaddr8extended", oid::kMacaddr8},
    {"hashtid", "hashtidextended", oid::kTid},
    {"pg_lsn_hash", "pg_lsn_hash_extended", oid::kPgLsn},
    {"jsonb_hash", "jsonb_hash_extended", oid::kJsonb},
    {"hash_aclitem", "hash_aclitem_extended", oid::kAclitem},
    {"hashoidvector", "hashoidvectorextended", oid::kOidVector},
    {"hash_array", "hash_array_extended", oid::kAnyArray},
    {"hash_record", "hash_record_extended", oid::kRecord},
    {"hash_range", "hash_range_extended", oid::kAnyRange},
    {"hash_multirange", "hash_multirange_extended", oid::kAnyMultirange},
    {"hashenum", "hashenumextended", oid::kAnyEnum},
};

}  // namespace

std::vector<ScalarFunction> hash_functions() {
  std::vector<ScalarFunction> table;
  for (const HashFunction& function : kHashFunctions) {
    const Type type{function.type};
    table.push_back(column_function(function.name, {type}, kInt4, hash_kernel<false>, Volatility::kImmutable, true));
    table.push_back(column_function(function.extended, {type, kInt8}, kInt8, hash_kernel<true>, Volatility::kImmutable, true));
  }
  return table;
}

}  // namespace redquel::sql
