#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/catalog/key_template.h"
#include "sql/discovery/frameworks/framework.h"

namespace redquel::sql {

/// Returns a framework without tables, in a schema of its own.
FoundFramework found_framework(std::string_view name, std::string_view schema, std::string comment);

// ---- columns of proposed tables ----

using ColumnOptions = std::vector<std::pair<std::string, std::string>>;

ProposedColumn proposed_column(std::string name, std::string type, ColumnOptions options = {});
/// Column of a field with another name than the column.
ProposedColumn field_column(std::string name, std::string type, std::string field, ColumnOptions options = {});
ProposedTable proposed_table(std::string name, std::string layout, std::string key, std::vector<ProposedColumn> columns);
/// A list of elements (`value_type`, JSON where it is jsonb) with its slots in front.
ProposedTable list_table(std::string name, std::string key, std::vector<std::string> slots, std::string value, std::string value_type);
/// A zset of members with scores that are Unix time in seconds.
ProposedTable timed_table(std::string name, std::string key, std::vector<std::string> slots, std::string member, std::string time);

// ---- sampled keys ----

/// Returns the value of a hash field.
std::optional<std::string_view> field_of(const KeySample& sample, std::string_view field);
bool has_fields(const KeySample& sample, std::initializer_list<std::string_view> fields);
/// Returns the first element of a list, member of a set or zset, or value of a string; empty: there is none.
std::string_view first_part(const KeySample& sample);
/// Returns true if the text looks like a JSON object with these members.
bool has_members(std::string_view text, std::initializer_list<std::string_view> members);
bool contains(std::string_view text, std::string_view part);
/// Returns what is before and behind the last separator; nullopt: there is none.
std::optional<std::pair<std::string_view, std::string_view>> split_last(std::string_view text, char separator);

}  // namespace redquel::sql
