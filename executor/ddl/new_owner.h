#pragma once

#include <string>

#include "executor/runtime/session_state.h"

namespace redquel::executor {

/// The text that a definition names its new owner by. 42704 for a role that does not exist, 42501 unless the session's role is a member of it.
std::string new_owner(const SessionState& session, const std::string& name);

}  // namespace redquel::executor
