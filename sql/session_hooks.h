#pragma once

#include <string>

#include "sql/evaluation_context.h"

namespace redquel::sql {

struct TableDef;

/// What functions ask of the rooms above this one. `EvaluationContext::session` is theirs.
struct SessionHooks {
  /// set_config(): gives a run-time parameter a value (null: its default) and returns what SHOW says then. Throws as SET does.
  std::string (*set)(const void* session, const std::string& name, const std::string* value, bool local) = nullptr;
  /// An expression of a table's definition as PostgreSQL shows it after analysis.
  std::string (*written_expression)(const EvaluationContext&, const TableDef&, const std::string& text, bool pretty) = nullptr;
};

/// Those of this process; null pointers until the engine has named its own.
const SessionHooks& session_hooks();
/// Before any statement runs.
void set_session_hooks(const SessionHooks& hooks);

}  // namespace redquel::sql
