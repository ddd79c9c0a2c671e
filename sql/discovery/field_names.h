#pragma once

#include <string>
#include <vector>

#include "sql/discovery/keyspace_entry.h"
#include "sql/discovery/proposal.h"

namespace redquel::sql {

/// Bytes of a key in a line for people.
inline constexpr std::size_t kShownKeyBytes = 100;
/// Returns one of the keys for a line for people.
std::string shown_key(const KeyspaceEntry& entry);
/// Returns true if the name of a field can be an option of its column: UTF-8 text, neither empty nor very long.
bool is_field_name(const std::string& field);
/// Removes the other names, and notes their number as a doubt of the table.
void leave_out_fields(std::vector<std::string>& fields, ProposedTable& table);

}  // namespace redquel::sql
