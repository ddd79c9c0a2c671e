#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/memory/table_memory.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// Returns true if the plan scans tables that may be kept in memory.
bool scans_memory(const planner::PhysicalNode& plan);

/// The copies that one run of a statement reads, all as of one fence.
class MemoryRun {
 public:
  /// A table's state for a scan.
  struct Table {
    TableVersionPtr version;      // null: the scan reads Redis
    std::int64_t milliseconds = 0;  // Redis's time at the fence
    std::string reason;           // why it reads Redis
    std::size_t rows_read_again = 0, rounds = 0;
    bool is_filled_now = false;
  };

  MemoryRun(TableMemory& memory, int database) : memory_(memory), database_(database) {}
  /// Notes the scans of a plan.
  void note_scans(const planner::PhysicalNode& plan);

  /// Returns why the table's scans, which all read only some rows, do not read the copy; empty: they may. It is not filled for them.
  std::string part_refusal(sql::Oid table, ExecutionContext& context);
  /// Notes rows that a scan of a part has read from Redis.
  void note_part(sql::Oid table, std::size_t rows);
  /// Returns the table's state. The first call brings all tables of the run to one moment: it fills copies, reads changed rows again and
  /// passes a fence.
  asio::awaitable<const Table*> state_of(sql::Oid table, ExecutionContext& context);

  /// Rows of a copy, and a guess how many of them a scan wants.
  struct Known {
    double rows = 0, wanted = 0;
  };
  /// Returns what is known of a scan that has not begun. None: its copy does not hold the columns now, or the scan will not read it.
  std::optional<Known> known(const planner::MemoryScan& scan, ExecutionContext& context) const;

 private:
  struct Read {
    std::shared_ptr<const sql::TableDef> table;
    std::vector<std::int16_t> numbers;  // ascending
    TableCopyPtr copy;
    Table state;
    bool is_part = true;  // all scans read only some rows
    std::vector<const planner::MemoryScan*> parts;  // of the plan: those that read only some rows
  };

  void note_scan(const planner::MemoryScan& scan);
  asio::awaitable<void> prepare(ExecutionContext& context);
  /// Returns why this statement must not read a copy of the foreign table; empty: it may.
  asio::awaitable<std::string> foreign_refusal(const Read& read, ExecutionContext& context) const;
  asio::awaitable<void> provide(Read& read, Keeper& keeper, ExecutionContext& context);
  asio::awaitable<void> pass_fence(Keeper& keeper, ExecutionContext& context);

  TableMemory& memory_;
  int database_;
  std::map<sql::Oid, Read> reads_;
  bool is_prepared_ = false;
};

/// Returns the scan of a copy that gives the plan's rows, or more. Null: there is none.
const planner::MemoryScan* memory_scan_of(const planner::PhysicalNode& plan);

}  // namespace redquel::executor
