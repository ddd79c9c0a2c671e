// pg_lsn, xid, xid8, cid: comparison, arithmetic of log positions, min and max.

#include "sql/functions/server_number_functions.h"

#include <functional>

#include "sql/error.h"
#include "sql/functions/ordered_numbers.h"
#include "sql/types/more_types.h"
#include "sql/types/server_numbers.h"

namespace redquel::sql {
namespace {

template <class Operator>
bool holds_short(std::int32_t a, std::int32_t b) {
  return Operator{}(a, b);
}

Numeric as_numeric(std::int64_t position) { return Numeric::from_int128(static_cast<Int128>(to_unsigned_bits(position))); }

std::int64_t as_position(const Numeric& value) {
  static const Numeric kLimit = Numeric::from_int128(Int128{1} << 64);
  const Numeric whole = value.with_modifier((38 << 16 | 0) + 4);
  if (whole < Numeric() || !(whole < kLimit)) throw SqlError("22023", "pg_lsn out of range");
  std::uint64_t bits = 0;
  for (const char digit : whole.to_string()) bits = bits * 10 + static_cast<std::uint64_t>(digit - '0');
  return from_unsigned_bits(bits);
}

Numeric distance(std::int64_t a, std::int64_t b) { return as_numeric(a) - as_numeric(b); }
std::int64_t add(std::int64_t position, const Numeric& bytes) {
  if (bytes.is_nan()) throw SqlError("0A000", "cannot add NaN to pg_lsn");
  return as_position(as_numeric(position) + bytes);
}
std::int64_t add_to(const Numeric& bytes, std::int64_t position) { return add(position, bytes); }
std::int64_t subtract(std::int64_t position, const Numeric& bytes) {
  if (bytes.is_nan()) throw SqlError("0A000", "cannot subtract NaN from pg_lsn");
  return as_position(as_numeric(position) - bytes);
}

std::int64_t numeric_position(const Numeric& value) {
  if (value.is_nan()) throw SqlError("0A000", "cannot convert NaN to pg_lsn");
  if (value.is_infinite()) throw SqlError("0A000", "cannot convert infinity to pg_lsn");
  return as_position(value);
}

std::int32_t compare_positions(std::int64_t a, std::int64_t b) { return a < b ? -1 : a > b ? 1 : 0; }

std::int32_t short_xid(std::int64_t xid) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(to_unsigned_bits(xid))); }

/// age() of transactions and multixacts: there are none that grow old. Those that never were are infinitely old.
std::int32_t transaction_age(std::int32_t xid) { return xid >= 0 && xid < 3 ? INT32_MAX : 0; }

}  // namespace

std::vector<ScalarFunction> server_number_functions() {
  std::vector<ScalarFunction> table = {
      scalar<holds_short<std::equal_to<>>>("=", {kXid, kXid}, kBool),
      scalar<holds_short<std::not_equal_to<>>>("<>", {kXid, kXid}, kBool),
      scalar<holds_short<std::equal_to<>>>("=", {kXid, kInt4}, kBool),
      scalar<holds_short<std::not_equal_to<>>>("<>", {kXid, kInt4}, kBool),
      scalar<holds_short<std::equal_to<>>>("=", {kCid, kCid}, kBool),
      scalar<transaction_age>("age", {kXid}, kInt4, Volatility::kStable),
      scalar<transaction_age>("mxid_age", {kXid}, kInt4, Volatility::kStable),
      scalar<distance>("-", {kPgLsn, kPgLsn}, kNumeric),
      scalar<add>("+", {kPgLsn, kNumeric}, kPgLsn),
      scalar<add_to>("+", {kNumeric, kPgLsn}, kPgLsn),
      scalar<subtract>("-", {kPgLsn, kNumeric}, kPgLsn),
      scalar<numeric_position>("pg_lsn", {kNumeric}, kPgLsn),
      scalar<compare_positions>("pg_lsn_cmp", {kPgLsn, kPgLsn}, kInt4),
      scalar<compare_positions>("xid8cmp", {kXid8, kXid8}, kInt4),
      scalar<distance>("pg_wal_lsn_diff", {kPgLsn, kPgLsn}, kNumeric),
  };
  add_number_order(table, kPgLsn);
  add_number_order(table, kXid8);
  return table;
}

std::vector<CastFunction> server_number_casts() { return {cast<short_xid>(kXid8, kXid, CastContext::kExplicit)}; }

std::vector<AggregateFunction> server_number_aggregates() {
  std::vector<AggregateFunction> table;
  add_number_extremes(table, kPgLsn);
  add_number_extremes(table, kXid8);
  return table;
}

}  // namespace redquel::sql
