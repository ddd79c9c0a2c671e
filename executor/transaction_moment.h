#pragma once

#include "executor/engine.h"
#include "sql/types/datetime.h"

namespace redquel::executor {

/// What the literal 'now' means: the begin of the transaction; absent outside of one.
sql::Now transaction_moment(const SessionState& session);

}  // namespace redquel::executor
