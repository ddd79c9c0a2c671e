#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type.h"

namespace redquel::sql {

// The numbers that PostgreSQL's server gives: xid, cid (32 bits), xid8, pg_lsn (64 bits), all without a sign. Those of 64 bits lie in
// memory with their upper bit turned round, so that their order is that of int8.

namespace oid {
inline constexpr Oid kXid = 28, kCid = 29, kXid8 = 5069, kPgSnapshot = 5038, kTxidSnapshot = 2970;
}  // namespace oid

inline constexpr Type kXid{oid::kXid}, kCid{oid::kCid}, kXid8{oid::kXid8}, kPgSnapshot{oid::kPgSnapshot}, kTxidSnapshot{oid::kTxidSnapshot};

constexpr std::int64_t from_unsigned_bits(std::uint64_t bits) { return static_cast<std::int64_t>(bits ^ std::uint64_t{1} << 63); }
constexpr std::uint64_t to_unsigned_bits(std::int64_t value) { return static_cast<std::uint64_t>(value) ^ std::uint64_t{1} << 63; }

/// Read like strtoul(): blanks and a sign in front, octal and hexadecimal digits, anything behind. Never an error.
std::int32_t parse_xid(std::string_view text);
std::int64_t parse_xid8(std::string_view text);

/// 16/B374D848: two hexadecimal numbers of at most eight digits. 22P02.
std::int64_t parse_log_position(std::string_view text);
void append_log_position(std::int64_t position, std::string& out);

/// The transactions that a statement sees: those below `begin`, and those below `end` that are not in `running`. The text form, in which
/// values of pg_snapshot and txid_snapshot lie in columns, is 10:20:12,15.
struct TransactionSnapshot {
  std::uint64_t begin = 0, end = 0;
  std::vector<std::uint64_t> running;  // in order, none twice

  bool sees(std::uint64_t transaction) const;
};
/// 22P02.
TransactionSnapshot parse_snapshot(std::string_view text);
std::string snapshot_text(const TransactionSnapshot& snapshot);

}  // namespace redquel::sql
