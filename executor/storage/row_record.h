#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/datum.h"

namespace redquel::executor {

// Rows as bytes of a temporary file, their values as Redis would hold them. A row's values are parallel to its table's columns, then the
// hidden key where the table has one.

void put_number(std::string& out, std::uint32_t number);
/// nullopt: no row.
void put_row(std::string& out, const sql::TableDef& table, std::optional<std::span<const sql::Datum>> row);

/// Reads what these have written.
class RecordReader {
 public:
  RecordReader(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  bool is_at_end() const { return at_ >= bytes_.size(); }
  std::uint32_t number();
  std::string_view text(std::size_t size);
  std::optional<std::vector<sql::Datum>> row(const sql::TableDef& table);

 private:
  std::string_view bytes_;
  std::size_t at_;
};

}  // namespace redquel::executor
