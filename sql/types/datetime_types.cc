// date, time, time with time zone, the timestamps and interval.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "sql/ascii.h"
#include "sql/sqlstate.h"
#include "sql/types/interval.h"
#include "sql/types/numeric_binary.h"
#include "sql/types/time_zone.h"
#include "sql/types/structured_index.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"
#include "sql/types/zoned_time.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

constexpr std::int32_t kMaxTimePrecision = 6;

double infinite_score(bool positive) {
  return positive ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

struct DateType : StoredAs<std::int32_t> {
  static constexpr IndexOrder kIndexOrder = IndexOrder::kExactScore;
  static constexpr JsonForm kJsonForm = JsonForm::kDateTime;
  static Value parse(const TextInput& input) { return parse_date(input.text, input.settings, input.now); }
  static void format(Type, Value value, const SessionSettings& settings, std::string& out) { append_date(value, settings, out); }
  static TypeProperties properties(Type) { return {.datetime_precision = 0}; }
  static bool prints_stored_form(Type, const SessionSettings& settings) { return settings.date_style == DateStyle::kIso; }
  static bool depends_on_settings(Type) { return true; }
  static Value decode(Type, BinaryReader& reader) {
    const auto date = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    if (is_finite_date(date) && (date < kMinDate || date >= kEndDate)) throw datetime_out_of_range("date");
    return date;
  }
  static double score(Value date) { return is_finite_date(date) ? date : infinite_score(date > 0); }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) { return hash_word(static_cast<std::uint32_t>(value), seed.value); }
  static std::string memory_image(Type, Value value) { return word_image_of(value); }
};

/// Microseconds: times of day and timestamps.
struct MicrosecondType : StoredAs<std::int64_t> {
  static constexpr bool kIsContinuous = true;
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) { return hash_long(value, seed.value); }
  static std::string memory_image(Type, Value value) { return word_image_of(value); }
};

/// PostgreSQL warns about precisions above 6 and takes 6.
std::int32_t encode_precision(std::string_view name, std::string_view suffix, std::span<const std::int32_t> written) {
  if (written.size() != 1) throw SqlError(sqlstate::kInvalidParameterValue, "invalid type modifier");
  if (written[0] < 0) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("{}({}){} precision must not be negative", name, written[0], suffix));
  }
  return std::min(written[0], kMaxTimePrecision);
}
bool rounds(std::int32_t modifier) { return modifier < kMaxTimePrecision; }

TypeProperties time_properties(Type type) { return {.datetime_precision = type.modifier < 0 ? kMaxTimePrecision : type.modifier}; }

constexpr ModifierOperations kTimeModifier{
    .encode = [](std::span<const std::int32_t> written) { return encode_precision("TIME", "", written); },
    .name = [](std::string_view, std::int32_t modifier) { return fmt::format("time({}) without time zone", modifier); },
    .has_effect = rounds,
    .apply = [](Type type, Datum value, bool) -> Datum { return apply_time_modifier(std::get<std::int64_t>(value), type.modifier); },
};

struct TimeType : MicrosecondType {
  static constexpr const ModifierOperations* kModifier = &kTimeModifier;
  static TypeProperties properties(Type type) { return time_properties(type); }
  static Value parse(const TextInput& input) { return parse_time(input.text, input.settings, input.now); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { append_time(value, out); }
  static Value decode(Type, BinaryReader& reader) {
    const auto time = static_cast<std::int64_t>(reader.integer<std::uint64_t>());
    if (time < 0 || time > kMicrosecondsPerDay) throw datetime_out_of_range("time");
    return time;
  }
  /// All digits always, so that times compare as text.
  static std::string ordered_bytes(Type, Value time) {
    return fmt::format("{:02}:{:02}:{:02}.{:06}", time / kMicrosecondsPerHour, time / kMicrosecondsPerMinute % 60,
                       time / kMicrosecondsPerSecond % 60, time % kMicrosecondsPerSecond);
  }
};

constexpr ModifierOperations kZonedTimeModifier{
    .encode = [](std::span<const std::int32_t> written) { return encode_precision("TIME", " WITH TIME ZONE", written); },
    .name = [](std::string_view, std::int32_t modifier) { return fmt::format("time({}) with time zone", modifier); },
    .has_effect = rounds,
    .apply = [](Type type, Datum value, bool) -> Datum {
      ZonedTime time = ZonedTime::decode(std::get<std::string>(value));
      time.time = apply_time_modifier(time.time, type.modifier);
      return time.encode();
    },
};

struct ZonedTimeType : StoredAs<std::string_view> {
  static constexpr bool kIsKeptAsText = false, kIsContinuous = true;
  static constexpr const ModifierOperations* kModifier = &kZonedTimeModifier;
  static TypeProperties properties(Type type) { return time_properties(type); }
  static std::string parse(const TextInput& input) { return parse_zoned_time(input.text, input.settings, input.now).encode(); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { append_zoned_time(ZonedTime::decode(value), out); }
  static std::string decode(Type, BinaryReader& reader) {
    ZonedTime value;
    value.time = static_cast<std::int64_t>(reader.integer<std::uint64_t>());
    value.offset = -static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    if (value.time < 0 || value.time > kMicrosecondsPerDay) throw datetime_out_of_range("time");
    if (std::abs(value.offset) >= 16 * 3600) {
      throw SqlError(sqlstate::kInvalidTimeZoneDisplacementValue, "time zone displacement out of range");
    }
    return value.encode();
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter*) {
    const ZonedTime time = ZonedTime::decode(value);
    put_binary(static_cast<std::uint64_t>(time.time), out);
    put_binary(static_cast<std::uint32_t>(-time.offset), out);
  }
  static std::string ordered_bytes(Type, Value value) { return hexadecimal_bytes(value); }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) {
    const ZonedTime time = ZonedTime::decode(value);
    return hash_long(time.time, seed.value) ^ hash_word(static_cast<std::uint32_t>(-time.offset), seed.value);  // PostgreSQL counts to the west
  }
  static std::string memory_image(Type type, Value value) { return turned_image(binary_of<ZonedTimeType>(type, value), {8, 4}); }
};

template <bool has_zone>
constexpr ModifierOperations kTimestampModifier{
    .encode = [](std::span<const std::int32_t> written) { return encode_precision("TIMESTAMP", has_zone ? " WITH TIME ZONE" : "", written); },
    .name =
        [](std::string_view, std::int32_t modifier) {
          return fmt::format("timestamp({}) {} time zone", modifier, has_zone ? "with" : "without");
        },
    .has_effect = rounds,
    .apply = [](Type type, Datum value, bool) -> Datum { return apply_timestamp_modifier(std::get<std::int64_t>(value), type.modifier); },
};

struct TimestampType : MicrosecondType {
  static constexpr IndexOrder kIndexOrder = IndexOrder::kScore;
  static constexpr JsonForm kJsonForm = JsonForm::kDateTime;
  static constexpr const ModifierOperations* kModifier = &kTimestampModifier<false>;
  static TypeProperties properties(Type type) { return time_properties(type); }
  static Value parse(const TextInput& input) { return parse_timestamp(input.text, input.settings, input.now); }
  static void format(Type, Value value, const SessionSettings& settings, std::string& out) { append_timestamp(value, settings, out); }
  static bool prints_stored_form(Type, const SessionSettings& settings) { return settings.date_style == DateStyle::kIso; }
  static bool depends_on_settings(Type) { return true; }
  static Value decode(Type, BinaryReader& reader) {
    const auto value = static_cast<std::int64_t>(reader.integer<std::uint64_t>());
    if (is_finite_timestamp(value) && (value < kMinTimestamp || value >= kEndTimestamp)) throw datetime_out_of_range("timestamp");
    return value;
  }
  static double score(Value value) { return is_finite_timestamp(value) ? static_cast<double>(value) : infinite_score(value > 0); }
};

struct TimestamptzType : TimestampType {
  static constexpr const ModifierOperations* kModifier = &kTimestampModifier<true>;
  static Value parse(const TextInput& input) { return parse_timestamptz(input.text, input.settings, input.now); }
  static void format(Type, Value value, const SessionSettings& settings, std::string& out) { append_timestamptz(value, settings, out); }
  static bool prints_stored_form(Type, const SessionSettings& settings) {
    if (settings.date_style != DateStyle::kIso) return false;
    if (settings.time_zone == "UTC") return true;
    const TimeZone& zone = session_zone(settings);
    return zone.at(0).offset == 0 && zone.is_fixed();
  }
};

std::string interval_suffix(std::int32_t modifier) {
  using namespace interval_field;
  const int fields = (modifier >> 16) & 0x7FFF;
  const int precision = modifier & 0xFFFF;
  std::string_view name;
  switch (fields) {
    case kYear:
      name = " year";
      break;
    case kMonth:
      name = " month";
      break;
    case kDay:
      name = " day";
      break;
    case kHour:
      name = " hour";
      break;
    case kMinute:
      name = " minute";
      break;
    case kSecond:
      name = " second";
      break;
    case kYear | kMonth:
      name = " year to month";
      break;
    case kDay | kHour:
      name = " day to hour";
      break;
    case kDay | kHour | kMinute:
      name = " day to minute";
      break;
    case kDay | kHour | kMinute | kSecond:
      name = " day to second";
      break;
    case kHour | kMinute:
      name = " hour to minute";
      break;
    case kHour | kMinute | kSecond:
      name = " hour to second";
      break;
    case kMinute | kSecond:
      name = " minute to second";
      break;
    default:
      break;
  }
  return precision == kFullPrecision ? std::string(name) : fmt::format("{}({})", name, precision);
}

constexpr ModifierOperations kIntervalModifier{
    // The parser writes the fields first, then the precision: INTERVAL DAY TO SECOND(3).
    .encode = [](std::span<const std::int32_t> written) -> std::int32_t {
      if (written.empty() || written.size() > 2) throw SqlError(sqlstate::kInvalidParameterValue, "invalid INTERVAL type modifier");
      if (written.size() == 1) {
        if (written[0] == interval_field::kAll) return -1;
        return (written[0] & 0x7FFF) << 16 | interval_field::kFullPrecision;
      }
      if (written[1] < 0) {
        throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("INTERVAL({}) precision must not be negative", written[1]));
      }
      return (written[0] & 0x7FFF) << 16 | std::min(written[1], kMaxTimePrecision);
    },
    .name = [](std::string_view, std::int32_t modifier) { return "interval" + interval_suffix(modifier); },
    .has_effect = [](std::int32_t) { return true; },
    .apply = [](Type type, Datum value, bool) -> Datum { return apply_interval_modifier(std::get<Interval>(value), type.modifier); },
};

/// Intervals of one length get one spelling: days and months folded up as far as they go.
Interval fold(const Interval& interval) {
  const Int128 total = folded_microseconds(interval);
  const auto days = static_cast<std::int64_t>(total / kMicrosecondsPerDay);
  Interval folded;
  const auto take = [](std::int64_t amount) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(amount, std::numeric_limits<std::int32_t>::min(),
                                                              std::numeric_limits<std::int32_t>::max()));
  };
  folded.months = take(days / 30);
  folded.days = take(days - folded.months * std::int64_t{30});
  folded.microseconds =
      static_cast<std::int64_t>(total - (folded.days + folded.months * Int128{30}) * kMicrosecondsPerDay);
  return folded;
}

struct IntervalType : StoredAs<Interval> {
  static constexpr bool kIsContinuous = true;
  static constexpr const ModifierOperations* kModifier = &kIntervalModifier;
  static TypeProperties properties(Type type) {
    const std::int32_t precision = type.modifier & interval_field::kFullPrecision;
    const bool is_full = type.modifier < 0 || precision == interval_field::kFullPrecision;
    TypeProperties properties{.datetime_precision = is_full ? kMaxTimePrecision : precision};
    std::string fields = type.modifier < 0 ? std::string() : interval_suffix(type.modifier | interval_field::kFullPrecision);
    if (fields.empty()) return properties;
    std::ranges::transform(fields, fields.begin(), to_upper);
    properties.interval_type = fields.substr(1);
    return properties;
  }
  static Value parse(const TextInput& input) { return parse_interval(input.text, input.settings, input.type.modifier); }
  static void format(Type, const Value& value, const SessionSettings& settings, std::string& out) { append_interval(value, settings, out); }
  static bool prints_stored_form(Type, const SessionSettings& settings) { return settings.interval_style == IntervalStyle::kPostgres; }
  static bool depends_on_settings(Type) { return true; }
  static bool has_textual_equality(Type) { return false; }
  static Value decode(Type, BinaryReader& reader) {
    Interval interval;
    interval.microseconds = static_cast<std::int64_t>(reader.integer<std::uint64_t>());
    interval.days = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    interval.months = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
    return interval;
  }
  static void encode(Type, const Value& value, std::string& out, EncodingConverter*) {
    put_binary(static_cast<std::uint64_t>(value.microseconds), out);
    put_binary(static_cast<std::uint32_t>(value.days), out);
    put_binary(static_cast<std::uint32_t>(value.months), out);
  }
  static int compare(Type, const Value& a, const Value& b) { return compare_intervals(a, b); }
  static std::uint64_t hash(Type, const Value& value) {
    const Int128 folded = folded_microseconds(value);
    return mix_hash(static_cast<std::uint64_t>(folded) ^ mix_hash(static_cast<std::uint64_t>(folded >> 64)));
  }
  static std::string canonical(Type type, const Value& value) {
    std::string text;
    format(type, fold(value), {}, text);
    return text;
  }
  static std::string ordered_bytes(Type, const Value& value) { return ordered_numeric(Numeric::from_int128(folded_microseconds(value))); }
  static std::uint64_t postgres_hash(Type, const Value& value, HashSeed seed) {
    const std::uint64_t days = static_cast<std::uint64_t>(std::int64_t{value.months} * 30 + value.days);
    return hash_long(static_cast<std::int64_t>(static_cast<std::uint64_t>(value.microseconds) + days * kMicrosecondsPerDay), seed.value);
  }
  static std::string memory_image(Type type, const Value& value) { return turned_image(binary_of<IntervalType>(type, value), {8, 4, 4}); }
};

}  // namespace

std::span<const TypeRow> datetime_types() {
  using enum TypeCategory;
  static constexpr TypeRow kRows[] = {
      type_row<DateType>({.oid = oid::kDate, .name = "date", .category = kDateTime, .length = 4, .array = oid::kDateArray},
                         {.input = "date_in", .output = "date_out", .send = "date_send", .is_stable = true},
                         {"date_cmp", "date_larger", "date_smaller"}),
      type_row<TimeType>({.oid = oid::kTime, .name = "time", .display_name = "time without time zone", .category = kDateTime, .length = 8,
                          .alignment = 'd', .array = oid::kTimeArray},
                         {"time_in", "time_out", "time_send", "time_hash", "time_hash_extended", true},
                         {"time_cmp", "time_larger", "time_smaller"}),
      type_row<TimestampType>({.oid = oid::kTimestamp, .name = "timestamp", .display_name = "timestamp without time zone",
                               .category = kDateTime, .length = 8, .alignment = 'd', .array = oid::kTimestampArray},
                              {"timestamp_in", "timestamp_out", "timestamp_send", "timestamp_hash", "timestamp_hash_extended", true},
                              {"timestamp_cmp", "timestamp_larger", "timestamp_smaller"}),
      type_row<TimestamptzType>({.oid = oid::kTimestamptz, .name = "timestamptz", .display_name = "timestamp with time zone",
                                 .category = kDateTime, .preferred = true, .length = 8, .alignment = 'd', .array = oid::kTimestamptzArray},
                                {.input = "timestamptz_in", .output = "timestamptz_out", .send = "timestamptz_send", .is_stable = true},
                                {"timestamptz_cmp", "timestamptz_larger", "timestamptz_smaller"}),
      type_row<IntervalType>({.oid = oid::kInterval, .name = "interval", .category = kTimespan, .preferred = true, .length = 16,
                              .alignment = 'd', .array = oid::kIntervalArray},
                             {"interval_in", "interval_out", "interval_send", "interval_hash", "interval_hash_extended", true},
                             {"interval_cmp", "interval_larger", "interval_smaller"}),
      type_row<ZonedTimeType>({.oid = oid::kTimetz, .name = "timetz", .display_name = "time with time zone", .category = kDateTime,
                               .length = 12, .alignment = 'd', .array = oid::kTimetzArray},
                              {"timetz_in", "timetz_out", "timetz_send", "timetz_hash", "timetz_hash_extended", true},
                              {"timetz_cmp", "timetz_larger", "timetz_smaller"}),
  };
  return kRows;
}

}  // namespace redquel::sql
