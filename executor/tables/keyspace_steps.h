#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/redis/keyspace_passes.h"

namespace redquel::executor {

/// Begins a walk over the keys of a database as a Redis user, who is empty for redquel's own login. Where redquel only looks, statements share such walks.
std::unique_ptr<KeyspacePasses::Walk> walk_keyspace(ExecutionContext& context, int database, std::string user, WantedKeys wanted);

using AskRedis = std::function<asio::awaitable<RepliesPtr>(CommandBatch)>;
/// Returns keys that a step of a walk has found, by this walk or by another one; they may be none. `count`: of keys that the step looks at.
asio::awaitable<KeyspacePasses::Found> next_keys(KeyspacePasses::Walk& walk, std::size_t count, AskRedis ask);
/// Returns those of the keys that are of a type.
asio::awaitable<std::vector<std::string>> keys_of_type(std::vector<std::string> keys, std::string type, AskRedis ask);

}  // namespace redquel::executor
