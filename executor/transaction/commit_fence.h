#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/write_unit.h"

namespace redquel::executor {

// The outcome of a commit whose answer was lost: sql::kCommitsPrefix.
// A slot belongs to one commit at a time, numbers only grow; a commit that arrives behind the fence, or behind a later number, refuses.

/// The slots of one engine.
class CommitSlots {
 public:
  CommitSlots();
  CommitToken take();
  void give_back(const CommitToken& token) { free_.push_back(token.slot); }

 private:
  std::string key_;
  std::uint64_t numbers_ = 0, slots_ = 0;
  std::vector<std::string> free_;
};

enum class CommitOutcome { kCommitted, kFenced, kUnknown };

/// Asks Redis until it answers, at most for half a minute. `tag`: of the bucket that the commit changes. kFenced: the commit did not take place and never will. `generation`: of the
/// Redis that it was sent to; another one may have lost what it had, so what is absent there proves nothing.
asio::awaitable<CommitOutcome> decide_commit(RedisClient& redis, std::string tag, CommitToken token, std::uint64_t generation);

}  // namespace redquel::executor
