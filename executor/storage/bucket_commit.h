#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/redis/bucket_sender.h"
#include "executor/redis/reply.h"
#include "executor/storage/commit_name.h"

namespace redquel::executor {

namespace asio = boost::asio;

// Commits over several buckets of a cluster: tests/model/README.md describes the protocol, tests/model/protocol.py is its model. The scripts
// are prepare_commit.lua, apply_commit.lua, fence_prepared.lua, abort_commit.lua and forget_commits.lua.

/// The changes in one bucket: the words of a program that ends with a record, without the step `unprepared` that names the commit.
struct BucketWrite {
  int bucket;
  std::vector<std::string> program;
};

enum class BucketCommitState : std::uint8_t {
  kCommitted,
  kAborted,
  kUnknown,  // 08007: a bucket could not be reached for long
};

struct BucketCommitResult {
  BucketCommitState state;
  /// The answers of buckets that refused to prepare the commit: what prepare_commit.lua answers, or an error of Redis. Empty: another process
  /// aborted the commit.
  struct Refusal {
    int bucket;
    RepliesPtr replies;
  };
  std::vector<Refusal> refusals = {};
  /// All buckets have applied the commit: its owner forgets it some seconds later.
  bool is_applied = false;
};

/// Makes all writes, or none. `name` names their buckets. Throws what BucketSender::run does if no write was sent.
asio::awaitable<BucketCommitResult> commit_in_buckets(BucketSender& sender, CommitName name, std::vector<BucketWrite> writes);

/// Finds out the state of a commit and brings it to its end. Any process may do so, several at the same time. kAborted also says that the
/// commit was applied and forgotten a long time ago: only its owner can have that question.
asio::awaitable<BucketCommitState> recover_commit(BucketSender& sender, CommitName name);

/// Returns true if a commit whose record a reader has seen in bucket `seen_in` is prepared in all its buckets, or was: the reader reads that
/// bucket again. False: the commit is not decided, and the old state is right. Throws 57P03 if a bucket cannot be reached.
asio::awaitable<bool> is_commit_decided(BucketSender& sender, CommitName name, int seen_in);

/// Removes an applied commit from the lists of its buckets, if all of them and their replicas have it. Returns false if it stays.
asio::awaitable<bool> forget_commit(BucketSender& sender, CommitName name);
/// Removes those of at most 500 applied commits that all of their buckets and replicas have, with two calls for each bucket. The sweeper removes
/// the other ones later.
asio::awaitable<void> forget_commits(BucketSender& sender, std::vector<CommitName> names);

}  // namespace redquel::executor
