#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"
#include "sql/datum.h"
#include "sql/relation_counts.h"

namespace redquel::planner {
struct DirectRead;
}

namespace redquel::executor {

class SharedConnection;

/// Takes rows as Redis holds them (storage/stored_text.h).
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Takes a text for each column; nullopt: NULL. Returns false if it cannot show one of them.
  virtual bool add(std::span<const std::optional<std::string_view>> row) = 0;
};

/// A run of a statement that is one turn of commands (planner/direct/direct_read.h). Nothing else of a run is made: no operators, columns
/// or batches.
class DirectRun {
 public:
  virtual ~DirectRun() = default;
  /// Returns true if the replies are there already.
  virtual bool is_answered() const = 0;
  /// Waits for the replies. Cancellation of the waiting coroutine throws system_error(operation_aborted).
  virtual asio::awaitable<void> wait() = 0;
  /// Gives the rows. Returns false if anything is unusual: then the statement runs by its plan, and the rows so far do not count. Throws
  /// SqlError if the connection was lost.
  virtual bool give(RowSink& rows) = 0;
};
using DirectRunPtr = std::unique_ptr<DirectRun>;

/// The part that all runs of a statement share: how each field of a reply becomes a column. Made when the statement is planned.
class DirectProgram {
 public:
  virtual ~DirectProgram() = default;
  /// Sends the commands. Null: a value is of no use for them.
  virtual DirectRunPtr start(SharedConnection& connection, std::span<const sql::Datum> parameters, sql::CatalogPtr catalog,
                             ExecutionCounters& counters, sql::RelationCounts* relations) const = 0;
};
using DirectProgramPtr = std::shared_ptr<const DirectProgram>;

/// `read` may be null: then the program is null, too.
DirectProgramPtr make_direct_program(std::shared_ptr<const planner::DirectRead> read);

}  // namespace redquel::executor
