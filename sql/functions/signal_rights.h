#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// Throws 42501 unless the current role may cancel the statements, or end the sessions, of a role.
void check_may_signal(const EvaluationContext& context, Oid role, bool ends_session);

}  // namespace redquel::sql
