#include "sql/catalog/spread_table.h"

#include <algorithm>
#include <set>

#include "sql/catalog/table_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/index_value.h"
#include "sql/types/text_io.h"

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
    parts.push_back(std::make_shared<const TableDef>(std::move(part)));
  }
  table.parts = std::move(parts);
}

std::optional<std::string> obstacle_to_spread(const TableDef& table, std::int16_t column) {
  const std::string name = column == 0 || table.find_column(column) == nullptr ? "" : " \"" + table.find_column(column)->name + "\"";
  const std::string without = " without the column" + name + " of bucket_by";
  if (column != 0 && table.find_column(column) == nullptr) return "dropping the column of bucket_by";
  if (!table.primary_key.empty() && !table.in_primary_key(column)) return "a primary key" + without;
  // An entry that lies by value names its row by the key alone, and the key names the row's bucket.
  for (const IndexDef& index : table.indexes) {
    const bool has_column = std::ranges::find(index.parts, column, &IndexDef::Part::column) != index.parts.end();
    const bool is_found_by_key = column == 0 || !table.primary_key.empty();
    if (index.unique && !has_column && !is_found_by_key) return "a unique constraint" + without + ", of a table without a primary key";
  }
  // Redis removes a row that expires without a commit, and the entry of its value lies in another bucket.
  const auto is_elsewhere = [&](const IndexDef& index) {
    return index.unique && index.state != IndexState::kDropping && std::ranges::find(index.parts, column, &IndexDef::Part::column) == index.parts.end();
  };
  if (table.rows_expire() && std::ranges::any_of(table.indexes, is_elsewhere)) return "a unique constraint" + without + ", of a table with a time to live";
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

std::vector<std::size_t> parts_within(const TableDef& table, const PartitionRouter::Limits& limits) {
  if (table.router) return table.router->parts_within(limits);
  std::set<std::size_t> parts;
  const PartitionKeyLimits of_column = limits(table.spread->column);
  if (of_column.equal) {
    for (const Datum& value : *of_column.equal) parts.insert(part_of_value(table, value));
  } else {
    for (std::size_t number = 0; number < table.parts.size(); ++number) parts.insert(number);
  }
  return {parts.begin(), parts.end()};
}

std::vector<std::int16_t> columns_of_parts(const TableDef& table) { return table.router ? table.router->columns() : std::vector{table.spread->column}; }

namespace {

SqlError no_partition(const TableDef& table, std::span<const Datum> row) {
  const TableDef* missing = &table;
  while (missing->router) {
    const PartitionRouter::Child* child = missing->router->child_of(missing->router->key_of(row));
    if (child == nullptr) break;
    missing = child->table.get();
  }
  std::string names, values;
  for (const PartitionKeyDef::Part& part : missing->partition_key->parts) {
    const ColumnDef& column = *missing->find_column(part.column);
    const Datum& value = row[missing->position(part.column)];
    names.append(names.empty() ? "" : ", ").append(column.name);
    values.append(values.empty() ? "" : ", ").append(is_null(value) ? "null" : format_value(column.type, value));
  }
  return SqlError(sqlstate::kCheckViolation, "no partition of relation \"" + missing->name + "\" found for row")
      .detail("Partition key of the failing row contains (" + names + ") = (" + values + ").")
      .schema(missing->schema)
      .table(missing->name);
}

}  // namespace

const std::shared_ptr<const TableDef>& part_of_row(const TableDef& table, std::span<const Datum> row) {
  if (table.router) {
    const std::optional<std::size_t> number = table.router->part_of_row(row);
    if (!number) throw no_partition(table, row);
    return table.parts[*number];
  }
  const std::int16_t column = table.spread->column;
  return table.parts[part_of_value(table, row[column == 0 ? table.columns.size() : table.position(column)])];
}

bool lies_by_value(const TableDef& table, std::span<const std::int16_t> columns) {
  if (!table.spread || table.spread->places.empty()) return false;
  return table.spread->column == 0 || std::ranges::find(columns, table.spread->column) == columns.end();
}

bool lies_by_value(const TableDef& table, const IndexDef& index) {
  std::vector<std::int16_t> columns;
  for (const IndexDef::Part& part : index.parts) columns.push_back(part.column);
  return index.unique && lies_by_value(table, columns);
}

bool has_values_elsewhere(const TableDef& table) {
  return std::ranges::any_of(table.indexes, [&](const IndexDef& index) { return index.state != IndexState::kDropping && lies_by_value(table, index); });
}

std::size_t part_of_unique_value(const TableDef& table, std::string_view field) { return part_number(field, table.spread->places.size()); }

std::string row_key_in_parts(const TableDef& part, std::string_view member) {
  const TableKeys keys(part);
  const std::string key = keys.row_of_member(member);
  const std::vector<std::string> texts = keys.split_member(member);
  const auto found = std::ranges::find(part.primary_key, part.spread->column);
  const std::size_t position = found == part.primary_key.end() ? 0 : static_cast<std::size_t>(found - part.primary_key.begin());
  const std::size_t number = part_number(texts[position], part.spread->places.size());
  return std::string(bucket_tag(part.spread->places[number].bucket)).append(without_tag(key));
}

std::vector<std::shared_ptr<const TableDef>> own_stored_tables(const std::shared_ptr<const TableDef>& table) {
  return table->partition_key ? std::vector<std::shared_ptr<const TableDef>>() : stored_tables(table);
}

std::vector<std::shared_ptr<const TableDef>> stored_tables(const std::shared_ptr<const TableDef>& table) {
  return table->parts.empty() ? std::vector{table} : table->parts;
}

const TableDef& any_stored_table(const TableDef& table) { return table.parts.empty() ? table : *table.parts.front(); }

}  // namespace redquel::sql
