#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>

#include "executor/redis/client.h"
#include "executor/storage/exclusive_tables.h"
#include "executor/storage/row_buffer.h"
#include "executor/storage/write_unit.h"
#include "executor/transaction/transaction.h"
#include "sql/error.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Adds the change of a row that a transaction has made.
void add_change(WriteUnit& unit, const WriteUnit::TablePtr& table, const BufferedRow& row);

/// Returns true if a row existed before, or will exist.
bool writes_rows(const TableChanges& changes);

/// Chunks of a transaction's rows never meet each other: those that go are first, then those that change, then those that come.
enum class Phase { kNone, kDelete, kUpdate, kInsert };
inline constexpr Phase kPhases[] = {Phase::kDelete, Phase::kUpdate, Phase::kInsert};

/// Adds what of the row's change belongs to the phase; false: nothing. Rows that may exchange unique values go and come again.
bool add_in_phase(WriteUnit& unit, Phase phase, const WriteUnit::TablePtr& table, const BufferedRow& row);

/// Commits more rows than one script writes as a journaled unit. `database`: the logical one. Throws what `commit_changes` does.
asio::awaitable<void> commit_in_chunks(RedisClient& redis, int database, Transaction& transaction, WriteOptions options, std::size_t script_rows,
                                       LockDeadline deadline);

/// Returns 08007 of a commit whose connection was lost.
sql::SqlError outcome_unknown(const sql::SqlError& error);

}  // namespace redquel::executor
