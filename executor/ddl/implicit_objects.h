#pragma once

#include <string>
#include <vector>

#include "executor/runtime/session_state.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// Returns PostgreSQL's messages of level debug1 about the sequences and indexes that a statement makes for columns and constraints.
/// `before`: the table as it was, whose objects are not new; null: it was not there.
std::vector<std::string> implicit_objects(std::string_view command, const sql::CatalogSnapshot& catalog, const sql::TableDef* before,
                                          const sql::TableDef& table);
/// Sends the messages to the session's client.
void tell_implicit_objects(SessionState& session, std::vector<std::string> messages);
/// Returns true if the client wants messages of this level.
bool wants_debug_messages(const SessionState& session);

}  // namespace redquel::executor
