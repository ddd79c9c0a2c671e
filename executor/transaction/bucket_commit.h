#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/redis/reply.h"
#include "executor/redis/script.h"
#include "executor/transaction/commit_name.h"

namespace redquel::executor {

namespace asio = boost::asio;

// Commits over several buckets of a cluster: tests/model/README.md describes the protocol, tests/model/protocol.py is its model. The scripts
// are prepare_commit.lua, apply_commit.lua, fence_prepared.lua, abort_commit.lua and forget_commits.lua.

/// One script at one bucket.
struct BucketCall {
  int bucket;
  const Script* script;
  std::vector<std::string> keys;  // the sender puts a key of the bucket in front
  std::vector<std::string> arguments;
  bool waits = false;  // for all replicas of the bucket's master
};

struct BucketAnswer {
  /// One reply. Null: the connection was lost, or the bucket could not be reached in time. The script may have run, or may still run.
  RepliesPtr replies;
  /// The script has run here, and WAIT on its connection has counted all replicas. A master without replicas confirms at once.
  bool is_confirmed = false;
};

/// The way to the buckets of a cluster. The client of the cluster implements it.
class BucketSender {
 public:
  virtual ~BucketSender() = default;
  /// Sends all calls at once, and gives their answers in the same order. MOVED, TRYAGAIN, CLUSTERDOWN, LOADING, READONLY, NOREPLICAS and
  /// MISCONF say that the script has not run: the sender sends it again, with its WAIT, until a time of its own is over.
  virtual asio::awaitable<std::vector<BucketAnswer>> run(std::vector<BucketCall> calls) = 0;
  /// Returns the time since a fixed moment. It does not stand still while the machine sleeps.
  virtual std::chrono::milliseconds now() const;
};

/// The changes in one bucket: keys and arguments of write_rows.lua, in mode "apply" or "commit".
struct BucketWrite {
  int bucket;
  std::vector<std::string> keys, arguments;
};

enum class BucketCommitState : std::uint8_t {
  kCommitted,
  kAborted,
  kUnknown,  // 08007: a bucket could not be reached for long
};

struct BucketCommitResult {
  BucketCommitState state;
  /// The answers of buckets that refused to prepare the commit: what write_rows.lua answers, or an error of Redis. Empty: another process
  /// aborted the commit.
  struct Refusal {
    int bucket;
    RepliesPtr replies;
  };
  std::vector<Refusal> refusals = {};
  /// All buckets have applied the commit: its owner forgets it some seconds later.
  bool is_applied = false;
};

/// Makes all writes, or none. `name` names their buckets.
asio::awaitable<BucketCommitResult> commit_in_buckets(BucketSender& sender, CommitName name, std::vector<BucketWrite> writes);

/// Finds out the state of a commit and brings it to its end. Any process may do so, several at the same time. kAborted also says that the
/// commit was applied and forgotten a long time ago: only its owner can have that question.
asio::awaitable<BucketCommitState> recover_commit(BucketSender& sender, CommitName name);

/// Returns true if a commit whose record a reader has seen in bucket `seen_in` is prepared in all its buckets, or was: the reader reads that
/// bucket again. False: the commit is not decided, and the old state is right. Throws 57P03 if a bucket cannot be reached.
asio::awaitable<bool> is_commit_decided(BucketSender& sender, CommitName name, int seen_in);

/// Removes an applied commit from the lists of its buckets, if all of them and their replicas have it. Returns false if it stays.
asio::awaitable<bool> forget_commit(BucketSender& sender, CommitName name);

}  // namespace redquel::executor
