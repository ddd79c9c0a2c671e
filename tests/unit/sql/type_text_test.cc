#include <gtest/gtest.h>

#include "sql/error.h"
#include "sql/types/binary_io.h"
#include "sql/types/byte_text.h"
#include "sql/types/datetime.h"
#include "sql/types/number_text.h"
#include "sql/types/text_io.h"

// Cases beyond the case files: the clock, zones, invalid bytes, broken binary values, type names.
namespace redquel::sql {
namespace {

template <class Action>
std::string failure_of(Action action) {
  try {
    action();
  } catch (const SqlError& error) {
    return error.sqlstate() + " " + error.message();
  }
  return "no error";
}

TEST(DateTimeText, TakesNowFromTheTransaction) {
  SessionSettings settings;
  const std::int64_t now = parse_timestamptz("2020-03-01 23:30:00+00", settings);
  EXPECT_EQ(parse_timestamptz("now", settings, now), now);
  EXPECT_EQ(format_value(kDate, parse_date("today", settings, now)), "2020-03-01");
  EXPECT_EQ(format_value(kDate, parse_date("yesterday", settings, now)), "2020-02-29");
  settings.time_zone = "Europe/Berlin";  // past midnight there
  EXPECT_EQ(format_value(kDate, parse_date("today", settings, now)), "2020-03-02");
  EXPECT_EQ(format_value(kTimestamp, parse_timestamp("tomorrow 10:00", settings, now)), "2020-03-03 10:00:00");
  EXPECT_EQ(format_value(kTimestamptz, parse_timestamptz("tomorrow", settings, now)), "2020-03-02 23:00:00+00");
  EXPECT_EQ(format_value(kTime, parse_time("now", settings, now)), "00:30:00");
}

TEST(TimeZones, AreFoundByNameStringAndNumber) {
  EXPECT_EQ(normalize_time_zone("europe/berlin"), "Europe/Berlin");
  EXPECT_EQ(normalize_time_zone("+02"), "<+02>-02");
  EXPECT_EQ(normalize_time_zone("-3.5"), "<-03:30>+03:30");
  EXPECT_EQ(normalize_time_zone("foo5bar"), "FOO5BAR");
  EXPECT_EQ(normalize_time_zone("PST8PDT"), "PST8PDT");
  EXPECT_EQ(normalize_time_zone("nosuch"), std::nullopt);
  EXPECT_EQ(normalize_time_zone("200"), std::nullopt);
  EXPECT_EQ(normalize_time_zone("../../etc/passwd"), std::nullopt);
  EXPECT_EQ(normalize_time_zone("/etc/localtime"), std::nullopt);
  EXPECT_EQ(normalize_time_zone(""), std::nullopt);
  EXPECT_EQ(normalize_time_zone(std::string(10'000, 'A') + "5"), std::nullopt);
  EXPECT_EQ(find_time_zone("Europe/Berlin"), find_time_zone("EUROPE/BERLIN"));
  // Beyond the transitions that a file lists, its rule goes on.
  EXPECT_EQ(time_zone_named("Europe/Berlin").at(parse_timestamp("2150-07-01 00:00:00", {})).offset, 7200);
}

TEST(Utf8, IsCheckedByteByByte) {
  EXPECT_TRUE(is_valid_utf8("plain ASCII, longer than a word"));
  EXPECT_TRUE(is_valid_utf8("äöü 日本語 \xF0\x9F\x98\x80"));
  for (const std::string_view bad : {"\xFF", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                     "12345678\x80", "\xF8\x88\x80\x80\x80"})
    EXPECT_FALSE(is_valid_utf8(bad));
  EXPECT_FALSE(is_valid_utf8(std::string_view("a\0b", 3)));
  EXPECT_EQ(failure_of([] { check_utf8("abc\xE4 o"); }),
            "22021 invalid byte sequence for encoding \"UTF8\": 0xe4 0x20 0x6f");
  EXPECT_EQ(failure_of([] { check_utf8(std::string_view("a\0", 2)); }),
            "22021 invalid byte sequence for encoding \"UTF8\": 0x00");
  EXPECT_EQ(utf8_length("äöü"), 3u);
  EXPECT_EQ(utf8_prefix("äöü", 2), 4u);
}

TEST(BinaryForms, AreBoundedBeforeTheyAreBelieved) {
  const std::string_view nothing;
  EXPECT_EQ(failure_of([&] { decode_binary(kInt4, nothing); }), "08P01 insufficient data left in message");
  EXPECT_EQ(failure_of([] { decode_binary(kInt4, "12345"); }), "22P03 incorrect binary data format");
  EXPECT_EQ(failure_of([] { decode_binary(kUuid, "12345"); }), "08P01 insufficient data left in message");
  EXPECT_EQ(failure_of([] { decode_binary(kText, "\xFF"); }),
            "22021 invalid byte sequence for encoding \"UTF8\": 0xff");
  EXPECT_EQ(failure_of([] { decode_binary(kNumeric, std::string_view("\x7F\xFF\0\0\0\0\0\0", 8)); }),
            "08P01 insufficient data left in message");
  EXPECT_EQ(failure_of([] { decode_binary(kNumeric, std::string_view("\0\0\0\0\x12\x34\0\0", 8)); }),
            "22P03 invalid sign in external \"numeric\" value");
  EXPECT_EQ(failure_of([] { decode_binary(kNumeric, std::string_view("\0\1\0\0\0\0\0\0\x27\x10", 10)); }),
            "22P03 invalid digit in external \"numeric\" value");
  EXPECT_EQ(failure_of([] { decode_binary(kDate, "\x7F\xFF\xFF\xFE"); }), "22008 date out of range");
  EXPECT_EQ(failure_of([] { decode_binary(kTime, "\x7F\xFF\xFF\xFE\x7F\xFF\xFF\xFE"); }), "22008 time out of range");
  EXPECT_EQ(failure_of([] { decode_binary(kTimestamp, "\x7F\xFF\xFF\xFE\x7F\xFF\xFF\xFE"); }),
            "22008 timestamp out of range");
  // The largest weight is in range with one digit; a tiny weight is cut away by the scale.
  EXPECT_EQ(
      std::get<Numeric>(decode_binary(kNumeric, std::string_view("\0\1\x7F\xFF\0\0\0\0\0\1", 10))).to_string().size(),
      131069u);
  EXPECT_TRUE(std::get<Numeric>(decode_binary(kNumeric, std::string_view("\0\1\x80\0\0\0\0\2\0\1", 10))).is_zero());
}

TEST(Types, AreNamedWithTheirModifiers) {
  const auto shown = [](Oid oid, std::vector<std::int32_t> written) {
    return format_type({oid, encode_modifier(oid, written)});
  };
  EXPECT_EQ(shown(oid::kVarchar, {20}), "character varying(20)");
  EXPECT_EQ(shown(oid::kBpchar, {1}), "character(1)");
  EXPECT_EQ(shown(oid::kNumeric, {10, 2}), "numeric(10,2)");
  EXPECT_EQ(shown(oid::kNumeric, {10, -2}), "numeric(10,-2)");
  EXPECT_EQ(shown(oid::kTime, {3}), "time(3) without time zone");
  EXPECT_EQ(shown(oid::kTimestamptz, {9}), "timestamp(6) with time zone");
  EXPECT_EQ(shown(oid::kInterval, {interval_field::kAll, 3}), "interval(3)");
  EXPECT_EQ(shown(oid::kInterval, {interval_field::kYear | interval_field::kMonth}), "interval year to month");
  EXPECT_EQ(format_type({oid::kInt4Array}), "integer[]");
  EXPECT_EQ(failure_of([] { encode_modifier(oid::kText, std::vector<std::int32_t>{3}); }),
            "42601 type modifier is not allowed for type \"text\"");
  EXPECT_EQ(failure_of([] { encode_modifier(oid::kVarchar, std::vector<std::int32_t>{0}); }),
            "22023 length for type varchar must be at least 1");
  for (const TypeInfo& info : all_types()) EXPECT_EQ(find_type(info.name), &info);
}

TEST(Numerics, StayWithinTheirLimits) {
  const Numeric most = Numeric::parse("9e131071");
  EXPECT_EQ(failure_of([&] { most* Numeric(10); }), "22003 value overflows numeric format");
  EXPECT_EQ(failure_of([&] { most + most; }), "22003 value overflows numeric format");
  EXPECT_EQ((Numeric::parse("1e-16383") * Numeric::parse("0.4")).sign(), 0);
  EXPECT_EQ((Numeric::parse("1e-16383") * Numeric::parse("0.5")).scale(), Numeric::kMaxScale);
  EXPECT_EQ(Numeric::parse("1e100").to_string().size(), 101u);
  EXPECT_EQ(Numeric(std::numeric_limits<std::int64_t>::min()).negated().to_string(), "9223372036854775808");
  EXPECT_EQ((Numeric(std::numeric_limits<std::int64_t>::min()) % Numeric(-1)).to_string(), "0");
}

}  // namespace
}  // namespace redquel::sql
