#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "sql/error.h"

namespace redquel::executor {

/// Returns true if a connection that only looks may send the command. It is one of Redis's categories @read and @connection, changes nothing
/// and holds up neither Redis nor the connection.
bool is_looking_command(std::span<const std::string_view> words);

/// Returns the commands that looking needs at least, tried without a key of an application.
CommandBatch looking_trials();
/// Returns 42501 with the rules that the user lacks, if Redis refuses one of these commands; nullopt: it refuses none.
std::optional<sql::SqlError> refused_looking(const Replies& replies, const std::string& address);

}  // namespace redquel::executor
