#include "executor/ddl/implicit_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

std::vector<std::string> implicit_objects(std::string_view command, const sql::CatalogSnapshot& catalog, const sql::TableDef* before,
                                          const sql::TableDef& table) {
  std::vector<std::string> made;
  for (const sql::ColumnDef& column : table.columns) {
    const auto known = [&](const sql::ColumnDef& other) { return other.sequence == column.sequence; };
    if (column.sequence == 0 || (before != nullptr && std::ranges::any_of(before->columns, known))) continue;
    const sql::SequenceDef* sequence = catalog.sequences.get(column.sequence);
    if (sequence == nullptr || sequence->owner_table != table.oid) continue;
    made.push_back(fmt::format("{} will create implicit sequence \"{}\" for serial column \"{}.{}\"", command, sequence->name, table.name, column.name));
  }
  const std::string_view add = before != nullptr ? "ADD " : "";
  const auto add_index = [&](std::string_view part, const std::string& name) {
    const auto has_name = [&](const sql::IndexDef& index) { return index.name == name; };
    if (before != nullptr && (before->primary_key_index.name == name || std::ranges::any_of(before->indexes, has_name))) return;
    made.push_back(fmt::format("{} / {}{} will create implicit index \"{}\" for table \"{}\"", command, add, part, name, table.name));
  };
  if (!table.primary_key.empty()) add_index("PRIMARY KEY", table.primary_key_index.name);
  for (const sql::IndexDef& index : table.indexes) {
    if (index.constraint) add_index(index.is_primary_key() ? "PRIMARY KEY" : index.is_exclusion() ? "EXCLUDE" : "UNIQUE", index.name);
  }
  return made;
}

void tell_implicit_objects(SessionState& session, std::vector<std::string> messages) {
  if (!session.notice) return;
  for (std::string& message : messages) session.notice("DEBUG", sql::SqlError(sqlstate::kSuccessfulCompletion, std::move(message)));
}

bool wants_debug_messages(const SessionState& session) {
  const std::optional<std::string> level = session.show ? session.show("client_min_messages") : std::nullopt;
  return level && level->starts_with("debug");
}

}  // namespace redquel::executor
