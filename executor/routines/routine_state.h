#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/engine/engine.h"
#include "sql/error.h"

namespace redquel::executor {

/// A cursor that a routine has opened, with its rows.
struct RoutineCursor {
  std::string name;
  std::vector<OutputColumn> columns;
  std::vector<sql::Batch> rows;
  std::size_t count = 0;     // of rows
  std::size_t position = 0;  // 0: before the first row; n: on row n
  bool scrolls = true;
};

/// The state that the routines of one session share.
struct RoutineState {
  std::map<std::string, std::shared_ptr<RoutineCursor>> cursors;  // of the transaction `of`
  std::weak_ptr<Transaction> of;
  std::size_t unnamed_cursors = 0;
  bool next_may_end_transaction = false;  // the next procedure that is called may COMMIT
  std::size_t ended_transactions = 0;     // by COMMIT and ROLLBACK in routines
};

/// Returns the state of the session; cursors of an earlier transaction are gone.
RoutineState& routine_state(SessionState& session);

}  // namespace redquel::executor
