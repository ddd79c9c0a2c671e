#pragma once

#include <string>
#include <string_view>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "sql/error.h"

namespace redquel::executor {

// A Redis that has just started, or that may evict rows, is only read (ServerInfo says why).

/// Returns true if the command, by its name in upper case, changes no data. False: it does, or is not known.
bool is_reading_command(std::string_view name);
/// Do all commands only read? What is not known to is taken for a write.
bool only_reads(const CommandBatch& batch);
/// As above, of a batch of so many commands whose replies are awaited.
bool only_reads(const Replies& awaited, std::size_t commands);

/// 25006, naming Redis's policy.
sql::SqlError eviction_refused(const std::string& address, const std::string& policy);
/// 57P03: writes wait until the append-only file is rewritten.
sql::SqlError rewrite_awaited(const std::string& address);
/// 57P03: nothing has come from Redis for as long as a connection may take.
sql::SqlError redis_is_silent(const std::string& address);

}  // namespace redquel::executor
