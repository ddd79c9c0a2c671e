#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/engine/engine.h"
#include "server/cursor.h"
#include "server/prepared_statement.h"

namespace redquel::server {

/// A statement bound to its parameters, running or about to run. It may be run in pieces (row limits), and several are
/// open at once; what one has pulled and not sent yet waits here.
struct Portal {
  std::string name;
  PreparedStatementPtr statement;
  std::vector<sql::Datum> parameters;
  std::vector<std::int16_t> result_formats;  // one per column
  sql::HeldBytes memory;                          // of the parameters as they came

  std::unique_ptr<executor::Execution> execution;  // from the first Execute on
  std::list<sql::Batch> pulled;                    // the front one is being sent
  std::size_t next_row = 0;                        // of the front batch
  std::size_t sent = 0;                            // rows, by all its runs
  bool ended = false;                              // the execution has said its end
  bool resumed = false;                            // rows were sent by an earlier Execute
  bool is_spent = false;                           // ran directly: all its rows were sent
  bool finished = false;                           // returned no rows and is done: cannot be run again
  std::string command_tag;                         // once ended
  std::unique_ptr<Cursor> cursor;                  // from the first FETCH or MOVE on: it has the rows instead
};

using Portals = std::unordered_map<std::string, std::unique_ptr<Portal>>;

}  // namespace redquel::server
