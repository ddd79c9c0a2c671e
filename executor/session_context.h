#pragma once

#include "executor/engine.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// What expressions may ask of a session: names, settings, notifications. The statement's own parts are still missing.
sql::EvaluationContext session_context(const SessionState& session, const sql::CatalogSnapshot* catalog);

}  // namespace redquel::executor
