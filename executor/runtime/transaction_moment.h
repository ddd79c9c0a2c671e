#pragma once

#include "executor/runtime/session_state.h"
#include "sql/types/datetime.h"

namespace redquel::executor {

/// Returns the meaning of the literal 'now': the begin of the transaction; absent outside of one.
inline sql::Now transaction_moment(const SessionState& session) {
  return session.transaction || session.function_depth > 0 ? sql::Now(session.transaction_time) : std::nullopt;
}

}  // namespace redquel::executor
