#pragma once

#include "executor/runtime/session_state.h"
#include "planner/bind/bind.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// Returns the session's part of an expression's context: names, settings, notifications. The statement's own parts are still missing.
sql::EvaluationContext session_context(const SessionState& session, const sql::CatalogSnapshot* catalog);

/// Like session_context(), for the expressions of a definition over existing rows; now is the time of the call.
sql::EvaluationContext definition_context(const SessionState& session, const sql::CatalogSnapshot& catalog);
/// bind_settings(): the settings that give names and literals of a statement their meaning. `parameters`: $1… may appear; definitions have
/// none. role_of(): the role of CURRENT_USER in an expression; 0: it has been dropped.
sql::Oid role_of(const sql::EvaluationContext& evaluation);
planner::BindSettings bind_settings(const SessionState& session, bool parameters = false);
/// The rules that the planner leaves out for a statement of the session: inside of a function also the answers of maintained views, because the statement around
/// it may have changed rows that its views do not have yet.
planner::LeftOutRules left_out_rules(const SessionState& session);
planner::BindSettings bind_settings(const sql::EvaluationContext& evaluation, bool parameters = false);

}  // namespace redquel::executor
