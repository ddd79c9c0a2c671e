#include "sql/catalog/key_classification.h"

#include <algorithm>

#include "sql/catalog/key_segments.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"

namespace redquel::sql {

KeyClassifier::KeyClassifier(const TableDef& table) : table_(table) {
  for (const ColumnDef& column : table.computed) numbers_.emplace(escape_name(column.field), column.number);
  for (const ColumnDef& column : table.columns) numbers_.emplace(escape_name(column.field), column.number);
}

KeyRole KeyClassifier::role(const std::vector<std::string_view>& segments) const {
  const std::string_view first = segments.front();
  const std::size_t size = segments.size();
  if (size == 2 && segments[1] == kExpirySegment && (first == "zset" || first == "indices")) {
    return table_.rows_expire() ? KeyRole{KeyRole::Kind::kExpiries, {}, {}} : KeyRole{};
  }
  if (first == "id") return size <= 2 ? KeyRole{KeyRole::Kind::kSequence, {}, {}} : KeyRole{};
  if (first == "rowid") return size == 1 ? KeyRole{KeyRole::Kind::kRowCounter, {}, {}} : KeyRole{};
  if (first == "zset") {
    if (size == 1) return {KeyRole::Kind::kAllRows, {}, {}};
    return size == 2 ? with_columns(KeyRole::Kind::kOrdered, {segments[1]}) : KeyRole{};
  }
  if (first == "uniques") return with_columns(KeyRole::Kind::kUniques, {segments.begin() + 1, segments.end()});
  if (first == "indices") return index_role(segments);
  return row_role(segments);
}

KeyRole KeyClassifier::with_columns(KeyRole::Kind kind, const std::vector<std::string_view>& names) const {
  KeyRole role{kind, {}, {}};
  for (std::string_view name : names) {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) return {};
    role.columns.push_back(found->second);
  }
  return role.columns.empty() ? KeyRole{} : role;
}

KeyRole KeyClassifier::index_role(const std::vector<std::string_view>& segments) const {
  if (segments.size() == 2) {
    std::vector<std::string_view> names;
    std::string_view rest = segments[1];
    while (true) {
      const std::size_t comma = rest.find(',');
      names.push_back(rest.substr(0, comma));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    return with_columns(KeyRole::Kind::kValues, names);
  }
  if (segments.size() % 2 == 0) return {};
  std::vector<std::string_view> names;
  std::vector<std::string> values;
  for (std::size_t index = 1; index < segments.size(); index += 2) {
    names.push_back(segments[index]);
    values.emplace_back(segments[index + 1]);
  }
  const bool is_null_set = values.size() == 1 && values[0] == kNullSegment;
  KeyRole role = with_columns(is_null_set ? KeyRole::Kind::kNullSet : KeyRole::Kind::kValueSet, names);
  if (role.kind != KeyRole::Kind::kUnknown) role.segments = std::move(values);
  return role;
}

KeyRole KeyClassifier::row_role(const std::vector<std::string_view>& segments) const {
  if (segments.size() != TableKeys(table_).key_size()) return {};
  return {KeyRole::Kind::kRow, {}, {segments.begin(), segments.end()}};
}

std::optional<KeyRole> KeyClassifier::classify(std::string_view key) const {
  if (!key.starts_with(table_.prefix)) return std::nullopt;
  key.remove_prefix(table_.prefix.size());
  if (key.empty() || key.front() != ':') return std::nullopt;
  key.remove_prefix(1);
  return role(split_segments(key));
}

std::optional<KeyRole> classify(const TableDef& table, std::string_view key) { return KeyClassifier(table).classify(key); }

std::optional<std::string> member_of_row(const TableDef& table, const KeyRole& row) {
  const TableKeys keys(table);
  std::string member;
  try {
    for (std::size_t index = 0; index < row.segments.size(); ++index) {
      if (is_hashed_segment(row.segments[index])) return std::nullopt;
      const std::string value = unescape_segment(row.segments[index]);
      if (index > 0) member += ':';
      member += row.segments.size() == 1 ? value : escape_unhashed(value);
    }
    // Another spelling of the same value (`emp:007`) is no key that redquel made.
    const std::vector<Datum> values = keys.decode_member(member);
    if (keys.member(values) != member) return std::nullopt;
  } catch (const SqlError&) {
    return std::nullopt;
  }
  return member;
}

}  // namespace redquel::sql
