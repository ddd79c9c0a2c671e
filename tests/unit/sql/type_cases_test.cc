#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "sql/error.h"
#include "sql/session_settings.h"
#include "sql/types/binary_io.h"
#include "sql/types/compare.h"
#include "sql/types/conversions.h"
#include "sql/types/datetime.h"
#include "sql/types/number_text.h"
#include "sql/types/text_io.h"
#include "tests/unit/sql/data_directory.h"

// PostgreSQL 15's own answers (data/*.txt, written by data/generate_type_cases.py) against ours.
namespace redquel::sql {
namespace {

using Arguments = std::vector<std::string>;

std::string unescape(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      result.push_back(text[i]);
      continue;
    }
    const char escaped = text[++i];
    result.push_back(escaped == 't' ? '\t' : escaped == 'n' ? '\n' : escaped);
  }
  return result;
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t end; (end = text.find(separator)) != std::string_view::npos;
       text.remove_prefix(end + separator.size()))
    parts.emplace_back(text.substr(0, end));
  parts.emplace_back(text);
  return parts;
}

/// "numeric(10,2)", "interval day to second(3)", "char" (which is char(1)), "\"char\"".
Type type_named(std::string_view text) {
  if (text == "\"char\"") return {oid::kChar};
  std::vector<std::int32_t> modifiers;
  std::string name(text);
  if (const std::size_t open = name.find('('); open != std::string::npos) {
    for (const std::string& part : split(std::string_view(name).substr(open + 1, name.size() - open - 2), ","))
      modifiers.push_back(std::stoi(part));
    name.resize(open);
  }
  if (name.starts_with("interval ")) {
    using namespace interval_field;
    const std::map<std::string, int> bits{{"year", kYear}, {"month", kMonth},   {"day", kDay},
                                          {"hour", kHour}, {"minute", kMinute}, {"second", kSecond}};
    const std::vector<int> order{kYear, kMonth, kDay, kHour, kMinute, kSecond};
    const std::vector<std::string> ends = split(name.substr(9), " to ");
    int fields = 0;
    bool inside = false;
    for (const int field : order) {
      inside = inside || field == bits.at(ends.front());
      if (inside) fields |= field;
      if (field == bits.at(ends.back())) break;
    }
    modifiers.insert(modifiers.begin(), fields);
    name = "interval";
  } else if (name == "interval" && !modifiers.empty()) {
    modifiers.insert(modifiers.begin(), interval_field::kAll);
  } else if (name == "char") {
    name = "bpchar";
    if (modifiers.empty()) modifiers.push_back(1);
  }
  const Oid oid = find_type(name)->oid;
  return {oid, encode_modifier(oid, modifiers)};
}

SessionSettings settings_of(std::string_view text) {
  SessionSettings settings;
  for (const std::string& setting : split(text, ";")) {
    const std::vector<std::string> parts = split(setting, "=");
    if (parts.size() != 2) continue;
    const std::string& value = parts[1];
    if (parts[0] == "timezone") settings.time_zone = value;
    if (parts[0] == "extra_float_digits") settings.extra_float_digits = std::stoi(value);
    if (parts[0] == "bytea_output")
      settings.bytea_output = value == "escape" ? ByteaOutput::kEscape : ByteaOutput::kHex;
    if (parts[0] == "intervalstyle") {
      settings.interval_style = value == "postgres"           ? IntervalStyle::kPostgres
                                : value == "postgres_verbose" ? IntervalStyle::kPostgresVerbose
                                : value == "sql_standard"     ? IntervalStyle::kSqlStandard
                                                              : IntervalStyle::kIso8601;
    }
    if (parts[0] == "datestyle") {
      settings.date_style = value.starts_with("ISO")   ? DateStyle::kIso
                            : value.starts_with("SQL") ? DateStyle::kSql
                            : value.starts_with("Ger") ? DateStyle::kGerman
                                                       : DateStyle::kPostgres;
      settings.date_order = value.ends_with("DMY") || value == "German" ? DateOrder::kDmy
                            : value.ends_with("YMD")                    ? DateOrder::kYmd
                                                                        : DateOrder::kMdy;
    }
  }
  return settings;
}

/// One function per name in the case files; generic names (io:…, send:…, cast:…) are handled in `answer`.
class Functions {
 public:
  std::string call(const std::string& name, const Arguments& arguments, const SessionSettings& settings) {
    settings_ = settings;
    arguments_ = &arguments;
    const auto found = table_.find(name);
    if (found == table_.end()) return "no such case: " + name;
    return found->second();
  }

 private:
  const std::string& text(std::size_t i) const { return (*arguments_)[i]; }
  Numeric numeric(std::size_t i) const { return Numeric::parse(text(i)); }
  double number(std::size_t i) const { return parse_float8(text(i)); }
  int integer(std::size_t i) const { return parse_int4(text(i)); }
  std::int32_t date(std::size_t i) const { return parse_date(text(i), settings_); }
  std::int64_t time(std::size_t i) const { return parse_time(text(i), settings_); }
  std::int64_t timestamp(std::size_t i) const { return parse_timestamp(text(i), settings_); }
  std::int64_t timestamptz(std::size_t i) const { return parse_timestamptz(text(i), settings_); }
  Interval interval(std::size_t i) const { return parse_interval(text(i), settings_); }
  const TimeZone& zone() const { return session_zone(settings_); }

  std::string show(Type type, const Datum& value) const { return format_value(type, value, settings_); }
  std::string show(const Numeric& value) const { return value.to_string(); }
  std::string show_date(std::int32_t value) const { return show(kDate, value); }
  std::string show_time(std::int64_t value) const { return show(kTime, value); }
  std::string show_timestamp(std::int64_t value) const { return show(kTimestamp, value); }
  std::string show_timestamptz(std::int64_t value) const { return show(kTimestamptz, value); }
  std::string show(const Interval& value) const { return show(kInterval, value); }
  std::string show(const std::optional<Numeric>& value) const { return value ? value->to_string() : "NULL"; }
  std::string show(const std::optional<double>& value) const { return value ? show(kFloat8, *value) : null_; }
  static std::string sign(int order) { return std::to_string((order > 0) - (order < 0)); }

  SessionSettings settings_;
  const Arguments* arguments_ = nullptr;
  std::string null_ = "NULL";
  const std::map<std::string, std::function<std::string()>> table_{
      {"numeric_add", [this] { return show(numeric(0) + numeric(1)); }},
      {"numeric_subtract", [this] { return show(numeric(0) - numeric(1)); }},
      {"numeric_multiply", [this] { return show(numeric(0) * numeric(1)); }},
      {"numeric_divide", [this] { return show(numeric(0) / numeric(1)); }},
      {"numeric_modulo", [this] { return show(numeric(0) % numeric(1)); }},
      {"numeric_div", [this] { return show(divide_truncated(numeric(0), numeric(1))); }},
      {"numeric_compare", [this] { return sign(numeric(0).compare(numeric(1))); }},
      {"numeric_gcd", [this] { return show(gcd(numeric(0), numeric(1))); }},
      {"numeric_lcm", [this] { return show(lcm(numeric(0), numeric(1))); }},
      {"numeric_abs", [this] { return show(numeric(0).abs()); }},
      {"numeric_negate", [this] { return show(numeric(0).negated()); }},
      {"numeric_ceil", [this] { return show(numeric(0).ceiling()); }},
      {"numeric_floor", [this] { return show(numeric(0).floor()); }},
      {"numeric_trim_scale", [this] { return show(numeric(0).trimmed()); }},
      {"numeric_min_scale",
       [this] { return numeric(0).is_finite() ? std::to_string(numeric(0).min_scale()) : std::string(); }},
      {"numeric_sqrt", [this] { return show(sqrt(numeric(0))); }},
      {"numeric_exp", [this] { return show(exp(numeric(0))); }},
      {"numeric_ln", [this] { return show(ln(numeric(0))); }},
      {"numeric_log10", [this] { return show(log(Numeric(10), numeric(0))); }},
      {"numeric_log", [this] { return show(log(numeric(0), numeric(1))); }},
      {"numeric_power", [this] { return show(power(numeric(0), numeric(1))); }},
      {"numeric_factorial", [this] { return show(factorial(parse_int8(text(0)))); }},
      {"numeric_round", [this] { return show(numeric(0).rounded(0)); }},
      {"numeric_trunc", [this] { return show(numeric(0).truncated(0)); }},
      {"numeric_round_to", [this] { return show(numeric(0).rounded(integer(1))); }},
      {"numeric_trunc_to", [this] { return show(numeric(0).truncated(integer(1))); }},
      {"numeric_to_int2", [this] { return std::to_string(numeric(0).to_int16()); }},
      {"numeric_to_int4", [this] { return std::to_string(numeric(0).to_int32()); }},
      {"numeric_to_int8", [this] { return std::to_string(numeric(0).to_int64()); }},
      {"numeric_to_float8", [this] { return show(kFloat8, numeric(0).to_double()); }},
      {"numeric_to_float4", [this] { return show(kFloat4, numeric(0).to_float()); }},
      {"numeric_from_float8", [this] { return show(numeric_from(number(0))); }},
      {"numeric_from_float4", [this] { return show(numeric_from(parse_float4(text(0)))); }},

      {"timestamptz_in_utc",
       [this] { return show_timestamp(local_from_timestamptz(timestamptz(0), time_zone_named("UTC"))); }},
      {"timestamp_add",
       [this] {
         const auto to = timestamp(0);
         return show_timestamp(add_interval(to, interval(1)));
       }},
      {"timestamp_subtract",
       [this] {
         const auto to = timestamp(0);
         return show_timestamp(subtract_interval(to, interval(1)));
       }},
      {"timestamptz_add",
       [this] {
         const auto to = timestamptz(0);
         return show_timestamptz(add_interval(to, interval(1), zone()));
       }},
      {"timestamptz_subtract",
       [this] {
         const auto to = timestamptz(0);
         return show_timestamptz(subtract_interval(to, interval(1), zone()));
       }},
      {"timestamp_difference", [this] { return show(subtract_timestamps(timestamp(0), timestamp(1))); }},
      {"timestamptz_difference", [this] { return show(subtract_timestamps(timestamptz(0), timestamptz(1))); }},
      {"timestamp_age", [this] { return show(age(timestamp(0), timestamp(1))); }},
      {"timestamptz_age", [this] { return show(age(timestamptz(0), timestamptz(1), zone())); }},
      {"timestamp_trunc", [this] { return show_timestamp(truncate_timestamp(text(0), timestamp(1))); }},
      {"timestamptz_trunc", [this] { return show_timestamptz(truncate_timestamptz(text(0), timestamptz(1), zone())); }},
      {"timestamp_part", [this] { return null_ = "", show(date_part_of_timestamp(text(0), timestamp(1))); }},
      {"timestamptz_part",
       [this] { return null_ = "", show(date_part_of_timestamptz(text(0), timestamptz(1), zone())); }},
      {"timestamp_extract", [this] { return show(extract_from_timestamp(text(0), timestamp(1))); }},
      {"timestamptz_extract", [this] { return show(extract_from_timestamptz(text(0), timestamptz(1), zone())); }},
      {"timestamp_at_zone", [this] { return show_timestamptz(timestamptz_from_local(timestamp(1), text(0))); }},
      {"timestamptz_at_zone", [this] { return show_timestamp(local_from_timestamptz(timestamptz(1), text(0))); }},
      {"date_add", [this] { return show_date(add_days(date(0), integer(1))); }},
      {"date_difference", [this] { return std::to_string(subtract_dates(date(0), date(1))); }},
      {"date_time", [this] { return show_timestamp(timestamp_from_date_and_time(date(0), time(1))); }},
      {"date_extract", [this] { return show(extract_from_date(text(0), date(1))); }},
      {"date_part", [this] { return null_ = "NULL", show(date_part_of_date(text(0), date(1))); }},
      {"time_add", [this] { return show_time(time_add_interval(time(0), interval(1))); }},
      {"time_subtract", [this] { return show_time(time_subtract_interval(time(0), interval(1))); }},
      {"time_extract", [this] { return show(extract_from_time(text(0), time(1))); }},
      {"time_part", [this] { return show(date_part_of_time(text(0), time(1))); }},
      {"justify_hours", [this] { return show(justify_hours(interval(0))); }},
      {"justify_days", [this] { return show(justify_days(interval(0))); }},
      {"justify_interval", [this] { return show(justify_interval(interval(0))); }},
      {"interval_negate", [this] { return show(negate_interval(interval(0))); }},
      {"interval_multiply", [this] { return show(multiply_interval(interval(0), number(1))); }},
      {"interval_divide", [this] { return show(divide_interval(interval(0), number(1))); }},
      {"interval_add", [this] { return show(add_intervals(interval(0), interval(1))); }},
      {"interval_subtract", [this] { return show(subtract_intervals(interval(0), interval(1))); }},
      {"interval_compare", [this] { return sign(compare_intervals(interval(0), interval(1))); }},
      {"interval_trunc", [this] { return show(truncate_interval(text(0), interval(1))); }},
      {"interval_extract", [this] { return show(extract_from_interval(text(0), interval(1))); }},
      {"interval_part", [this] { return show(date_part_of_interval(text(0), interval(1))); }},
      {"date_bin", [this] { return show_timestamp(date_bin(interval(0), timestamp(1), timestamp(2))); }},
      {"make_date", [this] { return show_date(make_date(integer(0), integer(1), integer(2))); }},
      {"make_time", [this] { return show_time(make_time(integer(0), integer(1), number(2))); }},
      {"make_timestamp",
       [this] {
         return show_timestamp(make_timestamp(integer(0), integer(1), integer(2), integer(3), integer(4), number(5)));
       }},
      {"make_timestamptz", [this] { return show_timestamptz(make_timestamptz(2020, 7, 1, 12, 0, 0, text(0))); }},
      {"to_timestamp", [this] { return show_timestamptz(timestamptz_from_epoch(number(0))); }},

      {"cast:float8:int2", [this] { return std::to_string(int2_from(number(0))); }},
      {"cast:float8:int4", [this] { return std::to_string(int4_from(number(0))); }},
      {"cast:float8:int8", [this] { return std::to_string(int8_from(number(0))); }},
      {"cast:float8:float4", [this] { return show(kFloat4, float4_from(number(0))); }},
      {"cast:float4:int2", [this] { return std::to_string(int2_from(parse_float4(text(0)))); }},
      {"cast:float4:int4", [this] { return std::to_string(int4_from(parse_float4(text(0)))); }},
      {"cast:float4:int8", [this] { return std::to_string(int8_from(parse_float4(text(0)))); }},
      {"cast:float4:float8", [this] { return show(kFloat8, float8_from(parse_float4(text(0)))); }},
      {"cast:int8:int2", [this] { return std::to_string(int2_from(parse_int8(text(0)))); }},
      {"cast:int8:int4", [this] { return std::to_string(int4_from(parse_int8(text(0)))); }},
      {"cast:int8:float4", [this] { return show(kFloat4, float4_from(parse_int8(text(0)))); }},
      {"cast:int8:float8", [this] { return show(kFloat8, float8_from(parse_int8(text(0)))); }},
      {"cast:int8:oid", [this] { return show(kOidType, oid_from(parse_int8(text(0)))); }},
      {"cast:int4:int2", [this] { return std::to_string(int2_from(parse_int4(text(0)))); }},
      {"cast:int4:bool", [this] { return show(kBool, bool_from(parse_int4(text(0)))); }},
      {"cast:timestamp:date", [this] { return show_date(date_from_timestamp(timestamp(0))); }},
      {"cast:timestamp:time",
       [this] {
         const auto value = time_from_timestamp(timestamp(0));
         return value ? show_time(*value) : "NULL";
       }},
      {"cast:timestamp:timestamptz",
       [this] { return show_timestamptz(timestamptz_from_timestamp(timestamp(0), zone())); }},
      {"cast:timestamptz:date", [this] { return show_date(date_from_timestamptz(timestamptz(0), zone())); }},
      {"cast:timestamptz:time",
       [this] {
         const auto value = time_from_timestamptz(timestamptz(0), zone());
         return value ? show_time(*value) : "NULL";
       }},
      {"cast:timestamptz:timestamp",
       [this] { return show_timestamp(timestamp_from_timestamptz(timestamptz(0), zone())); }},
      {"cast:date:timestamp", [this] { return show_timestamp(timestamp_from_date(date(0))); }},
      {"cast:date:timestamptz", [this] { return show_timestamptz(timestamptz_from_date(date(0), zone())); }},
      {"cast:interval:time", [this] { return show_time(time_from_interval(interval(0))); }},
  };
};

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// Returns the text that PostgreSQL's answer must equal.
std::string answer(Functions& functions, const std::string& name, const Arguments& arguments,
                   const SessionSettings& settings) {
  try {
    if (name.starts_with("io:")) {
      const Type type = type_named(name.substr(3));
      const Datum value = apply_modifier(type, parse_value(type, arguments[0], settings), true);
      const std::string printed = format_value(type, value, settings);
      // The value must come back from its text and from its binary form.
      const Datum again = parse_value(type, format_value(type, value, {}), {});
      EXPECT_EQ(compare(type, value, again), 0) << name << ' ' << arguments[0];
      EXPECT_EQ(hash(type, value), hash(type, again)) << name << ' ' << arguments[0];
      std::string bytes;
      encode_binary(type, value, bytes);
      EXPECT_EQ(compare(type, value, decode_binary(type, bytes)), 0) << name << ' ' << arguments[0];
      return printed;
    }
    if (name.starts_with("send:")) {
      const Type type = type_named(name.substr(5));
      std::string bytes;
      encode_binary(type, parse_value(type, arguments[0], settings), bytes);
      return hex(bytes);
    }
    if (name.starts_with("assign:")) {
      const Type type = type_named(name.substr(7));
      Datum value = apply_modifier({type.oid, 7}, arguments[0], false);  // three characters
      const std::string printed = format_value(type, value);
      return type.oid == oid::kBpchar ? "[" + printed + "]" : printed;
    }
    return functions.call(name, arguments, settings);
  } catch (const SqlError& error) {
    std::string text = "!" + error.sqlstate() + " " + error.message();
    if (!error.detail().empty()) text += " | " + error.detail();
    if (!error.hint().empty()) text += " | " + error.hint();
    return text;
  }
}

class TypeCases : public testing::TestWithParam<const char*> {};

TEST_P(TypeCases, AnswerAsPostgreSql) {
  std::ifstream file(data_directory() / GetParam());
  ASSERT_TRUE(file) << "no " << GetParam();
  Functions functions;
  SessionSettings settings;
  std::size_t cases = 0, differences = 0;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> fields = split(line, "\t");
    if (fields[0] == "set") {
      settings = settings_of(fields.at(1));
      continue;
    }
    ASSERT_GE(fields.size(), 3u) << line;
    const std::string expected = unescape(fields.back());
    Arguments arguments;
    for (std::size_t i = 1; i + 2 < fields.size(); ++i) arguments.push_back(unescape(fields[i]));
    ++cases;
    const std::string actual = answer(functions, fields[0], arguments, settings);
    if (actual == expected) continue;
    if (++differences <= 60) ADD_FAILURE() << line << "\n  ours: " << actual;
  }
  EXPECT_EQ(differences, 0u) << "of " << cases;
  EXPECT_GT(cases, 1000u);
}

INSTANTIATE_TEST_SUITE_P(, TypeCases,
                         testing::Values("numeric_cases.txt", "scalar_cases.txt", "datetime_cases.txt",
                                         "datetime_arithmetic_cases.txt"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, std::string(info.param).find('.'));
                         });

}  // namespace
}  // namespace redquel::sql
