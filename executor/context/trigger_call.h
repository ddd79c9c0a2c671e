#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/column.h"
#include "sql/datum.h"

namespace redquel::executor {

/// A row that a statement changes, as it was and as it becomes: values parallel to the table's columns.
struct RowChange {
  sql::TriggerDef::Event event = sql::TriggerDef::Event::kInsert;
  std::optional<std::vector<sql::Datum>> old_row;  // none: INSERT
  std::optional<std::vector<sql::Datum>> new_row;  // none: DELETE
};

/// The rows that a statement has changed in one table by one event, as triggers AFTER … REFERENCING read them: the table's columns.
struct TransitionTables {
  std::vector<sql::Batch> old_rows, new_rows;
};

/// One call of a trigger's function.
struct TriggerCall {
  std::shared_ptr<const sql::TableDef> table;
  const sql::TriggerDef* trigger = nullptr;
  RowChange change;  // without rows: FOR EACH STATEMENT
  std::int32_t levels = 1;  // of pg_trigger_depth(): 2 below an action of a foreign key, which PostgreSQL counts, too
  /// Called before each statement of the function. Makes the rows visible that the calling statement has changed so far; may be empty.
  std::function<boost::asio::awaitable<void>()> before_statement;
  std::shared_ptr<const TransitionTables> transition_tables;  // null: the trigger names none
  std::optional<std::vector<sql::Datum>> result;  // the row that the function returns; none: NULL
};

}  // namespace redquel::executor
