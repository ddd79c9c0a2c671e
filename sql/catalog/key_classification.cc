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
    return table_.rows_expire() ? KeyRole{.kind = KeyRole::Kind::kExpiries} : KeyRole();
  }
  if (first == "id") return size <= 2 ? KeyRole{.kind = KeyRole::Kind::kSequence} : KeyRole();
  if (first == "rowid") return size == 1 ? KeyRole{.kind = KeyRole::Kind::kRowCounter} : KeyRole();
  if (first == "zset" && size == 1) return {.kind = KeyRole::Kind::kAllRows};
  for (const StructureKind* kind : structure_kinds()) {
    if (const std::optional<StructureKeyName> name = kind->read_key(segments)) return structure_role(*kind, *name);
  }
  if (first == "zset" || first == "uniques" || first == "indices") return {};
  return row_role(segments);
}

KeyRole KeyClassifier::structure_role(const StructureKind& kind, const StructureKeyName& name) const {
  KeyRole role{.kind = name.values.empty() ? KeyRole::Kind::kStructure : KeyRole::Kind::kValueSet, .structure = &kind};
  for (const std::string_view column : name.columns) {
    const auto found = numbers_.find(column);
    if (found == numbers_.end()) return {};
    role.columns.push_back(found->second);
  }
  role.segments.assign(name.values.begin(), name.values.end());
  return role;
}

KeyRole KeyClassifier::row_role(const std::vector<std::string_view>& segments) const {
  if (segments.size() != TableKeys(table_).key_size()) return {};
  return {.kind = KeyRole::Kind::kRow, .segments = {segments.begin(), segments.end()}};
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
