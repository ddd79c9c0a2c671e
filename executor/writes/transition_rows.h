#pragma once

#include <memory>
#include <span>
#include <vector>

#include "executor/context/memory_limit.h"
#include "executor/context/trigger_call.h"

namespace redquel::executor {

/// Collects the transition tables of one table and one event. Only as many columns as the table has are kept of a row.
class TransitionRows {
 public:
  /// `old_rows`, `new_rows`: the tables that triggers name.
  TransitionRows(std::shared_ptr<const sql::TableDef> table, bool old_rows, bool new_rows, const ExecutionContext& context);

  /// Adds a changed row. Throws 53200 beyond work_mem.
  void add(std::span<const sql::Datum> old_row, std::span<const sql::Datum> new_row);
  /// Returns the tables with the rows so far.
  std::shared_ptr<const TransitionTables> tables();

 private:
  /// The rows of one table that are no batch yet; without columns: no trigger names the table.
  struct Open {
    std::vector<std::shared_ptr<sql::Column>> columns;
    std::size_t rows = 0;
  };
  void begin(Open& open) const;
  void add(Open& open, std::span<const sql::Datum> row, std::vector<sql::Batch>& batches);
  void close(Open& open, std::vector<sql::Batch>& batches);

  std::shared_ptr<const sql::TableDef> table_;
  Open old_, new_;
  std::shared_ptr<TransitionTables> tables_ = std::make_shared<TransitionTables>();
  std::size_t bytes_ = 0;
  MemoryLimit limit_;
};

}  // namespace redquel::executor
