// pg_lsn, xid, xid8, cid: comparison, arithmetic of log positions, min and max.

#include "sql/functions/server_number_functions.h"

#include <functional>

#include "sql/error.h"
#include "sql/functions/ordered_numbers.h"
#include "sql/sqlstate.h"
#include "sql/types/server_numbers.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

template <class Operator>
bool holds_short(std::int32_t a, std::int32_t b) {
  return Operator{}(a, b);
}

Numeric as_numeric(std::int64_t position) { return Numeric::from_int128(static_cast<Int128>(to_unsigned_bits(position))); }

std::int64_t as_position(const Numeric& value) {
  static const Numeric kLimit = Numeric::from_int128(Int128{1} << 64);
  const auto out_of_range = [] { return SqlError(sqlstate::kInvalidParameterValue, "pg_lsn out of range"); };
  if (value.is_infinite()) throw SqlError(sqlstate::kFeatureNotSupported, "cannot convert infinity to pg_lsn");
  if (kLimit < value || value < Numeric() - kLimit) throw out_of_range();
  const Numeric whole = value.with_modifier((38 << 16 | 0) + 4);
  if (whole < Numeric() || !(whole < kLimit)) throw out_of_range();
  std::uint64_t bits = 0;
  for (const char digit : whole.to_string()) bits = bits * 10 + static_cast<std::uint64_t>(digit - '0');
  return from_unsigned_bits(bits);
}

Numeric distance(std::int64_t a, std::int64_t b) { return as_numeric(a) - as_numeric(b); }
std::int64_t add(std::int64_t position, const Numeric& bytes) {
  if (bytes.is_nan()) throw SqlError(sqlstate::kFeatureNotSupported, "cannot add NaN to pg_lsn");
  return as_position(as_numeric(position) + bytes);
}
std::int64_t add_to(const Numeric& bytes, std::int64_t position) { return add(position, bytes); }
std::int64_t subtract(std::int64_t position, const Numeric& bytes) {
  if (bytes.is_nan()) throw SqlError(sqlstate::kFeatureNotSupported, "cannot subtract NaN from pg_lsn");
  return as_position(as_numeric(position) - bytes);
}

std::int64_t numeric_position(const Numeric& value) {
  if (value.is_nan()) throw SqlError(sqlstate::kFeatureNotSupported, "cannot convert NaN to pg_lsn");
  return as_position(value);
}

std::int32_t compare_positions(std::int64_t a, std::int64_t b) { return a < b ? -1 : a > b ? 1 : 0; }

std::int32_t short_xid(std::int64_t xid) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(to_unsigned_bits(xid))); }

/// age() of transactions and multixacts: there are none that grow old. Those that never were are infinitely old.
std::int32_t transaction_age(std::int32_t xid) { return xid >= 0 && xid < 3 ? INT32_MAX : 0; }

// ---- snapshots -------------------------------------------------------------------------------------------------------
// Of txid_snapshot with int8, of pg_snapshot with xid8: `number_of` and `bits_of` are what these two are of a number.

std::int64_t plain_number(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }
std::uint64_t plain_bits(std::int64_t number) { return static_cast<std::uint64_t>(number); }

template <std::int64_t number_of(std::uint64_t)>
std::int64_t snapshot_begin(Text snapshot) {
  return number_of(parse_snapshot(snapshot).begin);
}
template <std::int64_t number_of(std::uint64_t)>
std::int64_t snapshot_end(Text snapshot) {
  return number_of(parse_snapshot(snapshot).end);
}
template <std::uint64_t bits_of(std::int64_t)>
bool is_visible_in(std::int64_t transaction, Text snapshot) {
  return parse_snapshot(snapshot).sees(bits_of(transaction));
}

/// Transactions are counted by the times at which they begin: those that began before this one are seen.
void current_snapshot(Context context, std::string& out) {
  const auto own = static_cast<std::uint64_t>(context.transaction_timestamp);
  out = snapshot_text({.begin = own, .end = own, .running = {}});
}

/// Nothing is kept of transactions that have ended: their state is unknown, as that of old ones is to PostgreSQL.
bool transaction_status(Context context, std::uint64_t transaction, std::string& out) {
  constexpr std::uint64_t kBootstrap = 1, kFrozen = 2;
  const auto own = static_cast<std::uint64_t>(context.transaction_timestamp);
  if (transaction > own) throw SqlError(sqlstate::kInvalidParameterValue, "transaction ID " + std::to_string(transaction) + " is in the future");
  if (transaction == own) out = "in progress";
  if (transaction == kBootstrap || transaction == kFrozen) out = "committed";
  return !out.empty();
}

class TransactionRows final : public RowSource {
 public:
  TransactionRows(Type type, std::vector<std::uint64_t> transactions) : type_(type), transactions_(std::move(transactions)) {}

  Batch next(std::size_t limit) override {
    Column numbers(type_);
    for (; next_ < transactions_.size() && numbers.size() < limit; ++next_) {
      const std::uint64_t transaction = transactions_[next_];
      numbers.append(type_ == kXid8 ? from_unsigned_bits(transaction) : plain_number(transaction));
    }
    return {numbers.size(), {std::make_shared<const Column>(std::move(numbers))}};
  }

 private:
  Type type_;
  std::vector<std::uint64_t> transactions_;
  std::size_t next_ = 0;
};

template <Oid number>
std::unique_ptr<RowSource> open_running(std::span<const Datum> arguments, const EvaluationContext&) {
  TransactionSnapshot snapshot;
  if (const auto* text = std::get_if<std::string>(&arguments[0])) snapshot = parse_snapshot(*text);
  return std::make_unique<TransactionRows>(Type{number}, std::move(snapshot.running));
}

void add_snapshots(std::vector<ScalarFunction>& table) {
  table.push_back(scalar<current_snapshot>("pg_current_snapshot", {}, kPgSnapshot, kStable));
  table.push_back(scalar<current_snapshot>("txid_current_snapshot", {}, kTxidSnapshot, kStable));
  table.push_back(scalar<snapshot_begin<from_unsigned_bits>>("pg_snapshot_xmin", {kPgSnapshot}, kXid8));
  table.push_back(scalar<snapshot_end<from_unsigned_bits>>("pg_snapshot_xmax", {kPgSnapshot}, kXid8));
  table.push_back(scalar<is_visible_in<to_unsigned_bits>>("pg_visible_in_snapshot", {kXid8, kPgSnapshot}, kBool));
  table.push_back(scalar<snapshot_begin<plain_number>>("txid_snapshot_xmin", {kTxidSnapshot}, kInt8));
  table.push_back(scalar<snapshot_end<plain_number>>("txid_snapshot_xmax", {kTxidSnapshot}, kInt8));
  table.push_back(scalar<is_visible_in<plain_bits>>("txid_visible_in_snapshot", {kInt8, kTxidSnapshot}, kBool));
  table.push_back(scalar<[](Context context, std::int64_t transaction, std::string& out) {
    return transaction_status(context, to_unsigned_bits(transaction), out);
  }>("pg_xact_status", {kXid8}, kText, Volatility::kVolatile));
  table.push_back(scalar<[](Context context, std::int64_t transaction, std::string& out) {
    return transaction_status(context, plain_bits(transaction), out);
  }>("txid_status", {kInt8}, kText, Volatility::kVolatile));
}

}  // namespace

std::vector<TableFunction> server_number_rows() {
  return {{"pg_snapshot_xip", {oid::kPgSnapshot}, {{"pg_snapshot_xip", oid::kXid8}}, open_running<oid::kXid8>},
          {"txid_snapshot_xip", {oid::kTxidSnapshot}, {{"txid_snapshot_xip", oid::kInt8}}, open_running<oid::kInt8>}};
}

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
  add_snapshots(table);
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
