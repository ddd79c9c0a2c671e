// Hash functions of types (hashtext(…) and its like), which programs use to spread keys and to name advisory locks. Their numbers
// are PostgreSQL's: Bob Jenkins' lookup3 over the bytes that PostgreSQL has in memory.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "sql/functions/array_kernels.h"
#include "sql/functions/lift.h"
#include "sql/functions/more_families.h"
#include "sql/types/binary_io.h"
#include "sql/types/compare.h"
#include "sql/types/interval.h"
#include "sql/types/more_types.h"

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

/// The value is not NULL.
std::uint64_t hash_of(Type type, const Datum& value, std::uint64_t seed) {
  switch (type.oid) {
    case oid::kInt2: return hash_word(static_cast<std::uint32_t>(std::int32_t{std::get<std::int16_t>(value)}), seed);
    case oid::kInt4:
    case oid::kOid:
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
    case oid::kInet: {
      // Family, bits, address: the wire has two bytes more.
      std::string bytes = binary_form(type, value);
      return hash_bytes(bytes.erase(2, 2), seed);
    }
    case oid::kMacaddr:
    case oid::kUuid: return hash_bytes(binary_form(type, value), seed);
    default: return hash_bytes(std::get<std::string>(value), seed);
  }
}

template <bool extended>
ColumnPtr hash_kernel(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const Type type = arguments[0]->type();
  return each_strict_row(arguments, rows, result, [&](Column& column, std::size_t row) {
    const Datum value = arguments[0]->datum(row);
    if constexpr (extended) {
      column.append(static_cast<std::int64_t>(hash_of(type, value, static_cast<std::uint64_t>(arguments[1]->get<std::int64_t>(row)))));
    } else {
      column.append(static_cast<std::int32_t>(static_cast<std::uint32_t>(hash_of(type, value, 0))));
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
