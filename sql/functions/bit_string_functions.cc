// Bit strings (manual 9.6) with their casts and aggregates.

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/byte_comparison.h"
#include "sql/functions/families.h"
#include "sql/functions/group_states.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/bit_string.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

using Bits = std::string_view;

struct And {
  static constexpr std::string_view kName = "AND";
  static bool apply(bool a, bool b) { return a && b; }
};
struct Or {
  static constexpr std::string_view kName = "OR";
  static bool apply(bool a, bool b) { return a || b; }
};
struct Xor {
  static constexpr std::string_view kName = "XOR";
  static bool apply(bool a, bool b) { return a != b; }
};

template <class Operation>
void combine(Bits a, Bits b, std::string& out) {
  if (a.size() != b.size()) {
    throw SqlError(sqlstate::kStringDataLengthMismatch, fmt::format("cannot {} bit strings of different sizes", Operation::kName));
  }
  for (std::size_t i = 0; i < a.size(); ++i) out.push_back(Operation::apply(a[i] == '1', b[i] == '1') ? '1' : '0');
}
void invert(Bits bits, std::string& out) {
  for (const char bit : bits) out.push_back(bit == '1' ? '0' : '1');
}
void shift_right(Bits bits, Int distance, std::string& out);
void shift_left(Bits bits, Int distance, std::string& out) {
  if (distance < 0) return shift_right(bits, distance == INT32_MIN ? INT32_MAX : -distance, out);
  const std::size_t moved = std::min(static_cast<std::size_t>(distance), bits.size());
  out.append(bits.substr(moved)).append(moved, '0');
}
void shift_right(Bits bits, Int distance, std::string& out) {
  if (distance < 0) return shift_left(bits, distance == INT32_MIN ? INT32_MAX : -distance, out);
  const std::size_t moved = std::min(static_cast<std::size_t>(distance), bits.size());
  out.append(moved, '0').append(bits.substr(0, bits.size() - moved));
}
void concatenate(Bits a, Bits b, std::string& out) { out.append(a).append(b); }

Int length(Bits bits) { return static_cast<Int>(bits.size()); }
Int octets(Bits bits) { return static_cast<Int>((bits.size() + 7) / 8); }
std::int64_t ones(Bits bits) { return std::ranges::count(bits, '1'); }

Bits from(Bits bits, std::int64_t start, std::int64_t count) {
  const std::int64_t end = std::min<std::int64_t>(start + count, length(bits) + std::int64_t{1});
  start = std::max<std::int64_t>(start, 1);
  if (end <= start) return {};
  return bits.substr(static_cast<std::size_t>(start - 1), static_cast<std::size_t>(end - start));
}
Bits substring_to_end(Bits bits, Int start) { return from(bits, start, std::int64_t{1} << 32); }
Bits substring(Bits bits, Int start, Int count) {
  if (count < 0) throw negative_substring_length();
  return from(bits, start, count);
}
Int position(Bits bits, Bits part) {
  const std::size_t found = bits.empty() ? Bits::npos : bits.find(part);
  return found == Bits::npos ? 0 : static_cast<Int>(found) + 1;
}
void overlay_length(Bits bits, Bits part, Int start, Int count, std::string& out) {
  if (start <= 0) throw negative_substring_length();
  Int end;
  if (__builtin_add_overflow(start, count, &end)) throw number_out_of_range("integer");
  out.append(from(bits, 1, start - 1)).append(part).append(substring_to_end(bits, end));
}
void overlay(Bits bits, Bits part, Int start, std::string& out) { overlay_length(bits, part, start, length(part), out); }

std::size_t checked(Bits bits, Int index) {
  if (index >= 0 && index < length(bits)) return static_cast<std::size_t>(index);
  throw SqlError(sqlstate::kArraySubscriptError, fmt::format("bit index {} out of valid range (0..{})", index, length(bits) - 1));
}
Int get_bit(Bits bits, Int index) { return bits[checked(bits, index)] - '0'; }
void set_bit(Bits bits, Int index, Int value, std::string& out) {
  const std::size_t at = checked(bits, index);
  if (value != 0 && value != 1) throw SqlError(sqlstate::kInvalidParameterValue, "new bit must be 0 or 1");
  out = bits;
  out[at] = static_cast<char>('0' + value);
}

// ---- casts ----------------------------------------------------------------------------------------------------------

/// The length is that of the target type: bit(n).
template <class Integer>
ColumnPtr integer_to_bits(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  Column column(result);
  column.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    if (arguments[0]->is_null(row)) {
      column.append_null();
    } else {
      column.append(bits_of_integer(arguments[0]->get<Integer>(row), result.modifier));
    }
  }
  return std::make_shared<const Column>(std::move(column));
}

template <class Integer>
Integer integer_of_bits(Bits bits) {
  constexpr std::size_t kWidth = sizeof(Integer) * 8;
  if (bits.size() > kWidth) {
    throw SqlError(sqlstate::kNumericValueOutOfRange, kWidth == 32 ? "integer out of range" : "bigint out of range");
  }
  std::uint64_t number = 0;
  for (const char bit : bits) number = number << 1 | (bit == '1' ? 1U : 0U);
  return static_cast<Integer>(number);
}

// ---- aggregates -----------------------------------------------------------------------------------------------------

template <class Operation>
struct Combined {
  std::string bits;
  bool seen = false;

  void add(Bits value) {
    std::string next;
    if (seen) {
      combine<Operation>(bits, value, next);
    } else {
      next = value;
    }
    bits = std::move(next);
    seen = true;
  }
  std::optional<std::string> result() const { return seen ? std::optional(bits) : std::nullopt; }
  std::size_t heap() const { return bits.capacity(); }
};

}  // namespace

std::vector<ScalarFunction> bit_string_functions() {
  std::vector<ScalarFunction> table = {
      scalar<combine<And>>("&", {kBit, kBit}, kBit),
      scalar<combine<Or>>("|", {kBit, kBit}, kBit),
      scalar<combine<Xor>>("#", {kBit, kBit}, kBit),
      scalar<invert>("~", {kBit}, kBit),
      scalar<shift_left>("<<", {kBit, kInt4}, kBit),
      scalar<shift_right>(">>", {kBit, kInt4}, kBit),
      scalar<concatenate>("||", {kVarbit, kVarbit}, kVarbit),
      scalar<length>("length", {kBit}, kInt4),
      scalar<length>("bit_length", {kBit}, kInt4),
      scalar<octets>("octet_length", {kBit}, kInt4),
      scalar<ones>("bit_count", {kBit}, kInt8),
      scalar<substring_to_end>("substring", {kBit, kInt4}, kBit),
      scalar<substring>("substring", {kBit, kInt4, kInt4}, kBit),
      scalar<position>("position", {kBit, kBit}, kInt4),
      scalar<overlay>("overlay", {kBit, kBit, kInt4}, kBit),
      scalar<overlay_length>("overlay", {kBit, kBit, kInt4, kInt4}, kBit),
      scalar<get_bit>("get_bit", {kBit, kInt4}, kInt4),
      scalar<set_bit>("set_bit", {kBit, kInt4, kInt4}, kBit),
  };
  for (const Type type : {kBit, kVarbit}) {
    append_byte_comparisons(table, type);
  }
  return table;
}

std::vector<CastFunction> bit_string_casts() {
  constexpr auto kExplicit = CastContext::kExplicit, kImplicit = CastContext::kImplicit;
  return {
      {oid::kBit, oid::kVarbit, kImplicit, nullptr},
      {oid::kVarbit, oid::kBit, kImplicit, nullptr},
      {oid::kInt4, oid::kBit, kExplicit, integer_to_bits<std::int32_t>},
      {oid::kInt8, oid::kBit, kExplicit, integer_to_bits<std::int64_t>},
      cast<integer_of_bits<std::int32_t>>(kBit, kInt4, kExplicit),
      cast<integer_of_bits<std::int64_t>>(kBit, kInt8, kExplicit),
  };
}

std::vector<AggregateFunction> bit_string_aggregates() {
  return {
      aggregate<Bits, Combined<And>>("bit_and", kBit, kBit),
      aggregate<Bits, Combined<Or>>("bit_or", kBit, kBit),
      aggregate<Bits, Combined<Xor>>("bit_xor", kBit, kBit),
  };
}

}  // namespace redquel::sql
