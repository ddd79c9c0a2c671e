#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/row_fields.h"
#include "sql/catalog/table_keys.h"
#include "sql/datum.h"

namespace redquel::executor {

/// Whole rows of a table, one at a time and as values: for work that looks at a row's entries. (Queries read batches of columns.)
class StoredRows {
 public:
  explicit StoredRows(std::shared_ptr<const sql::TableDef> table);

  const sql::TableKeys& keys() const { return keys_; }
  /// The field that every row has, and then those that `decode` wants.
  const std::vector<std::string>& presence_and_fields() const { return presence_and_fields_; }
  /// Returns true if the member is written as that of a row: not `007`.
  bool is_canonical(std::string_view member) const;
  /// HMGET of all fields.
  void append_fetch(CommandBatch& batch, std::string_view member) const;
  /// Values of all columns and the hidden key; nullopt: no such row. Throws SqlError where a text or the member does not parse.
  std::optional<std::vector<sql::Datum>> decode(std::string_view member, std::span<const Reply> values) const;

 private:
  std::shared_ptr<const sql::TableDef> table_;
  sql::TableKeys keys_;
  sql::RowFields fields_;
  std::vector<std::string> presence_and_fields_;
};

/// Made once for many statements. Of this thread.
std::shared_ptr<const StoredRows> stored_rows_of(const std::shared_ptr<const sql::TableDef>& table);

}  // namespace redquel::executor
