#include "sql/catalog/member_form.h"

#include <algorithm>

#include "sql/catalog/key_segments.h"
#include "sql/types/index_value.h"

namespace redquel::sql {

namespace {

bool is_over(const IndexDef& index, std::span<const std::int16_t> columns) {
  return std::ranges::equal(index.parts, columns, {}, &IndexDef::Part::column);
}

/// Returns the parts of the key that the columns are, for either form of members.
OmittedParts parts_of_key(const TableDef& table, std::span<const std::int16_t> columns) {
  const std::vector<std::int16_t>& key = table.primary_key;
  if (columns.empty() || columns.size() >= key.size()) return {};
  if (std::ranges::equal(columns, std::span(key).first(columns.size()))) return {columns.size(), 0};
  if (std::ranges::equal(columns, std::span(key).last(columns.size()))) return {0, columns.size()};
  return {};
}

}  // namespace

OmittedParts omitted_parts(const TableDef& table, std::span<const std::int16_t> columns) {
  const OmittedParts parts = parts_of_key(table, columns);
  if (!parts.any() || table.rows_expire() || table.is_mapped()) return {};
  const auto has_whole_members = [&](const IndexDef& index) {
    return !index.short_members && index.state != IndexState::kDropping && is_over(index, columns);
  };
  return std::ranges::any_of(table.indexes, has_whole_members) ? OmittedParts() : parts;
}

std::string_view short_member(std::string_view member, const OmittedParts& omitted) {
  std::size_t begin = 0, end = member.size();
  for (std::size_t part = 0; part < omitted.first; ++part) begin = member.find(':', begin) + 1;
  for (std::size_t part = 0; part < omitted.last; ++part) end = member.rfind(':', end - 1);
  return member.substr(begin, end - begin);
}

std::string MemberEnds::whole(std::string_view member) const {
  std::string text;
  text.reserve(head.size() + member.size() + tail.size());
  return text.append(head).append(member).append(tail);
}

std::string_view MemberEnds::name_of(std::string_view whole_member) const {
  const bool has_ends = whole_member.size() > head.size() + tail.size() && whole_member.starts_with(head) && whole_member.ends_with(tail);
  return has_ends ? whole_member.substr(head.size(), whole_member.size() - head.size() - tail.size()) : whole_member;
}

MemberEnds member_ends(const TableDef& table, std::span<const std::int16_t> columns, std::span<const Datum> values) {
  if (!omitted_parts(table, columns).any()) return {};
  std::vector<std::string> texts;
  for (std::size_t index = 0; index < columns.size(); ++index) {
    texts.push_back(canonical_text(table.find_column(columns[index])->type, values[index]));
  }
  return member_ends(table, columns, texts);
}

MemberEnds member_ends(const TableDef& table, std::span<const std::int16_t> columns, std::span<const std::string> texts) {
  const OmittedParts omitted = omitted_parts(table, columns);
  MemberEnds ends;
  for (std::size_t index = 0; omitted.any() && index < texts.size(); ++index) {
    const std::string segment = escape_unhashed(texts[index]);
    if (omitted.first > 0) {
      ends.head.append(segment).append(":");
    } else {
      ends.tail.append(":").append(segment);
    }
  }
  return ends;
}

void choose_member_forms(const TableDef* before, TableDef& table) {
  const auto is_old = [&](const IndexDef& index) {
    return before != nullptr && std::ranges::find(before->indexes, index.oid, &IndexDef::oid) != before->indexes.end();
  };
  for (IndexDef& index : table.indexes) {
    if (table.is_mapped() || is_old(index)) continue;
    const auto has_whole_members = [&](const IndexDef& other) {
      return is_old(other) && !other.short_members && std::ranges::equal(other.parts, index.parts, {}, &IndexDef::Part::column, &IndexDef::Part::column);
    };
    index.short_members = std::ranges::none_of(table.indexes, has_whole_members);
  }
}

}  // namespace redquel::sql
