#include "executor/writes/mapped_versions.h"

#include <algorithm>
#include <map>

#include "executor/tables/keyspace_walk.h"
#include "executor/tables/mapped_reader.h"
#include "executor/transaction/row_buffer.h"
#include "sql/catalog/mapped_value.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace {

using Row = std::vector<sql::Datum>;

std::int64_t integer(const sql::Datum& value) {
  if (const auto* v = std::get_if<std::int16_t>(&value)) return *v;
  if (const auto* v = std::get_if<std::int32_t>(&value)) return *v;
  return std::get<std::int64_t>(value);
}

/// Slots in front of the version's: what it is a version of.
std::vector<std::int16_t> leading_slots(const sql::Mapping& mapping) {
  std::vector<std::int16_t> slots;
  for (const std::int16_t slot : mapping.key.slots()) {
    if (slot == mapping.version) break;
    slots.push_back(slot);
  }
  return slots;
}

class Versions {
 public:
  explicit Versions(const sql::TableDef& table) : table_(table), slots_(leading_slots(*table.mapping)) {}

  std::string group(const Row& row) const {
    std::string name;
    for (const std::int16_t slot : slots_) {
      const std::size_t at = table_.position(slot);
      const std::string text = sql::format_value(table_.columns[at].type, row[at]);
      name += std::to_string(text.size()) + ":" + text;
    }
    return name;
  }
  /// A new row, which stays.
  void add_new(const Row& row) { groups_[group(row)].emplace_back(version(row), nullptr); }
  /// A row of one of the new rows' groups.
  void add_known(const Row& row) {
    const auto found = groups_.find(group(row));
    if (found != groups_.end()) found->second.emplace_back(version(row), &row);
  }
  /// Those that are too many.
  std::vector<const Row*> old() {
    std::vector<const Row*> rows;
    for (auto& [name, versions] : groups_) {
      std::ranges::stable_sort(versions, std::greater<>(), &Version::first);
      for (std::size_t i = static_cast<std::size_t>(table_.mapping->versions); i < versions.size(); ++i) {
        if (versions[i].second != nullptr) rows.push_back(versions[i].second);
      }
    }
    return rows;
  }
  /// The values that all groups have in common.
  MappedKey common(const std::vector<const Row*>& rows) const {
    MappedKey key;
    for (const std::int16_t slot : slots_) {
      const std::size_t at = table_.position(slot);
      const sql::Type type = table_.columns[at].type;
      const std::string first = sql::format_value(type, (*rows[0])[at]);
      const bool is_common = std::ranges::all_of(rows, [&](const Row* row) { return sql::format_value(type, (*row)[at]) == first; });
      if (is_common) key[slot] = (*rows[0])[at];
    }
    return key;
  }

 private:
  using Version = std::pair<std::int64_t, const Row*>;
  std::int64_t version(const Row& row) const { return integer(row[table_.position(table_.mapping->version)]); }

  const sql::TableDef& table_;
  std::vector<std::int16_t> slots_;
  std::map<std::string, std::vector<Version>> groups_;
};

}  // namespace

asio::awaitable<void> drop_old_versions(MappedUnit& unit, ExecutionContext& context, ExecutionCounters* counters) {
  const sql::TableDef& table = unit.table();
  if (table.mapping->versions == 0) co_return;
  Versions versions(table);
  std::vector<const Row*> inserted;
  for (const MappedChange& change : unit.changes()) {
    const bool is_complete = change.after && std::ranges::none_of(table.primary_key, [&](std::int16_t column) {
      return sql::is_null((*change.after)[table.position(column)]);
    });
    if (change.before || !is_complete) continue;
    inserted.push_back(&*change.after);
    versions.add_new(*change.after);
  }
  if (inserted.empty()) co_return;

  planner::TableRead read;
  read.table = std::make_shared<const sql::TableDef>(table);
  for (const sql::ColumnDef& column : table.columns) read.numbers.push_back(column.number);
  MappedReader reader(read, context);
  KeyspaceWalk walk(reader, context, versions.common(inserted));
  while (!walk.is_over()) co_await walk.step(reader, counters);
  while (!reader.is_idle()) co_await reader.step(counters);
  std::vector<std::size_t> tags;
  const sql::Batch batch = reader.take_all(tags);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < batch.rows; ++i) {
    Row& row = rows.emplace_back();
    for (const sql::ColumnPtr& column : batch.columns) row.push_back(column->datum(i));
  }
  if (const std::shared_ptr<const TableChanges> changes = context.changes(table.oid)) {
    for (const auto& [identity, row] : changes->rows) {
      if (row.current) rows.push_back(*row.current);
    }
  }
  for (const Row& row : rows) versions.add_known(row);
  for (const Row* row : versions.old()) unit.add({*row, std::nullopt});
}

}  // namespace redquel::executor
