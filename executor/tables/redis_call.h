#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <span>
#include <string>

#include "executor/execution_context.h"

namespace redquel::executor {

/// redis.call(): runs one command at once, whatever becomes of the transaction, and gives its reply as jsonb (nil: nothing).
/// 42501 for users who are no superusers and for commands that would harm the connection, block Redis or end it; 25006 for commands
/// that may write in a read-only transaction; 22021 where the reply is no text; errors of Redis as redis_error() says.
asio::awaitable<std::optional<std::string>> call_redis(std::span<const std::string> words, ExecutionContext& context);

}  // namespace redquel::executor
