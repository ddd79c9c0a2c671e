#include "sql/catalog/row_fields.h"

#include <algorithm>

#include "sql/catalog/table_keys.h"

namespace redquel::sql {

RowFields row_fields(const TableDef& table, std::span<const std::int16_t> numbers) {
  using Kind = RowFields::Source::Kind;
  RowFields result;
  TableKeys keys(table);
  std::optional<std::size_t> presence;
  auto field = [&](const std::string& name) {
    auto found = std::find(result.fields.begin(), result.fields.end(), name);
    if (found == result.fields.end()) found = result.fields.insert(found, name);
    return static_cast<std::size_t>(found - result.fields.begin());
  };
  for (std::int16_t number : numbers) {
    if (number == 0) {
      result.columns.push_back({Kind::kHiddenKey, kInt8});
      continue;
    }
    const ColumnDef& column = *table.find_column(number);
    auto part = std::find(table.primary_key.begin(), table.primary_key.end(), number);
    bool in_key = part != table.primary_key.end();
    if (in_key && !keys.stores_key_column(column)) {
      result.columns.push_back({Kind::kKeyPart, column.type, static_cast<std::size_t>(part - table.primary_key.begin())});
      continue;
    }
    RowFields::Source source{Kind::kField, column.type, field(column.field)};
    if (column.missing) {
      source.missing = &*column.missing;
      source.null_marker = field(column.field + "%N");
    } else if (in_key || column.not_null) {
      presence = source.index;
    }
    result.columns.push_back(source);
  }
  if (presence) {
    result.presence = *presence;
  } else if (const ColumnDef* column = keys.presence_column()) {
    result.presence = field(column->field);
  } else {
    result.presence = field(keys.presence_field());
  }
  return result;
}

}  // namespace redquel::sql
