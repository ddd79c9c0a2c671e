#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// Definitions for tests, written as they would be said: `make_table("emp", {{"emp_id", kInt4}, {"dept", kInt4}}, {"emp_id"})`.
inline TableDef make_table(std::string name, std::vector<std::pair<std::string, Type>> columns,
                           std::vector<std::string> primary_key, std::string prefix = "") {
  TableDef table;
  table.oid = 16384;
  table.name = name;
  table.prefix = prefix.empty() ? name : prefix;
  table.version = "1";
  for (auto& [column_name, type] : columns) {
    ColumnDef column;
    column.number = table.next_column++;
    column.name = column.field = column_name;
    column.type = type;
    table.columns.push_back(std::move(column));
  }
  for (const std::string& column : primary_key) {
    ColumnDef& part = table.columns[table.position(table.find_column(column)->number)];
    part.not_null = true;
    table.primary_key.push_back(part.number);
  }
  if (!primary_key.empty()) {
    table.primary_key_index.name = name + "_pkey";
    table.primary_key_index.oid = table.oid + 1;
  }
  return table;
}

inline IndexDef& add_index(TableDef& table, const std::vector<std::string>& columns, bool unique = false,
                           IndexMethod method = IndexMethod::kBtree) {
  IndexDef index;
  index.oid = table.oid + 10 + static_cast<Oid>(table.indexes.size());
  index.name = table.name;
  for (const std::string& column : columns) {
    index.name += "_" + column;
    index.parts.push_back({table.find_column(column)->number, false, false});
  }
  index.name += unique ? "_key" : "_idx";
  index.unique = unique;
  if (unique) index.constraint.emplace();
  index.method = method;
  return table.indexes.emplace_back(std::move(index));
}

}  // namespace redquel::sql
