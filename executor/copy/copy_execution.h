#pragma once

#include "executor/redis_engine.h"
#include "planner/copy_options.h"

namespace redquel::executor {

/// COPY … FROM STDIN and COPY … TO STDOUT. 0A000 where it runs without `attach_copy_channel` (copy_channel.h).
std::unique_ptr<Execution> make_copy_execution(RedisEngine&, PreparedPtr, SessionState&);

/// 22023 at the ENCODING option.
sql::SqlError unknown_encoding(const planner::CopyOptions& options);

}  // namespace redquel::executor
