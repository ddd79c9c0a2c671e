#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace redquel::sql {

enum class DateStyle : std::uint8_t { kIso, kSql, kPostgres, kGerman };
enum class DateOrder : std::uint8_t { kMdy, kDmy, kYmd };
enum class IntervalStyle : std::uint8_t { kPostgres, kPostgresVerbose, kSqlStandard, kIso8601 };
enum class ByteaOutput : std::uint8_t { kHex, kEscape };

/// The run-time parameters that change how values are read, printed or computed. The defaults are the form in which
/// values are stored in Redis (except the zone, which a session sets), so a default-constructed object is
/// the storage form.
struct SessionSettings {
  DateStyle date_style = DateStyle::kIso;
  DateOrder date_order = DateOrder::kMdy;
  IntervalStyle interval_style = IntervalStyle::kPostgres;
  ByteaOutput bytea_output = ByteaOutput::kHex;
  int extra_float_digits = 1;
  std::string time_zone = "UTC";

  friend bool operator==(const SessionSettings&, const SessionSettings&) = default;
};

}  // namespace redquel::sql
