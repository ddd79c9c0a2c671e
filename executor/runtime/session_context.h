#pragma once

#include "executor/runtime/session_state.h"
#include "planner/bind/bind.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// What expressions may ask of a session: names, settings, notifications. The statement's own parts are still missing.
sql::EvaluationContext session_context(const SessionState& session, const sql::CatalogSnapshot* catalog);

/// The same for the expressions of a definition over the rows that are there; now is when it is called.
sql::EvaluationContext definition_context(const SessionState& session, const sql::CatalogSnapshot& catalog);
/// What names and literals of a statement mean in a session. `parameters`: may $1… appear? Those of definitions have none.
/// The role of an expression's CURRENT_USER; 0: it has been dropped.
sql::Oid role_of(const sql::EvaluationContext& evaluation);
planner::BindSettings bind_settings(const SessionState& session, bool parameters = false);
planner::BindSettings bind_settings(const sql::EvaluationContext& evaluation, bool parameters = false);

}  // namespace redquel::executor
