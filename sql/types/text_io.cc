#include "sql/types/text_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <type_traits>
#include <utility>

#include "sql/functions/characters.h"
#include "sql/jsonpath/jsonpath.h"
#include "sql/name_errors.h"
#include "sql/privileges/acl_text.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/bit_string.h"
#include "sql/types/byte_text.h"
#include "sql/types/conversions.h"
#include "sql/types/geometry.h"
#include "sql/types/jsonb.h"
#include "sql/types/money.h"
#include "sql/types/network.h"
#include "sql/types/number_text.h"
#include "sql/types/range_value.h"
#include "sql/types/record_header.h"
#include "sql/types/row_value.h"
#include "sql/types/server_numbers.h"
#include "sql/types/tid.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"
#include "sql/types/zoned_time.h"

namespace redquel::sql {
namespace {

constexpr std::int32_t kHeaderSize = 4;  // counted into the modifiers of char(n) and varchar(n)

/// regtype: a number, "-" or the name of a built-in type.
std::int32_t parse_regtype(std::string_view text) {
  if (text == "-") return 0;
  if (!text.empty() && text.front() >= '0' && text.front() <= '9') return parse_oid(text);
  if (const TypeInfo* info = find_type(text)) return static_cast<std::int32_t>(info->oid);
  const auto found = std::ranges::find(all_types(), text, &TypeInfo::display_name);
  if (found != all_types().end()) return static_cast<std::int32_t>(found->oid);
  throw undefined_type(text);
}

/// regclass and its like: names need the catalog, which is above this room's values.
std::int32_t parse_registered_object(std::string_view text, std::string_view type) {
  if (text == "-") return 0;
  if (!text.empty() && text.front() >= '0' && text.front() <= '9') return parse_oid(text);
  throw not_supported(fmt::format("input of type {} by name", type));
}

/// "char" is one byte; one beyond ASCII is written in octal.
void append_char(std::string_view value, std::string& out) {
  const auto byte = value.empty() ? 0u : static_cast<unsigned char>(value[0]);
  if (byte >= 0x80) {
    out.push_back('\\');
    for (const int shift : {6, 3, 0}) out.push_back(static_cast<char>('0' + (byte >> shift & 7)));
  } else {
    out += value;
  }
}

/// The array's text with every element changed by `change`, which is given the text and gives another.
template <class Change>
std::string map_array(Oid array, std::string_view text, Change change) {
  ArrayValue value = read_array(array, text);
  std::vector<std::optional<std::string_view>> elements = std::move(value.elements);
  value.elements.clear();
  for (const auto& element : elements) {
    if (element) {
      value.add(change(*element));
    } else {
      value.elements.push_back(std::nullopt);
    }
  }
  return array_text(array, value);
}

/// An array's text form with every element in the form that its type prints.
std::string parse_array(Oid array, std::string_view text, const SessionSettings& settings, Now now) {
  const Type element{type_info(array).element};
  return map_array(array, text, [&](std::string_view item) { return format_value(element, parse_value(element, item, settings, now)); });
}

/// A stored array with its elements as these settings print them.
void append_array_value(Oid array, std::string_view value, const SessionSettings& settings, std::string& out) {
  const Type element{type_info(array).element};
  if (output_is_storage_form(element, settings)) {
    out += value;
  } else {
    out += map_array(array, value, [&](std::string_view item) { return format_value(element, stored_value(element, item), settings); });
  }
}

/// A row with its fields as these settings print them.
void append_row_value(Oid type, std::string_view value, const SessionSettings& settings, std::string& out) {
  // Nothing is looked at then: while a type changes, rows of its new form are written before it is known.
  if (type != oid::kRecord && settings == SessionSettings{}) {
    out += value;
    return;
  }
  if (type == oid::kRecord) {
    const RecordHeader header = read_record_header(value);
    if (std::ranges::all_of(header.types, [&](Type field) { return output_is_storage_form(field, settings); })) {
      out += value.substr(header.length);
      return;
    }
  }
  const RowValue row = read_row(type, value);
  RowValue printed;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    std::optional<std::string> text;
    if (row.fields[i]) text = format_value(row.types[i], stored_value(row.types[i], *row.fields[i]), settings);
    printed.add(row.types[i], text);
  }
  append_plain_row(printed, out);
}

/// A literal of a composite type, every field in its storage form.
std::string parse_row(Oid type, std::string_view text, const SessionSettings& settings, Now now) {
  const UserType& composite = *find_user_type(type);
  const std::vector<std::optional<std::string>> fields = split_row_literal(text, composite.fields.size());
  RowValue row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Type field = composite.fields[i].type;
    std::optional<std::string> stored;
    if (fields[i]) stored = format_value(field, apply_modifier(field, parse_value(field, *fields[i], settings, now), false));
    row.add(field, stored);
  }
  return row_text(type, row);
}

std::string_view parse_label(Type type, std::string_view text) {
  const EnumLabel* label = find_label(type.oid, text);
  if (label != nullptr && label->name == text) return text;
  throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input value for enum {}: \"{}\"", format_type(type), text));
}

std::string range_text(Oid type, const RangeValue& value, const SessionSettings& settings) {
  std::string text;
  append_range(type, value, settings, text);
  return text;
}
std::string range_text(Oid type, const RangeSet& value, const SessionSettings& settings) {
  std::string text;
  append_multirange(type, value, settings, text);
  return text;
}

/// Subtypes of ranges, elements of arrays: what decides how values that are made of them print. The type itself of others.
Type part_of(Type type) {
  if (is_array_type(type.oid)) return part_of(Type{type_info(type.oid).element});
  if (is_multirange_type(type.oid)) return range_subtype(range_in(type.oid));
  return is_range_type(type.oid) ? range_subtype(type.oid) : type;
}

/// Hands the parsed value to `take`, which a Datum and a column do in their own way.
template <class Take>
auto parse_with(Type type, std::string_view text, const SessionSettings& settings, Now now, Take take) {
  switch (type.oid) {
    case oid::kBool:
      return take(parse_bool(text));
    case oid::kInt2:
      return take(parse_int2(text));
    case oid::kInt4:
      return take(parse_int4(text));
    case oid::kInt8:
      return take(parse_int8(text));
    case oid::kFloat4:
      return take(parse_float4(text));
    case oid::kFloat8:
      return take(parse_float8(text));
    case oid::kNumeric:
      return take(Numeric::parse(text));
    case oid::kText:
    case oid::kVarchar:
    case oid::kBpchar:
    case oid::kUnknown:
    case oid::kCstring:
    case 1790:  // refcursor: the name of one
      return take(text);
    case oid::kName:
      return take(name_from_text(text));
    case oid::kChar:
      return take(char_from_text(text));
    case oid::kBytea:
      return take(parse_bytea(text));
    case oid::kUuid:
      return take(parse_uuid(text));
    case oid::kJson:
      check_json(text);
      return take(text);
    case oid::kJsonb:
      return take(parse_jsonb(text));
    case oid::kBit:
    case oid::kVarbit:
      return take(parse_bits(text));
    case oid::kInet:
    case oid::kCidr:
      return take(parse_network(type.oid, text));
    case oid::kMacaddr:
    case oid::kMacaddr8:
      return take(parse_hardware_address(type.oid, text));
    case oid::kTimetz:
      return take(parse_zoned_time(text, settings, now).encode());
    case oid::kJsonpath:
      return take(to_string(parse_jsonpath(text)));
    case oid::kDate:
      return take(parse_date(text, settings, now));
    case oid::kTime:
      return take(parse_time(text, settings, now));
    case oid::kTimestamp:
      return take(parse_timestamp(text, settings, now));
    case oid::kTimestamptz:
      return take(parse_timestamptz(text, settings, now));
    case oid::kInterval:
      return take(parse_interval(text, settings, type.modifier));
    case oid::kOid:
      return take(parse_oid(text));
    case oid::kMoney:
      return take(parse_money(text));
    case oid::kTid:
      return take(parse_tid(text));
    case oid::kXid:
    case oid::kCid:
      return take(parse_xid(text));
    case oid::kXid8:
      return take(parse_xid8(text));
    case oid::kPgLsn:
      return take(parse_log_position(text));
    case oid::kRegtype:
      return take(parse_regtype(text));
    case oid::kRegclass:
    case oid::kRegproc:
    case oid::kRegprocedure:
    case oid::kRegnamespace:
    case oid::kRegrole:
    case oid::kRegoper:
    case oid::kRegoperator:
    case oid::kRegcollation:
      return take(parse_registered_object(text, type_info(type.oid).name));
    case oid::kPgSnapshot:
    case oid::kTxidSnapshot:
      return take(snapshot_text(parse_snapshot(text)));
    case oid::kAclitem:
      return take(acl_item_text(read_acl_item(text)));
    case oid::kNodeTree:
      throw SqlError(sqlstate::kFeatureNotSupported, "cannot accept a value of type pg_node_tree");
    case oid::kVoid:
      return take(std::string_view());
    default:
      break;
  }
  if (is_geometric_type(type.oid)) return take(canonical_geometry(type.oid, text));
  if (is_range_type(type.oid)) return take(range_text(type.oid, parse_range(type.oid, text, settings, now), {}));
  if (is_multirange_type(type.oid)) return take(range_text(type.oid, parse_multirange(type.oid, text, settings, now), {}));
  if (is_array_type(type.oid)) {
    const std::string array = parse_array(type.oid, text, settings, now);
    const Type under = array_under(type);  // an array of a domain takes the domain's modifier
    if (under.modifier < 0) return take(array);
    return take(std::get<std::string>(apply_modifier(under, array, false)));
  }
  if (is_enum_type(type.oid)) return take(parse_label(type, text));
  if (is_composite_type(type.oid)) return take(parse_row(type.oid, text, settings, now));
  if (type.oid == oid::kRecord) throw SqlError(sqlstate::kFeatureNotSupported, "input of anonymous composite types is not implemented");
  if (type_info(type.oid).category == TypeCategory::kPseudo)
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot accept a value of type {}", type_info(type.oid).name));
  throw not_supported(fmt::format("input of type {}", format_type(type)));
}

/// Types that are kept as text or bytes.
void format_text(Type type, std::string_view value, const SessionSettings& settings, std::string& out) {
  switch (type.oid) {
    case oid::kBytea:
      append_bytea(value, settings.bytea_output, out);
      break;
    case oid::kChar:
      append_char(value, out);
      break;
    case oid::kInet:
    case oid::kCidr:
      append_network(type.oid, value, out);
      break;
    case oid::kMacaddr:
    case oid::kMacaddr8:
      append_hardware_address(value, out);
      break;
    case oid::kTimetz:
      append_zoned_time(ZonedTime::decode(value), out);
      break;
    case oid::kBpchar:
      out += value;
      append_padding(type, value, out);
      break;
    default:
      if (is_geometric_type(type.oid) && settings.extra_float_digits < 1) {
        out += canonical_geometry(type.oid, value, settings.extra_float_digits);
      } else if (is_array_type(type.oid)) {
        append_array_value(type.oid, value, settings, out);
      } else if (is_row_type(type.oid)) {
        append_row_value(type.oid, value, settings, out);
      } else if (is_range_type(type.oid) && !output_is_storage_form(type, settings)) {
        append_range(type.oid, parse_range(type.oid, value, {}), settings, out);
      } else if (is_multirange_type(type.oid) && !output_is_storage_form(type, settings)) {
        append_multirange(type.oid, read_ranges(type.oid, value), settings, out);
      } else {
        out += value;
      }
  }
}

/// Prints one value; `Text` alternatives are std::string of a Datum or std::string_view of a column.
template <class Value>
void format(Type type, const Value& value, const SessionSettings& settings, std::string& out) {
  if constexpr (std::is_same_v<Value, bool>) {
    out.push_back(value ? 't' : 'f');
  } else if constexpr (std::is_same_v<Value, std::int16_t>) {
    append_integer(value, out);
  } else if constexpr (std::is_same_v<Value, std::int32_t>) {
    switch (type.oid) {
      case oid::kDate:
        append_date(value, settings, out);
        break;
      case oid::kInt4:
        append_integer(value, out);
        break;
      default:  // oids, also of objects whose names are shown where the catalog is known, and transactions
        append_integer(static_cast<std::uint32_t>(value), out);
    }
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    switch (type.oid) {
      case oid::kTime:
        append_time(value, out);
        break;
      case oid::kTimestamp:
        append_timestamp(value, settings, out);
        break;
      case oid::kTimestamptz:
        append_timestamptz(value, settings, out);
        break;
      case oid::kMoney:
        append_money(value, out);
        break;
      case oid::kTid:
        append_tid(value, out);
        break;
      case oid::kXid8:
        out += std::to_string(to_unsigned_bits(value));
        break;
      case oid::kPgLsn:
        append_log_position(value, out);
        break;
      default:
        append_integer(value, out);
    }
  } else if constexpr (std::is_same_v<Value, float>) {
    append_float4(value, settings.extra_float_digits, out);
  } else if constexpr (std::is_same_v<Value, double>) {
    append_float8(value, settings.extra_float_digits, out);
  } else if constexpr (std::is_same_v<Value, Numeric>) {
    value.append_to(out);
  } else if constexpr (std::is_same_v<Value, Interval>) {
    append_interval(value, settings, out);
  } else if constexpr (std::is_same_v<Value, Uuid>) {
    append_uuid(value, out);
  } else if constexpr (!std::is_same_v<Value, std::monostate>) {
    format_text(type, value, settings, out);
  }
}

/// varchar(n), char(n): n characters at most.
std::string cut_to_length(Type type, std::string text, bool explicit_cast) {
  const auto limit = static_cast<std::size_t>(type.modifier - kHeaderSize);
  const std::size_t kept = utf8_prefix(text, limit);
  if (kept < text.size()) {
    // Blanks may go without a word.
    if (!explicit_cast && text.find_first_not_of(' ', kept) != std::string::npos)
      throw SqlError(sqlstate::kStringDataRightTruncation, fmt::format("value too long for type {}", format_type(type)));
    text.resize(kept);
  }
  if (type.oid == oid::kBpchar) append_padding(type, text, text);
  return text;
}

}  // namespace

Datum parse_value(Type type, std::string_view text, const SessionSettings& settings, Now now) {
  return parse_with(type, text, settings, now, [](auto&& value) -> Datum {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>) {
      return std::string(value);
    } else {
      return std::forward<decltype(value)>(value);
    }
  });
}

void append_parsed(Column& column, std::string_view text, const SessionSettings& settings, Now now) {
  parse_with(column.type(), text, settings, now, [&](const auto& value) { column.append(value); });
}

bool has_modifier_effect(Type type) {
  if (type.modifier < 0) return false;
  switch (type.oid) {
    case oid::kVarchar:
    case oid::kBpchar:
    case oid::kNumeric:
      return type.modifier >= kHeaderSize;
    case oid::kTime:
    case oid::kTimestamp:
    case oid::kTimestamptz:
      return type.modifier < 6;
    case oid::kTimetz:
      return type.modifier < 6;
    case oid::kInterval:
    case oid::kBit:
    case oid::kVarbit:
      return true;
    default:
      return is_array_type(type.oid) && has_modifier_effect(element_type_of(type));
  }
}

Datum apply_modifier(Type type, Datum value, bool explicit_cast) {
  if (is_null(value) || !has_modifier_effect(type)) return value;
  switch (type.oid) {
    case oid::kVarchar:
    case oid::kBpchar:
      return cut_to_length(type, std::get<std::string>(std::move(value)), explicit_cast);
    case oid::kNumeric:
      return std::get<Numeric>(value).with_modifier(type.modifier);
    case oid::kBit:
    case oid::kVarbit:
      return fit_bits(type, std::get<std::string>(std::move(value)), explicit_cast);
    case oid::kTimetz: {
      ZonedTime time = ZonedTime::decode(std::get<std::string>(value));
      time.time = apply_time_modifier(time.time, type.modifier);
      return time.encode();
    }
    case oid::kTime:
      return apply_time_modifier(std::get<std::int64_t>(value), type.modifier);
    case oid::kTimestamp:
    case oid::kTimestamptz:
      return apply_timestamp_modifier(std::get<std::int64_t>(value), type.modifier);
    case oid::kInterval:
      return apply_interval_modifier(std::get<Interval>(value), type.modifier);
    default: {
      const Type element = element_type_of(type);
      return map_array(type.oid, std::get<std::string>(value), [&](std::string_view item) {
        return format_value(element, apply_modifier(element, parse_value(element, item, {}), explicit_cast));
      });
    }
  }
}

void append_padding(Type type, std::string_view value, std::string& out) {
  if (type.modifier < kHeaderSize) return;
  const auto wanted = static_cast<std::size_t>(type.modifier - kHeaderSize);
  const std::size_t length = utf8_length(value);
  if (length >= wanted) return;
  check_text_size(value.size() + wanted - length);
  out.append(wanted - length, ' ');
}

void format_value(Type type, const Datum& value, const SessionSettings& settings, std::string& out) {
  std::visit([&](const auto& alternative) { format(type, alternative, settings, out); }, value);
}

std::string format_value(Type type, const Datum& value, const SessionSettings& settings) {
  std::string out;
  format_value(type, value, settings, out);
  return out;
}

void format_value(const Column& column, std::size_t row, const SessionSettings& settings, std::string& out) {
  const Type type = column.type();
  if (column.is_encoded()) {
    const std::string_view text = column.get<std::string_view>(row);
    if (output_is_storage_form(type, settings)) {
      out += text;
    } else {
      format_value(type, parse_value(type, text, {}), settings, out);
    }
    return;
  }
  switch (storage_of(type)) {
    case Storage::kBool:
      format(type, column.get<bool>(row), settings, out);
      break;
    case Storage::kInt2:
      format(type, column.get<std::int16_t>(row), settings, out);
      break;
    case Storage::kInt4:
      format(type, column.get<std::int32_t>(row), settings, out);
      break;
    case Storage::kInt8:
      format(type, column.get<std::int64_t>(row), settings, out);
      break;
    case Storage::kFloat4:
      format(type, column.get<float>(row), settings, out);
      break;
    case Storage::kFloat8:
      format(type, column.get<double>(row), settings, out);
      break;
    case Storage::kNumeric:
      format(type, column.ref<Numeric>(row), settings, out);
      break;
    case Storage::kText:
      format(type, column.get<std::string_view>(row), settings, out);
      break;
    case Storage::kInterval:
      format(type, column.get<Interval>(row), settings, out);
      break;
    case Storage::kUuid:
      format(type, column.get<Uuid>(row), settings, out);
      break;
  }
}

bool is_kept_as_text(Oid type) {
  switch (type) {
    case oid::kBytea:
    case oid::kChar:
    case oid::kInet:
    case oid::kCidr:
    case oid::kMacaddr:
    case oid::kMacaddr8:
    case oid::kTimetz:
      return false;
    default:
      return storage_of(Type{type}) == Storage::kText;
  }
}

Datum stored_value(Type type, std::string_view text) {
  if (is_kept_as_text(type.oid) && type.oid != oid::kBpchar) return std::string(text);
  return parse_value(type, text, {});
}

bool output_depends_on_settings(Type type) {
  if (is_row_type(type.oid)) return true;
  switch (type.oid) {
    case oid::kDate:
    case oid::kTimestamp:
    case oid::kTimestamptz:
    case oid::kInterval:
    case oid::kBytea:
    case oid::kFloat4:
    case oid::kFloat8:
      return true;
    default:
      if (is_geometric_type(type.oid)) return true;
      return part_of(type) != type && output_depends_on_settings(part_of(type));
  }
}

bool output_is_storage_form(Type type, const SessionSettings& settings) {
  switch (type.oid) {
    // The default case would find these, too; they are frequent in small answers.
    case oid::kInt2:
    case oid::kInt4:
    case oid::kInt8:
    case oid::kNumeric:
    case oid::kText:
    case oid::kVarchar:
      return true;
    case oid::kBpchar:
      return type.modifier < 0;  // else its blanks are put back
    case oid::kDate:
    case oid::kTimestamp:
      return settings.date_style == DateStyle::kIso;
    case oid::kTimestamptz: {
      if (settings.date_style != DateStyle::kIso) return false;
      if (settings.time_zone == "UTC") return true;
      const TimeZone& zone = session_zone(settings);
      return zone.at(0).offset == 0 && zone.is_fixed();
    }
    case oid::kInterval:
      return settings.interval_style == IntervalStyle::kPostgres;
    case oid::kBytea:
      return settings.bytea_output == ByteaOutput::kHex;
    case oid::kFloat4:
    case oid::kFloat8:
      return settings.extra_float_digits > 0;
    case oid::kRecord:
      return false;  // it says its fields' types
    default:
      if (is_geometric_type(type.oid)) return settings.extra_float_digits > 0;
      if (is_composite_type(type.oid)) {
        return std::ranges::all_of(find_user_type(type.oid)->fields, [&](const CompositeField& field) {
          return output_is_storage_form(Type{field.type.oid}, settings) && !has_modifier_effect(field.type);
        });
      }
      return part_of(type) == type || output_is_storage_form(part_of(type), settings);
  }
}

}  // namespace redquel::sql
