#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/context/execution_context.h"
#include "sql/column.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The rows of pg_locks: what transactions and sessions of all redquel processes hold and wait for in this database. Rows that a
/// transaction has locked show as the lock of their table that PostgreSQL takes along with them, and as that of its transaction, for which
/// others wait. The numbers of transactions are those of their process.
asio::awaitable<sql::Batch> read_locks(ExecutionContext& context);

}  // namespace redquel::executor
