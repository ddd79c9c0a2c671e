#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sql/session_settings.h"
#include "sql/types/datetime_tokens.h"
#include "sql/types/time_zone.h"

// From fields to the parts of a date and time. Internal to datetime_parse.cc.
namespace redquel::sql {

struct DecodedDateTime {
  enum class Kind : std::uint8_t { kMoment, kEpoch, kInfinity, kNegativeInfinity };
  Kind kind = Kind::kMoment;
  int year = 0, month = 0, day = 0;
  int hour = 0, minute = 0, second = 0, microsecond = 0;
  std::int32_t offset = 0;  // seconds east of Greenwich
};

/// Follows the rules of PostgreSQL's manual, appendix B.1, one field after the other.
class DateTimeDecoder {
 public:
  /// `time_only` reads a time of day: a date may stand before it and a zone behind it, both only for the zone's sake.
  DateTimeDecoder(const SessionSettings& settings, std::int64_t now, bool time_only)
      : settings_(settings), now_(now), time_only_(time_only) {}

  ParseFailure decode(const DateTimeFields& fields, DecodedDateTime& out);

 private:
  ParseFailure decode_field(const DateTimeFields& fields, std::size_t index, FieldSet& found);
  ParseFailure decode_date_field(const DateTimeFields& fields, std::size_t index, FieldSet& found);
  ParseFailure decode_number_field(const DateTimeFields& fields, std::size_t index, FieldSet& found);
  ParseFailure decode_labelled_number(std::string_view text, FieldSet& found);
  ParseFailure set_part(std::int32_t value, std::string_view fraction, FieldSet& found);
  ParseFailure decode_word(const DateTimeFields& fields, std::size_t index, FieldSet& found, bool& ignored);
  ParseFailure decode_reserved(TokenValue value, FieldSet& found);
  ParseFailure decode_date(std::string_view text, FieldSet seen, FieldSet& found);
  ParseFailure decode_number(std::string_view text, bool has_month_name, FieldSet seen, FieldSet& found);
  ParseFailure decode_run_together(std::string_view text, FieldSet seen, FieldSet& found);
  ParseFailure decode_time_then_offset(std::string_view text, FieldSet& found);
  ParseFailure decode_offset(std::string_view text);
  ParseFailure use_zone_name(std::string_view name, bool strict, FieldSet& found);
  ParseFailure validate_date();
  ParseFailure apply_meridiem();
  ParseFailure finish_moment();
  ParseFailure finish_time();
  /// Sets the offset of a named zone, or of the session's, on the date that was read.
  void set_zone_offset();
  void set_civil_date(std::int32_t days);
  void set_time_of_fraction(double days);
  std::int64_t local_now() const;
  /// µs of the wall clock since 2000, or nullopt where the date is beyond the calendar.
  std::optional<std::int64_t> local_timestamp() const;
  std::int32_t offset_in(const TimeZone& zone) const;
  std::int32_t offset_of_abbreviation() const;

  const SessionSettings& settings_;
  const std::int64_t now_;
  const bool time_only_;

  DecodedDateTime value_;
  FieldSet seen_;
  std::optional<TokenValue> prefix_;  // "J", "T" and letters of units say what the next number is
  int day_of_year_ = 0;
  bool has_month_name_ = false, is_julian_ = false, two_digit_year_ = false, before_christ_ = false;
  std::optional<TokenValue> meridiem_;
  const TimeZone* zone_ = nullptr;             // by name
  const ZoneAbbreviation* dynamic_ = nullptr;  // an abbreviation whose zone decides
};

}  // namespace redquel::sql
