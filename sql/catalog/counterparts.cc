#include "sql/catalog/counterparts.h"

#include <algorithm>

namespace redquel::sql {

bool are_alike(const IndexDef& one, const IndexDef& other) {
  const auto is_same = [](const IndexDef::Part& a, const IndexDef::Part& b) {
    return a.column == b.column && a.descending == b.descending && a.nulls_first == b.nulls_first && a.expression_sql == b.expression_sql;
  };
  return one.method == other.method && one.unique == other.unique && one.predicate_sql == other.predicate_sql &&
         one.constraint.has_value() == other.constraint.has_value() && one.is_primary_key() == other.is_primary_key() &&
         std::ranges::equal(one.parts, other.parts, is_same);
}

const IndexDef* index_like(const TableDef& table, const IndexDef& wanted) {
  const auto found = std::ranges::find_if(table.indexes, [&](const IndexDef& index) { return are_alike(index, wanted); });
  return found == table.indexes.end() ? nullptr : &*found;
}

namespace {

bool are_alike(const ForeignKeyDef& one, const ForeignKeyDef& other) {
  return one.referenced == other.referenced && one.columns == other.columns && one.referenced_columns == other.referenced_columns &&
         one.match_full == other.match_full && one.on_delete == other.on_delete && one.on_update == other.on_update && one.set_columns == other.set_columns;
}

/// Returns the definition among others that is alike, and has as many alike before it as this one has among its own; nullptr: there is none.
template <class Definition>
const Definition* counterpart_in(const std::vector<Definition>& own, const Definition& definition, const std::vector<Definition>& others) {
  std::size_t before = 0;
  for (auto one = own.begin(); one != own.end() && one->oid != definition.oid; ++one) before += are_alike(*one, definition) ? 1 : 0;
  for (const Definition& candidate : others) {
    if (are_alike(candidate, definition) && before-- == 0) return &candidate;
  }
  return nullptr;
}

}  // namespace

const IndexDef* counterpart(const TableDef& table, const IndexDef& index, const TableDef& other) { return counterpart_in(table.indexes, index, other.indexes); }

const ForeignKeyDef* counterpart(const TableDef& table, const ForeignKeyDef& key, const TableDef& other) {
  return counterpart_in(table.foreign_keys, key, other.foreign_keys);
}

const ForeignKeyDef* inherited_foreign_key(const CatalogSnapshot& catalog, const TableDef& partition, const ForeignKeyDef& key) {
  if (!partition.partition) return nullptr;
  const CatalogSnapshot::TablePtr parent = catalog.find_table(partition.partition->parent);
  return parent ? counterpart(partition, key, *parent) : nullptr;
}

Oid partitioned_index(const CatalogSnapshot& catalog, const TableDef& partition, Oid index) {
  const CatalogSnapshot::TablePtr parent = partition.partition ? catalog.find_table(partition.partition->parent) : nullptr;
  if (!parent) return 0;
  if (index == partition.primary_key_index.oid) return parent->primary_key_index.oid;
  const auto own = std::ranges::find(partition.indexes, index, &IndexDef::oid);
  const IndexDef* above = own == partition.indexes.end() ? nullptr : counterpart(partition, *own, *parent);
  return above == nullptr ? 0 : above->oid;
}

}  // namespace redquel::sql
