#pragma once

#include <string_view>

#include "sql/error.h"

namespace redquel::executor {

// Every error that Redis, or the way to it, can give becomes an SQLSTATE here and nowhere else.

/// Maps an error reply, e.g. "WRONGTYPE Operation against a key holding the wrong kind of value". `command` is the name of the command
/// that failed; the message names it. OOM 53200, READONLY 25006, WRONGTYPE XX001, NOAUTH and WRONGPASS 28000, NOPERM 42501, LOADING, BUSY,
/// MASTERDOWN and CLUSTERDOWN 57P03, MISCONF 58030, NOREPLICAS 57P03, anything else XX000.
sql::SqlError redis_error(std::string_view error_text, std::string_view command);

/// 08006, "connection to Redis lost: <reason>": it is unknown whether the commands on their way have run.
sql::SqlError connection_lost(std::string_view reason);
/// 08006, "could not connect to Redis at <address>: <reason>".
sql::SqlError connection_failed(std::string_view address, std::string_view reason);
/// 28000, "Redis at <address>: <reason>": its certificate is not trusted.
sql::SqlError certificate_refused(std::string_view address, std::string_view reason);
/// XX000: a reply of a kind that the command never gives.
sql::SqlError unexpected_reply(std::string_view command, std::string_view expected);

}  // namespace redquel::executor
