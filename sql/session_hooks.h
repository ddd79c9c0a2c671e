#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql/evaluation_context.h"
#include "sql/types/type.h"

namespace redquel::sql {

struct TableDef;
class SqlError;

/// A row of pg_prepared_statements.
struct SessionStatement {
  std::string name, text;
  std::int64_t prepared_at = 0;  // µs since 2000-01-01 UTC
  std::vector<Type> parameter_types;
  bool from_sql = false;  // PREPARE, not the protocol's Parse
  std::int64_t runs = 0;
};
/// A row of pg_cursors.
struct SessionCursor {
  std::string name, text;
  bool holdable = false, binary = false, scrollable = false;
  std::int64_t created_at = 0;
};
/// The named objects of a session.
struct SessionNames {
  std::vector<SessionStatement> statements;
  std::vector<SessionCursor> cursors;
  std::vector<std::string> channels;
};

/// The functions' interface to the rooms above this one. Pass `EvaluationContext::session` to them.
struct SessionHooks {
  /// set_config(): gives a run-time parameter a value (null: its default) and returns what SHOW says then. Throws as SET does.
  std::string (*set)(const void* session, const std::string& name, const std::string* value, bool local) = nullptr;
  /// Sends a NOTICE to the client.
  void (*notice)(const void* session, const SqlError& notice) = nullptr;
  /// pg_notify(). 22023, 54000.
  void (*notify)(const void* session, std::string channel, std::string payload) = nullptr;
  /// Its prepared statements and cursors, and the channels that it listens to.
  SessionNames (*names)(const void* session) = nullptr;
  /// An expression of a table's definition as PostgreSQL shows it after analysis.
  std::string (*written_expression)(const EvaluationContext&, const TableDef&, const std::string& text, bool pretty) = nullptr;
};

/// Those of this process; null pointers until the engine has named its own.
const SessionHooks& session_hooks();
/// Before any statement runs.
void set_session_hooks(const SessionHooks& hooks);

}  // namespace redquel::sql
