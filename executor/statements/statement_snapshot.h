#pragma once

#include <boost/asio/any_io_executor.hpp>
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

  /// Begins a run of the statement that reads these tables. `is_pieced`: by several commands that must see one state, also in one bucket.
  /// `in_one_place`: one node of the plan reads.
  void begin(std::vector<TablePtr> tables, bool is_pieced, bool in_one_place);
  /// Returns true if the tables lie in several buckets.
  bool spans_buckets() const { return commits_.are_possible(); }
  SeenCommits& commits() { return commits_; }

  /// Sends the commands that look at the tables. What is sent later by the same connection is read later. Commits over several buckets are looked
  /// at with the reads.
  void send(RedisClient& redis, asio::any_io_executor executor, ExecutionCounters* counters);
  /// Waits for the replies, unless they were awaited already.
  asio::awaitable<void> take(ExecutionContext& context);
  /// Behind the reads. Returns true if a table has changed since.
  asio::awaitable<bool> has_changed(ExecutionContext& context);
  /// Behind the reads. Returns true if they may have seen a commit over several buckets in some of these only.
  asio::awaitable<bool> is_torn(ExecutionContext& context);
  void drop() { request_.reset(); }

 private:
  std::vector<std::string> keys_;  // counters of changes
  SeenCommits commits_;
  std::unique_ptr<RedisRequest> request_;
  std::vector<std::string> counters_;
  ExecutionCounters* session_counters_ = nullptr;
  bool looks_once_ = false;
};

}  // namespace redquel::executor
