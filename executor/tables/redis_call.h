#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <span>
#include <string>

#include "executor/context/execution_context.h"

namespace redquel::executor {

/// Runs one command for redis.call() at once, independently of the transaction, and returns its reply as jsonb (nil: nothing). Throws
/// 42501 for users who are no superusers; the errors of CallableCommands::check; 22021 if the reply is no text; errors of Redis as
/// redis_error() maps them.
asio::awaitable<std::optional<std::string>> call_redis(std::span<const std::string> words, ExecutionContext& context);

}  // namespace redquel::executor
