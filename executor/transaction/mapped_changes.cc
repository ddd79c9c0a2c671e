#include "executor/transaction/mapped_changes.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "executor/storage/constraint_errors.h"
#include "executor/storage/mapped_row.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

using Row = std::vector<sql::Datum>;

bool has_identity(const sql::TableDef& table) {
  const sql::Mapping::Layout layout = table.mapping().layout;
  return layout != sql::Mapping::Layout::kList && layout != sql::Mapping::Layout::kStream && !table.primary_key.empty();
}

std::optional<Row> values_of(const RowValues& row) { return row ? std::optional(*row) : std::nullopt; }

/// Returns true if the row of this identity got another one.
bool is_moved(const sql::TableDef& table, const std::string& identity, const TableChanges& changes) {
  TableChanges::Walk walk(changes);
  while (const ChangeLog::VersionPtr other = walk.next()) {
    const BufferedRow& row = other->row;
    if (other->member != identity && row.stored && row.current && mapped_identity(table, *row.stored) == identity) return true;
  }
  return false;
}

sql::SqlError duplicate(const sql::TableDef& table, const Row& row) {
  std::vector<sql::Datum> values;
  for (const std::int16_t column : table.primary_key) values.push_back(row[table.position(column)]);
  return duplicate_key(table, table.name + "_key", table.primary_key, values, sql::SessionSettings{});
}

std::shared_ptr<MappedUnit> unit_of(const TableChanges& changes) {
  auto unit = std::make_shared<MappedUnit>(changes.table);
  std::set<std::string> moved;
  TableChanges::Walk staying(changes);
  while (const ChangeLog::VersionPtr changed = staying.next()) {
    const BufferedRow& row = changed->row;
    if (row.stored && row.current) moved.insert(mapped_identity(*changes.table, *row.stored));
  }
  TableChanges::Walk walk(changes);
  while (const ChangeLog::VersionPtr changed = walk.next()) {
    const BufferedRow& row = changed->row;
    if (!row.stored && !row.current) continue;
    if (row.stored && !row.current && moved.contains(mapped_identity(*changes.table, *row.stored))) continue;
    unit->add({values_of(row.stored), values_of(row.current)});
  }
  return unit;
}

}  // namespace

bool is_in_buffer(const sql::TableDef& table, const MappedChange& change, const RowBuffer& buffer) {
  if (change.before || !change.after || !has_identity(table)) return false;
  const std::optional<BufferedRow> known = buffer.find(table.oid, mapped_identity(table, *change.after));
  return known && known->current;
}

std::optional<MappedChange> over_buffer(const sql::TableDef& table, const MappedChange& change, const RowBuffer& buffer) {
  if (!has_identity(table)) return change;
  MappedChange result = change;
  const std::string before = change.before ? mapped_identity(table, *change.before) : "";
  const std::string after = change.after ? mapped_identity(table, *change.after) : "";
  if (change.before) {
    const std::optional<BufferedRow> known = buffer.find(table.oid, before);
    if (known) {
      result.before = values_of(known->stored);
      result.increments.clear();
    }
  }
  if (change.after && after != before) {
    const std::optional<BufferedRow> known = buffer.find(table.oid, after);
    if (known && known->current) throw duplicate(table, *change.after);
    if (known && known->stored) {
      const TableChangesPtr changes = buffer.changes(table.oid);
      if (change.before || is_moved(table, after, *changes)) {
        throw sql::not_supported("a row of a foreign table with the key of one that the transaction has moved or deleted");
      }
      result.before = *known->stored;
    }
  }
  if (!result.before && !result.after) return std::nullopt;
  return result;
}

void absorb(RowBuffer& buffer, const std::shared_ptr<const sql::TableDef>& table, const MappedChange& change, std::size_t number) {
  const auto values = [](const std::optional<Row>& row) { return row ? std::make_shared<const Row>(*row) : RowValues(); };
  if (!has_identity(*table)) {
    buffer.set(table, fmt::format("{:020}", number), {values(change.before), values(change.after)});
    return;
  }
  const std::string before = change.before ? mapped_identity(*table, *change.before) : "";
  const std::string after = change.after ? mapped_identity(*table, *change.after) : "";
  RowValues stored;
  if (change.before) {
    const std::optional<BufferedRow> known = buffer.find(table->oid, before);
    stored = known ? known->stored : values(change.before);
    if (after != before) {
      const bool is_own = !stored || mapped_identity(*table, *stored) == before;
      buffer.set(table, before, {is_own ? stored : RowValues(), nullptr});
    }
  } else if (const std::optional<BufferedRow> known = buffer.find(table->oid, after)) {
    stored = known->stored;
  }
  if (change.after) buffer.set(table, after, {std::move(stored), values(change.after)});
}

std::vector<std::shared_ptr<MappedUnit>> mapped_units(const RowBuffer& buffer) {
  std::vector<std::shared_ptr<MappedUnit>> units;
  for (const TableChangesPtr& changes : buffer.all_changes()) {
    if (changes->table->is_mapped()) units.push_back(unit_of(*changes));
  }
  return units;
}

MappedLookups mapped_lookups(const std::shared_ptr<const sql::TableDef>& table, const RowBuffer& buffer) {
  MappedLookups lookups;
  const TableChangesPtr changes = buffer.changes(table->oid);
  bool has_lookups = false;
  for (const sql::IndexDef& index : table->indexes) has_lookups = has_lookups || (index.mapped().maintained && index.method == sql::IndexMethod::kLookup);
  if (!changes || !has_lookups) return lookups;
  const std::shared_ptr<MappedUnit> unit = unit_of(*changes);
  for (const MappedChange& change : unit->changes()) {
    const MappedRow row(*table, change);
    row.add_released(lookups);
    row.add_taken(lookups);
  }
  return lookups;
}

}  // namespace redquel::executor
