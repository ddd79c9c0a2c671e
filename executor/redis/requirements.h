#pragma once

#include <optional>
#include <string>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "sql/error.h"

namespace redquel::executor {

/// Returns a call of each command that redquel cannot do without. The calls touch only the key `trial`, which is gone at their end.
CommandBatch required_commands(const std::string& trial);

/// Returns 42501 with the commands that the user may not run, or that Redis does not know (renamed), and Redis's reason for the first.
std::optional<sql::SqlError> refusal_of(const Replies& replies, const std::string& address);

}  // namespace redquel::executor
