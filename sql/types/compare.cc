#include "sql/types/compare.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <functional>
#include <type_traits>

#include "sql/types/datetime.h"
#include "sql/types/text_order.h"

namespace redquel::sql {
namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;

std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ (bits >> 32)) * kMultiplier;
  return bits ^ (bits >> 29);
}

bool is_unsigned(Oid type) {
  return type == oid::kOid || type == oid::kRegclass || type == oid::kRegtype || type == oid::kRegproc;
}

/// One overload per C++ type of a storage; the type decides where two SQL types share a storage.
template <class T>
int compare_values(Oid type, const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return compare_text_form(type, a, b);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return compare_values<std::string_view>(type, a, b);
  } else if constexpr (std::is_floating_point_v<T>) {
    return compare_floats(a, b);
  } else if constexpr (std::is_same_v<T, Numeric>) {
    return a.compare(b);
  } else if constexpr (std::is_same_v<T, Interval>) {
    return compare_intervals(a, b);
  } else if constexpr (std::is_same_v<T, Uuid>) {
    return std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size());
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    if (is_unsigned(type))
      return compare_values<std::int64_t>(type, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
    return (a > b) - (a < b);
  } else {
    return (a > b) - (a < b);
  }
}

template <class T>
std::uint64_t hash_value(Oid type, const T& value) {
  if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>) {
    return hash_text_form(type, value);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return kMultiplier;
    const double normal = value == 0 ? 0.0 : static_cast<double>(value);
    std::uint64_t bits;
    std::memcpy(&bits, &normal, sizeof bits);
    return mix(bits);
  } else if constexpr (std::is_same_v<T, Numeric>) {
    return value.hash();
  } else if constexpr (std::is_same_v<T, Interval>) {
    const Int128 folded = folded_microseconds(value);
    return mix(static_cast<std::uint64_t>(folded) ^ mix(static_cast<std::uint64_t>(folded >> 64)));
  } else if constexpr (std::is_same_v<T, Uuid>) {
    std::uint64_t halves[2];
    std::memcpy(halves, value.bytes.data(), sizeof halves);
    return mix(halves[0] ^ mix(halves[1]));
  } else {
    return mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
  }
}

/// Calls `use` with the C++ type that a column of this storage holds.
template <class Use>
auto with_storage(Storage storage, Use use) {
  switch (storage) {
    case Storage::kBool:
      return use(std::type_identity<bool>());
    case Storage::kInt2:
      return use(std::type_identity<std::int16_t>());
    case Storage::kInt4:
      return use(std::type_identity<std::int32_t>());
    case Storage::kInt8:
      return use(std::type_identity<std::int64_t>());
    case Storage::kFloat4:
      return use(std::type_identity<float>());
    case Storage::kFloat8:
      return use(std::type_identity<double>());
    case Storage::kNumeric:
      return use(std::type_identity<Numeric>());
    case Storage::kText:
      return use(std::type_identity<std::string_view>());
    case Storage::kInterval:
      return use(std::type_identity<Interval>());
    case Storage::kUuid:
      break;
  }
  return use(std::type_identity<Uuid>());
}

/// Reads without copying where the column can lend the value.
template <class T>
decltype(auto) value_of(const Column& column, std::size_t row) {
  if constexpr (std::is_same_v<T, bool>) {
    return column.get<bool>(row);
  } else {
    return column.ref<T>(row);
  }
}

}  // namespace

std::string_view without_trailing_blanks(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

int compare_text(std::string_view a, std::string_view b) {
  const std::size_t common = std::min(a.size(), b.size());
  const int order = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
  if (order != 0) return order;
  return (a.size() > b.size()) - (a.size() < b.size());
}

int compare_bpchar(std::string_view a, std::string_view b) {
  return compare_text(without_trailing_blanks(a), without_trailing_blanks(b));
}

int compare_floats(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return (a > b) - (a < b);
}

int compare(Type type, const Datum& a, const Datum& b) {
  assert(a.index() == b.index() && !is_null(a));
  return std::visit(
      [&](const auto& value) -> int {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::monostate>) {
          return 0;
        } else {
          return compare_values<Value>(type.oid, value, std::get<Value>(b));
        }
      },
      a);
}

int compare(const Column& a, std::size_t row_a, const Column& b, std::size_t row_b) {
  const Oid type = a.type().oid;
  return with_storage(storage_of(a.type()), [&](auto tag) {
    using Value = typename decltype(tag)::type;
    return compare_values<Value>(type, value_of<Value>(a, row_a), value_of<Value>(b, row_b));
  });
}

std::uint64_t hash(Type type, const Datum& value) {
  return std::visit(
      [&](const auto& alternative) -> std::uint64_t {
        using Value = std::decay_t<decltype(alternative)>;
        if constexpr (std::is_same_v<Value, std::monostate>) {
          return 0;
        } else {
          return hash_value<Value>(type.oid, alternative);
        }
      },
      value);
}

std::uint64_t hash(const Column& column, std::size_t row) {
  const Oid type = column.type().oid;
  return with_storage(storage_of(column.type()), [&](auto tag) {
    using Value = typename decltype(tag)::type;
    return hash_value<Value>(type, value_of<Value>(column, row));
  });
}

}  // namespace redquel::sql
