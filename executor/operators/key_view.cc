#include "executor/operators/key_view.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

#include "sql/types/compare.h"
#include "sql/types/datetime.h"
#include "sql/types/text_order.h"

namespace redquel::executor {

namespace {

using Kind = KeyView::Kind;

__extension__ using Unsigned128 = unsigned __int128;

/// Hashes differ from process to process, so that clients cannot prepare keys that collide.
std::uint64_t process_seed() {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }();
  return seed;
}

/// One-to-one, every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93U;
  x ^= x >> 29;
  x *= 0x9FB21C651E98DF25U;
  x ^= x >> 32;
  return x;
}

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const Unsigned128 product = static_cast<Unsigned128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t hash_bytes(const char* bytes, std::size_t size, std::uint64_t seed) {
  constexpr std::uint64_t kWord = 0xA24BAED4963EE407U, kTail = 0x9E6C63D0676A9A99U;
  std::uint64_t hash = seed ^ (size * kTail);
  for (; size >= 8; size -= 8, bytes += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    hash = fold(hash ^ word, kWord) + kTail;
  }
  std::uint64_t tail = 0;
  if (size > 0) std::memcpy(&tail, bytes, size);
  return mix(hash ^ fold(tail ^ kTail, kWord));
}

template <class Float>
Float canonical(Float value) {
  if (std::isnan(value)) return std::numeric_limits<Float>::quiet_NaN();
  return value == 0 ? Float{0} : value;
}

std::string_view text_of(const KeyView& view, std::size_t row) {
  const auto& text = view.value<std::string_view>(row);
  return view.kind() == Kind::kPaddedText ? sql::without_trailing_blanks(text) : text;
}

/// Calls `function` with the kind as a compile-time constant.
template <class Function>
decltype(auto) dispatch(Kind kind, Function function) {
  switch (kind) {
    case Kind::kByte:
      return function(std::integral_constant<Kind, Kind::kByte>());
    case Kind::kInt2:
      return function(std::integral_constant<Kind, Kind::kInt2>());
    case Kind::kInt4:
      return function(std::integral_constant<Kind, Kind::kInt4>());
    case Kind::kUnsigned4:
      return function(std::integral_constant<Kind, Kind::kUnsigned4>());
    case Kind::kInt8:
      return function(std::integral_constant<Kind, Kind::kInt8>());
    case Kind::kFloat4:
      return function(std::integral_constant<Kind, Kind::kFloat4>());
    case Kind::kFloat8:
      return function(std::integral_constant<Kind, Kind::kFloat8>());
    case Kind::kNumeric:
      return function(std::integral_constant<Kind, Kind::kNumeric>());
    case Kind::kText:
      return function(std::integral_constant<Kind, Kind::kText>());
    case Kind::kPaddedText:
      return function(std::integral_constant<Kind, Kind::kPaddedText>());
    case Kind::kInterval:
      return function(std::integral_constant<Kind, Kind::kInterval>());
    case Kind::kTypedText:
      return function(std::integral_constant<Kind, Kind::kTypedText>());
    case Kind::kUuid:
      break;
  }
  return function(std::integral_constant<Kind, Kind::kUuid>());
}

bool is_unsigned(sql::Oid type) {
  return type == sql::oid::kOid || type == sql::oid::kRegclass || type == sql::oid::kRegtype ||
         type == sql::oid::kRegproc;
}

template <Kind kKind>
std::uint64_t hash_value(const KeyView& view, std::size_t row, std::uint64_t seed) {
  if constexpr (kKind == Kind::kByte) {
    return mix(seed ^ view.value<std::uint8_t>(row));
  } else if constexpr (kKind == Kind::kInt2) {
    return mix(seed ^ static_cast<std::uint16_t>(view.value<std::int16_t>(row)));
  } else if constexpr (kKind == Kind::kInt4 || kKind == Kind::kUnsigned4) {
    return mix(seed ^ static_cast<std::uint32_t>(view.value<std::int32_t>(row)));
  } else if constexpr (kKind == Kind::kInt8) {
    return mix(seed ^ static_cast<std::uint64_t>(view.value<std::int64_t>(row)));
  } else if constexpr (kKind == Kind::kFloat4) {
    return mix(seed ^ std::bit_cast<std::uint32_t>(canonical(view.value<float>(row))));
  } else if constexpr (kKind == Kind::kFloat8) {
    return mix(seed ^ std::bit_cast<std::uint64_t>(canonical(view.value<double>(row))));
  } else if constexpr (kKind == Kind::kNumeric) {
    return mix(seed ^ view.value<sql::Numeric>(row).hash());
  } else if constexpr (kKind == Kind::kInterval) {
    const sql::Int128 folded = sql::folded_microseconds(view.value<sql::Interval>(row));
    return mix(seed ^ static_cast<std::uint64_t>(folded) ^ mix(static_cast<std::uint64_t>(folded >> 64)));
  } else if constexpr (kKind == Kind::kTypedText) {
    return mix(seed ^ sql::hash_text_form(view.type(), view.value<std::string_view>(row)));
  } else if constexpr (kKind == Kind::kUuid) {
    return hash_bytes(reinterpret_cast<const char*>(view.value<sql::Uuid>(row).bytes.data()), 16, seed);
  } else {
    const std::string_view text = text_of(view, row);
    return hash_bytes(text.data(), text.size(), seed);
  }
}

template <class Integer>
int order(Integer a, Integer b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/// Returns the first eight bytes as a number: the order of texts as far as these bytes determine it.
std::uint64_t leading_bytes(const void* bytes, std::size_t size) {
  std::uint64_t word = 0;
  if (size > 0) std::memcpy(&word, bytes, size < 8 ? size : 8);
  return __builtin_bswap64(word);
}

template <class Float>
std::uint64_t float_bits(Float value) {
  static_assert(sizeof(Float) == 8);
  value = canonical(value);
  if (std::isnan(value)) return ~std::uint64_t{0};
  const auto bits = std::bit_cast<std::uint64_t>(value);
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

std::uint64_t signed_bits(std::int64_t value) { return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63); }

}  // namespace

Kind KeyView::kind_of(sql::Type type) {
  switch (sql::storage_of(type)) {
    case sql::Storage::kBool:
      return Kind::kByte;
    case sql::Storage::kInt2:
      return Kind::kInt2;
    case sql::Storage::kInt4:
      return is_unsigned(type.oid) ? Kind::kUnsigned4 : Kind::kInt4;
    case sql::Storage::kInt8:
      return Kind::kInt8;
    case sql::Storage::kFloat4:
      return Kind::kFloat4;
    case sql::Storage::kFloat8:
      return Kind::kFloat8;
    case sql::Storage::kNumeric:
      return Kind::kNumeric;
    case sql::Storage::kText:
      if (type.oid == sql::oid::kBpchar) return Kind::kPaddedText;
      return sql::compares_as_bytes(type.oid) ? Kind::kText : Kind::kTypedText;
    case sql::Storage::kInterval:
      return Kind::kInterval;
    case sql::Storage::kUuid:
      break;
  }
  return Kind::kUuid;
}

KeyView::KeyView(const sql::Column& column)
    : kind_(kind_of(column.type())),
      type_(column.type().oid),
      stride_(column.is_constant() ? 0 : 1),
      nulls_(column.has_nulls() ? column.null_mask().data() : nullptr) {
  assert(!column.is_encoded());
  switch (kind_) {
    case Kind::kByte:
      values_ = column.values<std::uint8_t>().data();
      break;
    case Kind::kInt2:
      values_ = column.values<std::int16_t>().data();
      break;
    case Kind::kInt4:
    case Kind::kUnsigned4:
      values_ = column.values<std::int32_t>().data();
      break;
    case Kind::kInt8:
      values_ = column.values<std::int64_t>().data();
      break;
    case Kind::kFloat4:
      values_ = column.values<float>().data();
      break;
    case Kind::kFloat8:
      values_ = column.values<double>().data();
      break;
    case Kind::kNumeric:
      values_ = column.values<sql::Numeric>().data();
      break;
    case Kind::kText:
    case Kind::kPaddedText:
    case Kind::kTypedText:
      values_ = column.values<std::string_view>().data();
      break;
    case Kind::kInterval:
      values_ = column.values<sql::Interval>().data();
      break;
    case Kind::kUuid:
      values_ = column.values<sql::Uuid>().data();
      break;
  }
}

KeyViews views_of(std::span<const sql::ColumnPtr> columns) {
  KeyViews views;
  views.reserve(columns.size());
  for (const sql::ColumnPtr& column : columns) views.emplace_back(*column);
  return views;
}

bool equal_values(const KeyView& a, std::size_t row_a, const KeyView& b, std::size_t row_b) {
  switch (a.kind()) {
    case Kind::kByte:
      return a.value<std::uint8_t>(row_a) == b.value<std::uint8_t>(row_b);
    case Kind::kInt2:
      return a.value<std::int16_t>(row_a) == b.value<std::int16_t>(row_b);
    case Kind::kInt4:
    case Kind::kUnsigned4:
      return a.value<std::int32_t>(row_a) == b.value<std::int32_t>(row_b);
    case Kind::kInt8:
      return a.value<std::int64_t>(row_a) == b.value<std::int64_t>(row_b);
    case Kind::kText:
      return a.value<std::string_view>(row_a) == b.value<std::string_view>(row_b);
    case Kind::kUuid:
      return a.value<sql::Uuid>(row_a) == b.value<sql::Uuid>(row_b);
    case Kind::kTypedText:
      return sql::equal_text_form(a.type(), a.value<std::string_view>(row_a), b.value<std::string_view>(row_b));
    default:
      return compare_values(a, row_a, b, row_b) == 0;
  }
}

int compare_values(const KeyView& a, std::size_t row_a, const KeyView& b, std::size_t row_b) {
  switch (a.kind()) {
    case Kind::kByte:
      return order(a.value<std::uint8_t>(row_a), b.value<std::uint8_t>(row_b));
    case Kind::kInt2:
      return order(a.value<std::int16_t>(row_a), b.value<std::int16_t>(row_b));
    case Kind::kInt4:
      return order(a.value<std::int32_t>(row_a), b.value<std::int32_t>(row_b));
    case Kind::kUnsigned4:
      return order(static_cast<std::uint32_t>(a.value<std::int32_t>(row_a)),
                   static_cast<std::uint32_t>(b.value<std::int32_t>(row_b)));
    case Kind::kInt8:
      return order(a.value<std::int64_t>(row_a), b.value<std::int64_t>(row_b));
    case Kind::kFloat4:
      return sql::compare_floats(a.value<float>(row_a), b.value<float>(row_b));
    case Kind::kFloat8:
      return sql::compare_floats(a.value<double>(row_a), b.value<double>(row_b));
    case Kind::kNumeric:
      return a.value<sql::Numeric>(row_a).compare(b.value<sql::Numeric>(row_b));
    case Kind::kText:
      return sql::compare_text(a.value<std::string_view>(row_a), b.value<std::string_view>(row_b));
    case Kind::kPaddedText:
      return sql::compare_text(text_of(a, row_a), text_of(b, row_b));
    case Kind::kInterval:
      return sql::compare_intervals(a.value<sql::Interval>(row_a), b.value<sql::Interval>(row_b));
    case Kind::kTypedText:
      return sql::compare_text_form(a.type(), a.value<std::string_view>(row_a), b.value<std::string_view>(row_b));
    case Kind::kUuid:
      break;
  }
  return std::memcmp(a.value<sql::Uuid>(row_a).bytes.data(), b.value<sql::Uuid>(row_b).bytes.data(), 16);
}

void hash_rows(const KeyViews& keys, std::size_t rows, std::vector<std::uint64_t>& hashes) {
  constexpr std::uint64_t kNullHash = 0x5851F42D4C957F2DU;
  const std::uint64_t seed = process_seed();
  hashes.assign(rows, seed);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const KeyView& key = keys[i];
    dispatch(key.kind(), [&](auto kind) {
      // The hash so far is the seed of the next: order of columns matters, and one column of integers stays one-to-one.
      for (std::size_t row = 0; row < rows; ++row) {
        hashes[row] = key.is_null(row) ? mix(hashes[row] ^ kNullHash) : hash_value<kind.value>(key, row, hashes[row]);
      }
    });
  }
}

std::uint64_t order_bits(const KeyView& key, std::size_t row) {
  switch (key.kind()) {
    case Kind::kByte:
      return key.value<std::uint8_t>(row);
    case Kind::kInt2:
      return signed_bits(key.value<std::int16_t>(row));
    case Kind::kInt4:
      return signed_bits(key.value<std::int32_t>(row));
    case Kind::kUnsigned4:
      return static_cast<std::uint32_t>(key.value<std::int32_t>(row));
    case Kind::kInt8:
      return signed_bits(key.value<std::int64_t>(row));
    case Kind::kFloat4:
      return float_bits(static_cast<double>(key.value<float>(row)));
    case Kind::kFloat8:
      return float_bits(key.value<double>(row));
    case Kind::kNumeric:
      return float_bits(key.value<sql::Numeric>(row).to_nearest_double());
    case Kind::kText:
    case Kind::kPaddedText: {
      const std::string_view text = text_of(key, row);
      return leading_bytes(text.data(), text.size());
    }
    case Kind::kInterval: {
      // The upper of 128 bits; a quotient keeps the order.
      const sql::Int128 folded = sql::folded_microseconds(key.value<sql::Interval>(row)) >> 12;
      return signed_bits(static_cast<std::int64_t>(folded));
    }
    case Kind::kTypedText:
      return 0;
    case Kind::kUuid:
      break;
  }
  return leading_bytes(key.value<sql::Uuid>(row).bytes.data(), 16);
}

bool order_bits_are_exact(Kind kind) { return kind <= Kind::kFloat8; }

}  // namespace redquel::executor
