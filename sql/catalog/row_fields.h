#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/catalog/catalog.h"

namespace redquel::sql {

/// The hash fields to read for some columns of a row, and the conversion of replies to columns.
struct RowFields {
  struct Source {
    enum class Kind : std::uint8_t { kField, kKeyPart, kHiddenKey } kind;
    Type type;
    std::size_t index = 0;                    // in `fields`, or of the key's part
    std::optional<std::size_t> null_marker;   // in `fields`: `<field>%N`, set where NULL was stored in a column with `missing`
    const std::string* missing = nullptr;     // what an absent field means; null: NULL
  };
  std::vector<std::string> fields;
  std::vector<Source> columns;  // parallel to the numbers asked for
  std::size_t presence = 0;     // in `fields`: an absent one means that there is no such row
};

/// Column number 0 is the hidden row key. The result points into `table`.
RowFields row_fields(const TableDef& table, std::span<const std::int16_t> numbers);

}  // namespace redquel::sql
