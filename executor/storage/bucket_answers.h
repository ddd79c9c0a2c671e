#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "executor/redis/client.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Buckets that do not answer within this time are left out.
inline constexpr std::chrono::milliseconds kAnswerTime{500};

/// The replies of several buckets to questions of which each can do without.
class BucketAnswers {
 public:
  explicit BucketAnswers(std::size_t buckets) : replies_(buckets), whole_(buckets) {}

  /// Returns false if the bucket has not answered: its slot has no node, or its node is not there or stands still.
  bool has(std::size_t bucket) const { return replies_[bucket] != nullptr; }
  /// Returns the replies to the commands of a bucket that has answered.
  std::span<const Reply> of(std::size_t bucket) const { return whole_[bucket]; }

  void set(std::size_t bucket, RepliesPtr replies, std::span<const Reply> own) {
    replies_[bucket] = std::move(replies);
    whole_[bucket] = own;
  }

 private:
  std::vector<RepliesPtr> replies_;  // null: no answer
  std::vector<std::span<const Reply>> whole_;
};

// Buckets that did not answer when this thread asked all of them last (CommitSweeper, every second).

void note_silent_buckets(std::set<std::string, std::less<>> tags);
const std::set<std::string, std::less<>>& silent_buckets();
/// Returns how often the set has changed.
std::uint64_t silent_bucket_changes();

/// Sends each batch to the bucket whose keys it names: all in one round trip, and one by one if that has no answer within kAnswerTime. Only reads.
asio::awaitable<BucketAnswers> ask_buckets(RedisClient& client, std::vector<CommandBatch> questions);

}  // namespace redquel::executor
