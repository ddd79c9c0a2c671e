#include "sql/catalog/spread_table.h"

#include <algorithm>

#include "sql/error.h"
#include "sql/types/index_value.h"

namespace redquel::sql {

void make_parts(TableDef& table) {
  table.parts.clear();
  if (!table.spread) return;
  std::vector<std::shared_ptr<const TableDef>> parts;
  for (const SpreadDef::Place& place : table.spread->places) {
    TableDef part = table;
    part.oid = place.oid;
    part.part_of = table.oid;
    part.prefix = std::string(bucket_tag(place.bucket)).append(without_tag(table.prefix));
    part.spread.reset();
    parts.push_back(std::make_shared<const TableDef>(std::move(part)));
  }
  table.parts = std::move(parts);
}

std::optional<std::string> obstacle_to_spread(const TableDef& table, std::int16_t column) {
  const std::string name = column == 0 || table.find_column(column) == nullptr ? "" : " \"" + table.find_column(column)->name + "\"";
  const std::string without = " without the column" + name + " of bucket_by";
  if (column != 0 && table.find_column(column) == nullptr) return "dropping the column of bucket_by";
  if (!table.primary_key.empty() && !table.in_primary_key(column)) return "a primary key" + without;
  for (const IndexDef& index : table.indexes) {
    const bool has_column = std::ranges::find(index.parts, column, &IndexDef::Part::column) != index.parts.end();
    if (index.unique && !has_column) return (index.constraint ? "a unique constraint" : "a unique index") + without + " (placement = 'value')";
  }
  if (table.has_foreign_keys()) return "a foreign key of a table in several buckets";
  if (table.rows_expire()) return "a time to live of a table in several buckets";
  if (table.on_commit != TableDef::OnCommit::kPreserveRows) return "ON COMMIT of a table in several buckets";
  return std::nullopt;
}

void settle_spread(TableDef& table) {
  if (!table.spread) return;
  if (table.spread->column == 0 && !table.primary_key.empty()) table.spread->column = table.primary_key.front();
  if (table.spread->places.empty()) return;
  if (const auto obstacle = obstacle_to_spread(table, table.spread->column)) throw not_supported(*obstacle);
}

std::size_t part_of_value(const TableDef& table, const Datum& value) {
  if (is_null(value)) return 0;
  const std::int16_t column = table.spread->column;
  return part_number(canonical_text(column == 0 ? kInt8 : table.find_column(column)->type, value), table.parts.size());
}

const std::shared_ptr<const TableDef>& part_of_row(const TableDef& table, std::span<const Datum> row) {
  const std::int16_t column = table.spread->column;
  return table.parts[part_of_value(table, row[column == 0 ? table.columns.size() : table.position(column)])];
}

std::vector<std::shared_ptr<const TableDef>> stored_tables(const std::shared_ptr<const TableDef>& table) {
  return table->parts.empty() ? std::vector{table} : table->parts;
}

const TableDef& any_stored_table(const TableDef& table) { return table.parts.empty() ? table : *table.parts.front(); }

}  // namespace redquel::sql
