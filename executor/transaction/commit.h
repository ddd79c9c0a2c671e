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

/// The access to mapped tables.
struct MappedPlace {
  RedisAccess& access;
  int database;  // the session's logical one
  std::string catalog_version;
};

/// The evidence that a commit leaves: it decides what a session is told if an answer, or the confirmation by replicas, was lost.
struct CommitTrace {
  enum class Kind {
    kNothing,  // nothing was sent that could take place
    kToken,    // the commit's token is in the bucket of `tag` if it took place (CommitToken)
    kBuckets,  // a commit over several buckets: success says that all replicas have it; an error other than 08007 says that it did not take place
    kNone,     // 08007 if anything was lost
  };
  Kind kind = Kind::kNothing;
  std::string tag = {};
};

/// Writes all changes of the transaction, rows and definitions, to Redis or none of them. Throws SqlError 40001 if a row that it changed
/// differs from the one it saw, and the errors of a write unit; 08007 if the connection broke and the outcome is unknown. Changes of
/// mapped tables are part of the same script; 40001 if an application was faster. More than `script_rows` rows, unless definitions or
/// mapped tables change with them, are a journaled unit. It waits for conflicting locks if the transaction only added to rows
/// (increments.h). `trace` is right also if it throws.
asio::awaitable<void> commit_changes(RedisClient& redis, Transaction& transaction, WriteOptions options, std::size_t script_rows,
                                     LockWaitLimits limits, std::minstd_rand& random, MappedPlace place, CommitTrace& trace);

/// For a transaction that changes definitions: returns the tables with more changed rows than the committing script shall write, and which
/// `commit_changes` cannot write before it.
std::vector<sql::Oid> tables_too_large_for_commit(const Transaction& transaction, std::size_t script_rows);

/// SET CONSTRAINTS … IMMEDIATE: throws what the unit of all changes would, of the constraints that `options` ask for.
asio::awaitable<void> check_changes(RedisClient& redis, const Transaction& transaction, WriteOptions options);

/// After it: keys of what was dropped, indexes over rows of before. The session has no transaction any more.
asio::awaitable<void> finish_commit(DdlContext& context, const Transaction& transaction);

/// After a rollback: deletes rows and counters of tables that were never committed, unless another session has their places by now.
asio::awaitable<void> clear_new_places(RedisClient& redis, const Transaction& transaction);
/// Deletes counters, (prefix, key), of sequences and tables that never came to be, unless others have their prefix by now. An empty prefix:
/// no others can have it.
asio::awaitable<void> forget_counters(RedisClient& redis, std::vector<std::pair<std::string, std::string>> counters);

}  // namespace redquel::executor
