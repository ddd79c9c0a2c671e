#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"
#include "sql/error.h"
#include "sql/functions/deferred_calls.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Values of a sequence in their order.
using SequenceRuns = std::deque<sql::SessionSequences::Run>;

/// Returns the next `count` values of a sequence (nextval), in order. Throws SqlError 2200H at its end. Returned values are used up, even
/// if the statement fails.
asio::awaitable<std::vector<std::int64_t>> allocate(RedisClient& client, const sql::SequenceDef& sequence, std::size_t count);

/// Like allocate(), with up to `ahead` more behind them: fewer at the sequence's end. `version`: of the definitions that hold the sequence; if Redis has
/// another one by now, and another definition of the sequence, returns nullopt, and what was taken is given up. Null: this does not matter.
asio::awaitable<std::optional<SequenceRuns>> allocate_runs(RedisClient& client, const sql::SequenceDef& sequence, std::size_t count,
                                                           std::size_t ahead, const std::string* version, ExecutionCounters* counters);

/// Returns the error XX001 of a counter that holds no integer. Its hint names the repair.
sql::SqlError damaged_counter(const sql::SequenceDef& sequence);

/// Takes the first `count` of them, or all.
std::vector<std::int64_t> take_values(SequenceRuns& runs, const sql::SequenceDef& sequence, std::size_t count);

/// Returns true if the definition in Redis still is this one, as this redquel writes it.
asio::awaitable<bool> is_defined_so(RedisClient& client, const sql::SequenceDef& sequence, ExecutionCounters* counters);

/// setval(sequence, value, is_called). Throws 22003 outside of the bounds.
asio::awaitable<void> set_sequence(RedisClient& client, const sql::SequenceDef& sequence, std::int64_t value, bool is_called);

/// The last value given; nullopt: none yet.
asio::awaitable<std::optional<std::int64_t>> last_value(RedisClient& client, const sql::SequenceDef& sequence);

/// The keys of `count` new rows of a table without a primary key. For tables that get row after row, each by a statement of its own, a
/// thread asks for some ahead: most rows cost no round trip then, and those of several threads lie in another order than they came in.
asio::awaitable<std::vector<std::int64_t>> allocate_row_keys(RedisClient& client, const sql::TableDef& table, std::size_t count,
                                                             ExecutionCounters* counters = nullptr);
/// Returns the keys of these new rows, each for the part of the table that gets the row.
asio::awaitable<std::vector<std::int64_t>> allocate_keys_of(RedisClient& client, const sql::TableDef& table,
                                                            std::span<const std::vector<sql::Datum>> rows, ExecutionCounters* counters = nullptr);

}  // namespace redquel::executor
