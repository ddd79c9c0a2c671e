#include "sql/catalog/table_keys.h"

#include <algorithm>
#include <cassert>

#include "sql/catalog/buckets.h"
#include "sql/catalog/key_segments.h"
#include "sql/catalog/prefixes.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/index_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {

namespace {

/// Returns the segment of a value in a key.
std::string value_segment(Type type, const Datum& value) {
  return is_null(value) ? std::string(kNullSegment) : escape_segment(canonical_text(type, value));
}

std::string unhashed_segment(Type type, const Datum& value) {
  return is_null(value) ? std::string(kNullSegment) : escape_unhashed(canonical_text(type, value));
}

/// Returns true if escaping never changes the text of a value of the type.
bool never_escaped(Type type) { return operations_of(type.oid).is_never_escaped; }

SqlError needs_one_bucket(const TableDef& table) {
  return not_supported("this statement over table \"" + table.name + "\", which lies in several parts,");
}

/// Returns the part of a table that has the row with these texts in its key; nullptr: no partition takes it.
const TableDef* part_of_member(const TableDef& table, const std::vector<std::string>& key) {
  if (table.router) {
    // A unique key has the columns of the partition key: the row as far as they know it.
    if (table.has_hidden_key()) throw needs_one_bucket(table);
    std::vector<Datum> row(table.columns.size());
    for (std::size_t i = 0; i < key.size(); ++i) row[table.position(table.primary_key[i])] = parse_value(table.find_column(table.primary_key[i])->type, key[i], {});
    const std::optional<std::size_t> part = table.router->part_of_row(row);
    return part ? table.parts[*part].get() : nullptr;
  }
  const std::int16_t column = table.spread->column;
  const auto found = std::ranges::find(table.primary_key, column);
  if (column != 0 && found == table.primary_key.end()) throw needs_one_bucket(table);
  return table.parts[part_number(key[column == 0 ? 0 : static_cast<std::size_t>(found - table.primary_key.begin())], table.parts.size())].get();
}

SqlError malformed_member(const TableDef& table) {
  return SqlError(sqlstate::kDataCorrupted, "index entry of table \"" + table.name + "\" is not a key of its rows")
      .schema(table.schema)
      .table(table.name);
}

}  // namespace

Type TableKeys::key_type(std::size_t position) const {
  return table_.has_hidden_key() ? kInt8 : table_.find_column(table_.primary_key[position])->type;
}

std::string TableKeys::member(std::span<const Datum> primary_key) const {
  assert(primary_key.size() == key_size());
  if (primary_key.size() == 1) return canonical_text(key_type(0), primary_key[0]);
  std::string out;
  for (std::size_t position = 0; position < primary_key.size(); ++position) {
    if (position > 0) out += ':';
    out += unhashed_segment(key_type(position), primary_key[position]);
  }
  return out;
}

std::string TableKeys::member_prefix(std::span<const Datum> first_values) const {
  std::string out;
  for (std::size_t position = 0; position < first_values.size(); ++position) {
    out += unhashed_segment(key_type(position), first_values[position]);
    out += ':';
  }
  return out;
}

const std::string& TableKeys::prefix() const {
  if (table_.parts.empty()) return table_.prefix;
  throw needs_one_bucket(table_);
}

std::string TableKeys::row(std::span<const Datum> primary_key) const { return row_of_member(member(primary_key)); }

std::string TableKeys::row_of_member(std::string_view member) const {
  if (!table_.parts.empty()) {
    const TableDef* part = part_of_member(table_, split_member(member));
    if (part != nullptr) return TableKeys(*part).row_of_member(member);
  }
  std::string key;
  const std::string& start = table_.prefix;  // of a partitioned table: no row is there
  key.reserve(start.size() + 1 + member.size());
  key += start;
  if (key_size() == 1) {
    key += ':';
    append_escaped_segment(member, key);
    return key;
  }
  for (std::string_view segment : split_segments(member)) {
    key += ':';
    // A segment may be long because of its escapes alone; only the value's own length counts.
    if (segment.size() > kMaxSegmentValue) {
      key += escape_segment(unescape_segment(segment));
    } else {
      key += segment;
    }
  }
  return key;
}

std::vector<std::string> TableKeys::split_member(std::string_view member) const {
  std::vector<std::string> texts;
  if (key_size() == 1) {
    texts.emplace_back(member);
    return texts;
  }
  for (std::string_view segment : split_segments(member)) texts.push_back(unescape_segment(segment));
  if (texts.size() != key_size()) throw malformed_member(table_);
  return texts;
}

std::vector<Datum> TableKeys::decode_member(std::string_view member) const {
  const std::vector<std::string> texts = split_member(member);
  std::vector<Datum> values;
  for (std::size_t position = 0; position < texts.size(); ++position) {
    const Type type = key_type(position);
    try {
      values.push_back(apply_modifier(type, parse_value(type, texts[position], SessionSettings{}), true));
    } catch (const SqlError&) {
      throw malformed_member(table_);
    }
  }
  return values;
}

std::string TableKeys::all_rows() const { return prefix() + ":zset"; }

std::string TableKeys::field_segment(std::int16_t column) const { return escape_name(table_.find_column(column)->field); }

std::string TableKeys::value_set(std::span<const std::int16_t> columns, std::span<const Datum> values) const {
  assert(columns.size() == values.size());
  std::string key = prefix() + ":indices";
  for (std::size_t index = 0; index < columns.size(); ++index) {
    key += ':';
    key += field_segment(columns[index]);
    key += ':';
    key += value_segment(table_.find_column(columns[index])->type, values[index]);
  }
  return key;
}

std::string TableKeys::value_set_of_entry(std::span<const std::int16_t> columns, std::string_view entry) const {
  std::string key = prefix() + ":indices";
  if (columns.size() == 1) {
    return key.append(":").append(field_segment(columns[0])).append(":").append(escape_segment(entry));
  }
  const std::vector<std::string_view> segments = split_segments(entry);
  if (segments.size() != columns.size()) throw malformed_member(table_);
  for (std::size_t index = 0; index < columns.size(); ++index) {
    key += ':';
    key += field_segment(columns[index]);
    key += ':';
    key += segments[index] == kNullSegment ? std::string(kNullSegment) : escape_segment(unescape_segment(segments[index]));
  }
  return key;
}

std::string TableKeys::null_set(std::int16_t column) const {
  return table_.prefix + ":indices:" + field_segment(column) + ":" + std::string(kNullSegment);
}

std::string TableKeys::values(std::span<const std::int16_t> columns) const {
  return table_.prefix + ":indices:" + joined_fields(columns);
}

std::string TableKeys::joined_fields(std::span<const std::int16_t> columns) const {
  std::string fields;
  for (const std::int16_t column : columns) {
    if (!fields.empty()) fields += ',';
    fields += field_segment(column);
  }
  return fields;
}

std::string TableKeys::values_entry(std::span<const std::int16_t> columns, std::span<const Datum> values) const {
  if (columns.size() == 1) return canonical_text(table_.find_column(columns[0])->type, values[0]);
  std::string out;
  for (std::size_t index = 0; index < columns.size(); ++index) {
    if (index > 0) out += ':';
    out += unhashed_segment(table_.find_column(columns[index])->type, values[index]);
  }
  return out;
}

std::string TableKeys::entries_of(std::string_view kind, std::int16_t column) const {
  return (prefix() + ":indices:").append(kind).append(":").append(field_segment(column));
}

std::string TableKeys::rows_with(std::string_view kind, std::int16_t column, std::string_view entry) const {
  return entries_of(kind, column).append(":").append(escape_segment(entry));
}

std::string TableKeys::ordered(std::int16_t column) const { return prefix() + ":zset:" + field_segment(column); }

std::string TableKeys::value_zset(std::span<const std::int16_t> columns, std::span<const Datum> leading, bool of_nulls) const {
  assert(columns.size() == leading.size() + 1);
  std::string key = prefix() + ":zset";
  for (std::size_t index = 0; index < leading.size(); ++index) {
    key.append(":").append(field_segment(columns[index])).append(":");
    key += value_segment(table_.find_column(columns[index])->type, leading[index]);
  }
  key.append(":").append(field_segment(columns.back()));
  if (of_nulls) key.append(":").append(kNullSegment);
  return key;
}

std::string TableKeys::value_zsets(std::span<const std::int16_t> columns) const { return table_.prefix + ":zset:" + joined_fields(columns); }

std::string TableKeys::value_zset_entry(std::span<const std::int16_t> columns, std::span<const Datum> leading, bool of_nulls) const {
  std::string entry;
  for (std::size_t index = 0; index < leading.size(); ++index) {
    if (index > 0) entry += ':';
    entry += unhashed_segment(table_.find_column(columns[index])->type, leading[index]);
  }
  if (of_nulls) entry.append(":").append(kNullSegment);
  return entry;
}

std::string TableKeys::value_zset_of_entry(std::span<const std::int16_t> columns, std::string_view entry) const {
  const std::vector<std::string_view> segments = split_segments(entry);
  const std::size_t leading = columns.size() - 1;
  const bool of_nulls = segments.size() == columns.size() && segments.back() == kNullSegment;
  if (segments.size() != leading && !of_nulls) throw malformed_member(table_);
  std::string key = prefix() + ":zset";
  for (std::size_t index = 0; index < leading; ++index) {
    key.append(":").append(field_segment(columns[index])).append(":").append(escape_segment(unescape_segment(segments[index])));
  }
  key.append(":").append(field_segment(columns.back()));
  if (of_nulls) key.append(":").append(kNullSegment);
  return key;
}

std::string TableKeys::uniques(std::span<const std::int16_t> columns) const {
  std::string key = (lies_by_value(table_, columns) ? table_.prefix : prefix()) + ":uniques";
  for (std::int16_t column : columns) key.append(":").append(field_segment(column));
  return key;
}

std::string TableKeys::uniques_with(std::span<const std::int16_t> columns, std::string_view field) const {
  const std::string key = uniques(columns);
  if (!lies_by_value(table_, columns)) return key;
  const SpreadDef::Place& place = table_.spread->places[part_of_unique_value(table_, field)];
  return std::string(bucket_tag(place.bucket)).append(without_tag(key));
}

std::string TableKeys::unique_field(std::span<const std::int16_t> columns, std::span<const Datum> values) const {
  // No text of PostgreSQL holds a zero byte, so it can stand for the NULL of NULLS NOT DISTINCT beside raw values.
  if (columns.size() == 1 && is_null(values[0])) return std::string(1, '\0');
  return values_entry(columns, values);
}

std::string TableKeys::row_counter() const { return table_.prefix + ":rowid"; }

std::string TableKeys::expiries() const { return all_rows().append(":").append(kExpirySegment); }

std::string TableKeys::entries() const { return table_.prefix + ":indices:" + std::string(kExpirySegment); }

std::string TableKeys::changes() const { return std::string(table_.tag()).append(kChangesPrefix) + std::to_string(table_.oid); }

std::string TableKeys::row_pattern() const { return prefix() + ":*"; }

bool TableKeys::sort_get_is_safe() const {
  // Redis substitutes the first '*' and looks for "->" behind it: prefixes have no '*', and what follows "->" is the field whole.
  for (std::size_t position = 0; position < key_size(); ++position) {
    if (!never_escaped(key_type(position))) return false;
  }
  return true;
}

std::string TableKeys::row_score(std::span<const Datum> primary_key) const {
  if (primary_key.size() != 1 || !is_integer_type(key_type(0).oid)) return "0";
  return ordered_score(key_type(0), primary_key[0]);
}

bool TableKeys::row_score_is_exact() const {
  return key_size() == 1 && (key_type(0).oid == oid::kInt2 || key_type(0).oid == oid::kInt4);
}

std::string TableKeys::ordered_member(std::int16_t column, const Datum& value, std::string_view member) const {
  const Type type = table_.find_column(column)->type;
  if (has_score(type)) return std::string(member);
  return ordered_member_prefix(type, value).append(1, '\0').append(member);
}

std::string TableKeys::score_in_order(std::int16_t column, const Datum& value) const {
  const Type type = table_.find_column(column)->type;
  return has_score(type) ? ordered_score(type, value) : "0";
}

std::string_view TableKeys::member_of_ordered(std::string_view ordered_member) {
  // Members themselves hold no zero byte.
  const std::size_t zero = ordered_member.rfind('\0');
  return zero == std::string_view::npos ? ordered_member : ordered_member.substr(zero + 1);
}

const ColumnDef* TableKeys::presence_column() const {
  const auto* rows = std::get_if<ManagedRows>(&table_.storage);
  if (rows != nullptr && rows->presence) return *rows->presence == 0 ? nullptr : table_.find_column(*rows->presence);
  for (const ColumnDef& column : table_.columns) {
    if (column.not_null && !column.missing && !table_.in_primary_key(column.number)) return &column;
  }
  return nullptr;
}

std::string TableKeys::presence_field() const {
  if (const ColumnDef* column = presence_column()) return column->field;
  return table_.has_hidden_key() ? std::string(kHiddenKeyField) : table_.find_column(table_.primary_key.front())->field;
}

bool TableKeys::stores_key_column(const ColumnDef& column) const {
  return presence_column() == nullptr || !canonical_text_is_output(column.type);
}

bool TableKeys::writes_key_column(const ColumnDef* column) const {
  const auto* rows = std::get_if<ManagedRows>(&table_.storage);
  if ((rows != nullptr && rows->stores_key) || presence_column() == nullptr) return true;
  return column != nullptr && !canonical_text_is_output(column->type);
}

}  // namespace redquel::sql
