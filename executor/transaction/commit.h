#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/write_unit.h"
#include "executor/transaction/lock_wait.h"
#include "executor/transaction/transaction.h"

namespace redquel::executor {

/// Where mapped tables are.
struct MappedPlace {
  RedisAccess& access;
  int database;  // the session's logical one
  std::string catalog_version;
};

/// Brings all changes of the transaction, rows and definitions, to Redis or none of them. Throws SqlError 40001 where a row that it changed
/// is not any more what it saw, and what a write unit throws; 08007 where the connection broke and nothing can tell what became of it.
/// Changes of mapped tables go along in the same script; 40001 where an application was faster. More than `script_rows` rows, where
/// neither definitions nor mapped tables change with them, are a journaled unit. It waits for locks of others where the
/// transaction only added to rows (increments.h).
asio::awaitable<void> commit_changes(RedisClient& redis, Transaction& transaction, WriteOptions options, std::size_t script_rows,
                                     LockWaitLimits limits, std::minstd_rand& random, MappedPlace place);

/// Of a transaction that changes definitions: tables with more changed rows than the committing script shall write, and which `commit_changes`
/// cannot write before it.
std::vector<sql::Oid> tables_too_large_for_commit(const Transaction& transaction, std::size_t script_rows);

/// Returns the tag of the bucket in which the commit is noted (CommitToken).
std::string tag_of_commit(const Transaction& transaction);

/// SET CONSTRAINTS … IMMEDIATE: throws what the unit of all changes would, of the constraints that `options` ask for.
asio::awaitable<void> check_changes(RedisClient& redis, const Transaction& transaction, WriteOptions options);

/// After it: keys of what was dropped, indexes over rows of before. The session has no transaction any more.
asio::awaitable<void> finish_commit(DdlContext& context, const Transaction& transaction);

/// After a rollback: rows and counters of tables that never came to be, unless somebody else has them by now.
asio::awaitable<void> clear_new_places(RedisClient& redis, const Transaction& transaction);
/// Deletes counters, (prefix, key), of sequences and tables that never came to be, unless others have their prefix by now. An empty prefix:
/// no others can have it.
asio::awaitable<void> forget_counters(RedisClient& redis, std::vector<std::pair<std::string, std::string>> counters);

}  // namespace redquel::executor
