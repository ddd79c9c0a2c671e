#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/runtime/session_state.h"

namespace redquel::executor {

/// Returns a coroutine in which the work sees the roles with the changes of the session's transaction (sql::RoleScope). Without such
/// changes that is the work itself.
boost::asio::awaitable<void> with_own_roles(const SessionState& session, boost::asio::awaitable<void> work);

}  // namespace redquel::executor
