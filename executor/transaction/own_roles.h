#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/runtime/session_state.h"

namespace redquel::executor {

/// Returns the coroutine so that whatever it runs knows the roles as the session's transaction has made them (sql::RoleScope). Without such
/// changes that is the coroutine itself.
boost::asio::awaitable<void> with_own_roles(const SessionState& session, boost::asio::awaitable<void> work);

}  // namespace redquel::executor
