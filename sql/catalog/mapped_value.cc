#include "sql/catalog/mapped_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/text_io.h"
#include "sql/value_errors.h"

namespace redquel::sql {

namespace {

using Format = Mapping::Format;

constexpr std::int64_t kEpochSeconds = 946'684'800;  // 2000-01-01, where timestamps count from, in Unix time
constexpr std::int64_t kEpochDays = 10'957;
constexpr std::int64_t kDayMicroseconds = 86'400'000'000;
constexpr std::int64_t kMaxSeconds = 9'000'000'000'000;  // what a timestamp can hold, and more

SqlError bad_time(std::string_view text, std::string_view what) {
  return SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for {}: \"{}\"", what, text));
}

/// Returns a number like 1.5e+9 without its exponent, and any other text as it is. Valkey prints scores with exponents.
std::string without_exponent(std::string_view text) {
  constexpr int kMostDigits = 400;
  const std::size_t mark = text.find_first_of("eE");
  if (mark == std::string_view::npos) return std::string(text);
  std::string_view power = text.substr(mark + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (error != std::errc() || end != power.data() + power.size() || std::abs(exponent) > kMostDigits) return std::string(text);
  const std::string_view mantissa = text.substr(0, mark);
  const std::size_t sign = mantissa.starts_with('-') ? 1 : 0, dot = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa.substr(sign, dot - sign));
  std::ptrdiff_t point = static_cast<std::ptrdiff_t>(digits.size()) + exponent;
  if (dot < mantissa.size()) digits += mantissa.substr(dot + 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::string(text);
  if (point <= 0) {
    digits.insert(0, static_cast<std::size_t>(1 - point), '0');
    point = 1;
  }
  if (point > static_cast<std::ptrdiff_t>(digits.size())) digits.append(static_cast<std::size_t>(point) - digits.size(), '0');
  if (point < static_cast<std::ptrdiff_t>(digits.size())) digits.insert(static_cast<std::size_t>(point), 1, '.');
  return std::string(mantissa.substr(0, sign)) + digits;
}

/// Microseconds since 1970 of a decimal number of units; digits past the microsecond are cut.
std::int64_t read_unix(std::string_view text, std::int64_t microseconds_per_unit, std::string_view what) {
  const std::string plain = without_exponent(text);
  std::string_view rest = plain;
  const bool is_negative = rest.starts_with('-');
  if (is_negative) rest.remove_prefix(1);
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), whole);
  if (error != std::errc() || rest.empty() || rest.front() == '-') throw bad_time(text, what);
  if (whole > kMaxSeconds * 1'000'000 / microseconds_per_unit) throw datetime_out_of_range("timestamp", text);
  std::int64_t result = whole * microseconds_per_unit;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (!rest.empty()) {
    if (rest.front() != '.') throw bad_time(text, what);
    rest.remove_prefix(1);
    std::int64_t unit = microseconds_per_unit / 10;
    for (char c : rest) {
      if (c < '0' || c > '9') throw bad_time(text, what);
      result += (c - '0') * unit;
      unit /= 10;
    }
  }
  return is_negative ? -result : result;
}

Datum time_of(Type type, std::int64_t microseconds) {
  if (type.oid == oid::kDate) {
    std::int64_t days = microseconds / kDayMicroseconds;
    if (microseconds % kDayMicroseconds < 0) --days;
    return static_cast<std::int32_t>(days - kEpochDays);
  }
  return microseconds - kEpochSeconds * 1'000'000;
}

std::string print_unix(Type type, const Datum& value, std::int64_t microseconds_per_unit) {
  if (format_value(type, value).ends_with("infinity")) throw SqlError(sqlstate::kDatetimeFieldOverflow, "cannot convert infinity to Unix time");
  const std::int64_t microseconds = type.oid == oid::kDate ? (std::get<std::int32_t>(value) + kEpochDays) * kDayMicroseconds
                                                           : std::get<std::int64_t>(value) + kEpochSeconds * 1'000'000;
  const std::int64_t magnitude = std::abs(microseconds), whole = magnitude / microseconds_per_unit, rest = magnitude % microseconds_per_unit;
  std::string text = fmt::format("{}{}", microseconds < 0 ? "-" : "", whole);
  if (rest == 0) return text;
  std::string digits = fmt::format("{:0{}}", rest, microseconds_per_unit == 1'000'000 ? 6 : 3);
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + "." + digits;
}

Datum read_list(const Mapping::Column& column, Type type, std::string_view text) {
  std::string array;
  std::string_view rest = text;
  while (!text.empty()) {
    const std::size_t end = rest.find(column.delimiter);
    append_array_element(rest.substr(0, end), array);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + column.delimiter.size());
  }
  finish_array_text(array);
  return parse_value(type, array, SessionSettings{});
}

std::string print_list(const Mapping::Column& column, Type type, const Datum& value) {
  const std::string stored = format_value(type, value);
  const ArrayValue array = read_array(type.oid, stored);
  if (array.dimensions.size() > 1) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("an array of {} dimensions cannot be a delimited list", array.dimensions.size()));
  }
  std::string text;
  bool is_first = true;
  for (const auto& element : array.elements) {
    if (!element) throw SqlError(sqlstate::kInvalidParameterValue, "an array with a null element cannot be a delimited list");
    const bool is_unclear = element->find(column.delimiter) != std::string_view::npos || (element->empty() && array.elements.size() == 1);
    if (is_unclear) {
      throw SqlError(sqlstate::kInvalidParameterValue,
                     fmt::format("element \"{}\" cannot be part of a list delimited by \"{}\"", *element, column.delimiter));
    }
    if (!std::exchange(is_first, false)) text += column.delimiter;
    text += *element;
  }
  return text;
}

/// Texts and lists may be empty; an empty number or time stands for none.
bool has_empty_value(const Mapping::Column& column, Type type) {
  return column.format == Format::kList || column.format == Format::kRaw || (column.format == Format::kText && type_info(type.oid).category == TypeCategory::kString);
}

}  // namespace

Datum decode_mapped(const Mapping::Column& column, Type type, std::string_view text) {
  if (text.empty() && column.absent == Mapping::Absent::kEmpty && !has_empty_value(column, type)) return {};
  switch (column.format) {
    case Format::kBool01:
      if (text == "1") return true;
      if (text == "0") return false;
      throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type boolean: \"{}\"", text));
    case Format::kUnix: return time_of(type, read_unix(text, 1'000'000, "Unix time in seconds"));
    case Format::kUnixMs: return time_of(type, read_unix(text, 1'000, "Unix time in milliseconds"));
    case Format::kList: return read_list(column, type, text);
    case Format::kRaw: return std::string(text);
    case Format::kText:
    case Format::kJson: break;
  }
  return apply_modifier(type, parse_value(type, text, SessionSettings{}), false);
}

namespace {

/// Fills a number up with zeros in front.
void pad(std::string& digits, int width) {
  const auto wanted = static_cast<std::size_t>(width);
  if (digits.size() < wanted && digits.find_first_not_of("0123456789") == std::string::npos) digits.insert(0, wanted - digits.size(), '0');
}

}  // namespace

std::string encode_mapped(const Mapping::Column& column, Type type, const Datum& value) {
  if (column.width > 0) {
    std::string digits = format_value(type, value);
    pad(digits, column.width);
    return digits;
  }
  switch (column.format) {
    case Format::kBool01: return std::get<bool>(value) ? "1" : "0";
    case Format::kUnix: return print_unix(type, value, 1'000'000);
    case Format::kUnixMs: return print_unix(type, value, 1'000);
    case Format::kList: return print_list(column, type, value);
    case Format::kRaw: return std::get<std::string>(value);
    case Format::kText:
    case Format::kJson: break;
  }
  return format_value(type, value);
}

std::vector<std::optional<std::string>> split_mapped(const Mapping& mapping, std::string_view text) {
  std::vector<std::optional<std::string>> parts(mapping.columns.size());
  if (mapping.parts == Mapping::Parts::kDelimited) {
    std::string_view rest = text;
    bool is_over = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (mapping.columns[i].role != Mapping::Role::kField || is_over) continue;
      const std::size_t end = rest.find(mapping.delimiter);
      const std::string_view part = rest.substr(0, end);
      if (!part.empty()) parts[i] = std::string(part);
      is_over = end == std::string_view::npos;
      if (!is_over) rest.remove_prefix(end + mapping.delimiter.size());
    }
    return parts;
  }
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(boost::json::string_view(text.data(), text.size()), error);
  if (error || !value.is_object()) {
    throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for a JSON object: \"{}\"", text));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (mapping.columns[i].role != Mapping::Role::kField) continue;
    const boost::json::value* found = value.as_object().if_contains(mapping.columns[i].field);
    if (found == nullptr || found->is_null()) continue;
    if (found->is_string() && mapping.columns[i].format != Format::kJson) {
      parts[i] = std::string(found->as_string().data(), found->as_string().size());
    } else {
      parts[i] = boost::json::serialize(*found);
    }
  }
  return parts;
}

std::string join_mapped(const Mapping& mapping, const std::vector<std::optional<std::string>>& parts, const std::vector<Type>& types,
                        std::optional<std::string_view> old) {
  if (mapping.parts == Mapping::Parts::kDelimited) {
    std::string text;
    bool is_first = true;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (mapping.columns[i].role != Mapping::Role::kField) continue;
      const std::string part = parts[i].value_or("");
      if (part.find(mapping.delimiter) != std::string::npos || (parts[i] && part.empty())) {
        throw SqlError(sqlstate::kInvalidParameterValue,
                       fmt::format("\"{}\" cannot be a part of a string delimited by \"{}\"", part, mapping.delimiter));
      }
      if (!std::exchange(is_first, false)) text += mapping.delimiter;
      text += part;
    }
    return text;
  }
  boost::json::object object;
  if (old) {
    boost::json::error_code error;
    boost::json::value before = boost::json::parse(boost::json::string_view(old->data(), old->size()), error);
    if (!error && before.is_object()) object = std::move(before.as_object());
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (mapping.columns[i].role != Mapping::Role::kField) continue;
    const std::string& field = mapping.columns[i].field;
    if (!parts[i]) {
      object.erase(field);
      continue;
    }
    boost::json::error_code error;
    const TypeCategory category = type_info(types[i].oid).category;
    const bool is_bare = category == TypeCategory::kNumeric || mapping.columns[i].format == Format::kJson ||
                         (category == TypeCategory::kBoolean && mapping.columns[i].format != Format::kText);
    boost::json::value value = is_bare ? boost::json::parse(*parts[i], error) : boost::json::value(*parts[i]);
    if (!is_bare && category == TypeCategory::kBoolean) value = *parts[i] == "t";
    if (error) value = *parts[i];
    object[field] = std::move(value);
  }
  return boost::json::serialize(object);
}

Datum absent_value(const Mapping::Column& column, Type type) {
  if (column.absent == Mapping::Absent::kEmpty) return decode_mapped(column, type, "");
  if (column.absent == Mapping::Absent::kDefault) return decode_mapped(column, type, column.default_text);
  return {};
}

std::optional<Datum> decode_slot(const KeyTemplate::Part& slot, const Mapping::Column& column, Type type, std::string_view text) {
  try {
    Datum value = decode_mapped(column, type, text);
    std::string written = encode_mapped(column, type, value);
    pad(written, slot.width);
    if (written != text) return std::nullopt;
    return value;
  } catch (const SqlError&) {
    return std::nullopt;
  }
}

}  // namespace redquel::sql
