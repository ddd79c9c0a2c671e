#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The next `count` values of a sequence (nextval), in order. Throws SqlError 2200H at its end. Values that were given are
/// gone, whatever becomes of the statement. With `checked`, nothing where the definition in Redis is written otherwise.
asio::awaitable<std::optional<std::vector<std::int64_t>>> allocate(RedisClient& client, const sql::SequenceDef& sequence, std::size_t count,
                                                                   bool checked = false, ExecutionCounters* counters = nullptr);

/// setval(sequence, value, is_called). Throws 22003 outside of the bounds.
asio::awaitable<void> set_sequence(RedisClient& client, const sql::SequenceDef& sequence, std::int64_t value, bool is_called);

/// The last value given; nullopt: none yet.
asio::awaitable<std::optional<std::int64_t>> last_value(RedisClient& client, const sql::SequenceDef& sequence);

/// The keys of `count` new rows of a table without a primary key. For tables that get row after row, each by a statement of its own, a
/// thread asks for some ahead: most rows cost no round trip then, and those of several threads lie in another order than they came in.
asio::awaitable<std::vector<std::int64_t>> allocate_row_keys(RedisClient& client, const sql::TableDef& table, std::size_t count,
                                                             ExecutionCounters* counters = nullptr);

}  // namespace redquel::executor
