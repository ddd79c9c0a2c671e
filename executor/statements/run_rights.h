#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/engine/redis_engine.h"

namespace redquel::executor {

/// Checks the rights that a statement needs for the session's role, and the replica identities of tables that it changes. Throws 42501, 55000, or StaleCatalog if the plan is that of another role, or if
/// another process has changed definitions or roles.
asio::awaitable<void> check_rights(RedisEngine& engine, PreparedPtr prepared, SessionState& session, sql::CatalogPtr catalog);

/// Returns the statement as it is planned for the newest definitions that this process knows, its rights checked. Throws 42501.
asio::awaitable<PreparedPtr> with_checked_rights(RedisEngine& engine, PreparedPtr prepared, SessionState& session);

}  // namespace redquel::executor
