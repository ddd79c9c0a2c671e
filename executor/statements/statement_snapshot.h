#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/storage/seen_commits.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The proof that the commands of one statement have read one state of its tables: the tables' counters of changes before and behind them
/// and, where the tables lie in several buckets of a cluster, the commits over these.
class StatementSnapshot {
 public:
  using TablePtr = SeenCommits::TablePtr;

  /// Begins a run of the statement that reads these tables.
  void begin(std::vector<TablePtr> tables);
  /// Returns true if the tables lie in several buckets.
  bool spans_buckets() const { return commits_.are_possible(); }

  /// Sends the commands that look at the tables. What is sent later by the same connection is read later.
  void send(RedisClient& redis, ExecutionCounters* counters);
  /// Waits for the replies, unless they were awaited already.
  asio::awaitable<void> take(ExecutionContext& context);
  /// Behind the reads. Returns true if a table has changed since.
  asio::awaitable<bool> has_changed(ExecutionContext& context);
  /// Behind the reads. Returns true if they may have seen a commit over several buckets in some of these only.
  asio::awaitable<bool> is_torn(ExecutionContext& context);
  void drop() { request_.reset(); }

 private:
  CommandBatch commands() const;

  std::vector<std::string> keys_;  // counters of changes
  SeenCommits commits_;
  std::unique_ptr<RedisRequest> request_;
  std::vector<std::string> counters_;
  // Of the request, where it goes to several buckets.
  ExecutionCounters sent_;
  ExecutionCounters* session_counters_ = nullptr;
  bool is_late_ = false;
};

}  // namespace redquel::executor
