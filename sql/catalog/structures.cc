#include <algorithm>

#include "sql/catalog/table_keys.h"
#include "sql/entries/entry_kind.h"
#include "sql/types/text_order.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {

namespace {

/// Returns true for types whose default btree keeps only the zset: their values hardly repeat, so a set for each value would be a cost
/// without use.
bool is_continuous(Type type) { return operations_of(type.oid).is_continuous; }

void add(std::vector<Structure>& structures, Structure structure) {
  const auto found = std::find(structures.begin(), structures.end(), structure);
  if (found == structures.end()) {
    structures.push_back(std::move(structure));
  } else {
    found->readable = found->readable || structure.readable;
  }
}

}  // namespace

std::vector<Structure> structures_of(const TableDef& table, const IndexDef& index) {
  if (!std::holds_alternative<ManagedIndex>(index.storage)) return {};
  std::vector<Structure> structures;
  const bool readable = index.state == IndexState::kReady;
  std::vector<std::int16_t> columns;
  for (const IndexDef::Part& part : index.parts) columns.push_back(part.column);

  if (index.method == IndexMethod::kGin) {
    for (const IndexDef::Part& part : index.parts) {
      const EntryKind* kind = find_entry_kind(table.find_column(part.column)->type, part.operator_class);
      if (kind != nullptr) add(structures, {kind->structure(), {part.column}, readable});
    }
    return structures;
  }
  const ColumnDef* first = table.find_column(columns.front());
  const bool single = columns.size() == 1;
  if (index.unique) {
    structures.push_back({Structure::Kind::kUnique, columns, readable});
  } else if (index.method == IndexMethod::kZset && !single) {
    structures.push_back({Structure::Kind::kValueZsets, columns, readable});
  } else {
    const bool ordered = single && index.method != IndexMethod::kHash && has_ordered_form(first->type);
    const bool sets = index.method == IndexMethod::kHash || !single ||
                      (index.method == IndexMethod::kBtree && !is_continuous(first->type));
    if (sets) structures.push_back({Structure::Kind::kSets, columns, readable});
    if (ordered) structures.push_back({Structure::Kind::kZset, columns, readable});
  }
  // Rows without an entry in a partial index need not have NULL there.
  if (!index.predicate_sql.empty()) return structures;
  for (std::int16_t number : columns) {
    if (table.is_nullable(*table.find_column(number))) add(structures, {Structure::Kind::kNulls, {number}, readable});
  }
  return structures;
}

std::vector<Structure> structures_of(const TableDef& table) {
  if (table.is_mapped()) return {};  // its structures are the application's
  std::vector<Structure> structures;
  for (const IndexDef& index : table.indexes) {
    if (index.state == IndexState::kDropping) continue;
    for (Structure& structure : structures_of(table, index)) add(structures, std::move(structure));
  }
  return structures;
}

std::vector<const IndexDef*> unique_indexes_over(const TableDef& table, std::span<const std::int16_t> columns) {
  std::vector<const IndexDef*> found;
  for (const IndexDef& index : table.indexes) {
    if (!index.unique || index.state == IndexState::kDropping) continue;
    if (std::ranges::equal(index.parts, columns, {}, &IndexDef::Part::column)) found.push_back(&index);
  }
  return found;
}

bool is_deferrable(const TableDef& table, std::span<const std::int16_t> columns) {
  const std::vector<const IndexDef*> indexes = unique_indexes_over(table, columns);
  return !indexes.empty() && std::ranges::all_of(indexes, &IndexDef::is_deferrable);
}

}  // namespace redquel::sql
