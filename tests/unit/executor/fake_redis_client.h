#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/client.h"
#include "executor/redis/resp_codec.h"
#include "executor/redis/script.h"
#include "sql/error.h"
#include "tests/unit/executor/resp_text.h"

namespace redquel::executor {

/// A Redis that knows in advance what it will be asked: one `expect` per round trip, with the exact commands (as
/// redis-cli would read them, CommandBatch::texts) and the reply to each (resp_text.h).
///
///   FakeRedisClient redis;
///   redis.expect({"HMGET emp:1 ename"}, {resp::texts({"smith"})});
///   … run …
///   EXPECT_TRUE(redis.is_done());
class FakeRedisClient final : public RedisClient {
 public:
  void expect(std::vector<std::string> commands, std::vector<std::string> replies) {
    expected_.push_back({std::move(commands), std::move(replies)});
  }
  /// One call of a script. `words`: the number of keys, keys and arguments.
  void expect_script(const Script& script, const std::string& words, std::string reply) {
    expect({std::string(script.command()).append(" ").append(script.sha1()).append(" ").append(words)}, {std::move(reply)});
  }
  /// One call of a script, whatever its words: last_command() has them.
  void expect_call(const Script& script, std::string reply) {
    expected_.push_back({{std::string(script.command()).append(" ").append(script.sha1())}, {std::move(reply)}, true});
  }
  /// The last command of the last round trip.
  const std::string& last_command() const { return last_command_; }
  void set_catalog_version(std::optional<std::string> version) { catalog_version_ = std::move(version); }
  void set_generation(std::uint64_t generation) { generation_ = generation; }

  asio::awaitable<RepliesPtr> execute(CommandBatch batch, ExecutionCounters* counters = nullptr) override {
    auto replies = std::make_shared<Replies>();
    if (batch.empty()) co_return replies;
    ++round_trips_;
    const std::vector<std::string> commands = batch.texts();
    if (expected_.empty()) {
      ADD_FAILURE() << "a round trip that was not expected: " << ::testing::PrintToString(commands);
      throw sql::SqlError("XX000", "unexpected round trip");
    }
    const RoundTrip expected = std::move(expected_.front());
    expected_.pop_front();
    last_command_ = commands.back();
    if (expected.is_beginning) {
      EXPECT_EQ(commands.size(), 1u);
      EXPECT_EQ(last_command_.substr(0, expected.commands[0].size()), expected.commands[0]);
    } else {
      EXPECT_EQ(commands, expected.commands);
    }
    ReplyDecoder decoder(std::size_t{1} << 30);
    for (const std::string& reply : expected.replies) decoder.feed(reply);
    while (replies->size() < expected.replies.size() && decoder.next(*replies)) {
    }
    EXPECT_EQ(replies->size(), commands.size()) << "the test must give one reply per command";
    replies->set_names(batch.names());
    replies->set_catalog_version(catalog_version_);
    replies->set_generation(generation_);
    if (counters != nullptr) {
      ++counters->round_trips;
      counters->commands += batch.size();
      counters->bytes_sent += batch.bytes().size();
      counters->bytes_received += replies->bytes();
    }
    co_return replies;
  }

  std::uint64_t generation() const override { return generation_; }
  std::size_t round_trips() const { return round_trips_; }
  /// Everything that was expected has come.
  bool is_done() const { return expected_.empty(); }

 private:
  struct RoundTrip {
    std::vector<std::string> commands;
    std::vector<std::string> replies;
    bool is_beginning = false;  // of the only command
  };
  std::deque<RoundTrip> expected_;
  std::string last_command_;
  std::size_t round_trips_ = 0;
  std::optional<std::string> catalog_version_ = "1";
  std::uint64_t generation_ = 1;
};

/// The fake behind both ways to Redis.
class FakeRedisAccess final : public RedisAccess {
 public:
  explicit FakeRedisAccess(RedisClient& client) : client_(client) {}
  RedisClient& shared(int) override { return client_; }
  RedisClient& bulk(int) override { return client_; }

 private:
  RedisClient& client_;
};

}  // namespace redquel::executor
