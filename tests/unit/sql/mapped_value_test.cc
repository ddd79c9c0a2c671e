#include "sql/catalog/mapped_value.h"

#include <gtest/gtest.h>

#include "sql/error.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

/// The timestamp that such a text stands for; or the SQLSTATE of its error.
std::string time_in_seconds(std::string_view text) {
  Mapping::Column column;
  column.format = Mapping::Format::kUnix;
  try {
    return format_value(kTimestamp, decode_mapped(column, kTimestamp, text));
  } catch (const SqlError& error) {
    return error.sqlstate();
  }
}

TEST(MappedValue, UnixTimesMayHaveExponents) {
  EXPECT_EQ(time_in_seconds("1795472480.8060985"), "2026-11-23 22:21:20.806098");
  EXPECT_EQ(time_in_seconds("1.7954724808060985e+9"), "2026-11-23 22:21:20.806098");
  EXPECT_EQ(time_in_seconds("1795472480"), time_in_seconds("1.79547248e9"));
  EXPECT_EQ(time_in_seconds("-1.5e+1"), "1969-12-31 23:59:45");
  EXPECT_EQ(time_in_seconds("1.5e-1"), "1970-01-01 00:00:00.15");
  EXPECT_EQ(time_in_seconds("2e-7"), "1970-01-01 00:00:00");
  EXPECT_EQ(time_in_seconds("15E3"), "1970-01-01 04:10:00");
}

TEST(MappedValue, OtherTextsAreNoUnixTimes) {
  for (const char* text : {"e5", "1e", "1e+", "1e5x", "--1e5", "1.2.3e4", "1e999999999999", "-", "1 e5", "xe5"}) EXPECT_EQ(time_in_seconds(text), "22P02") << text;
  EXPECT_EQ(time_in_seconds("1e30"), "22P02");
  EXPECT_EQ(time_in_seconds("1e15"), "22008");
}

}  // namespace
}  // namespace redquel::sql
