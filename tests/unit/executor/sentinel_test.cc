#include "executor/redis/sentinel.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "executor/redis/resp_codec.h"

namespace redquel::executor {
namespace {

using std::chrono::milliseconds;

SentinelAnswer read(const std::string& bytes) {
  const CommandBatch questions = sentinel_questions({.places = {}, .master = "m", .user = "", .password = ""});
  Replies replies;
  replies.set_names(questions.names());
  ReplyDecoder decoder(64 * 1024);
  decoder.feed(bytes);
  while (decoder.next(replies)) continue;
  return read_sentinel(replies);
}

SentinelAnswer named(const std::string& host, std::uint64_t epoch, int down_after = 1000) {
  return {.master = TcpPlace{host, 1}, .epoch = epoch, .down_after = milliseconds(down_after), .refusal = ""};
}

SentinelAnswer silent() { return {.master = std::nullopt, .epoch = 0, .down_after = {}, .refusal = "timeout"}; }

TEST(Sentinel, AnswerNamesThePlaceAndTheTimes) {
  const SentinelAnswer answer = read("*2\r\n$1\r\nh\r\n$4\r\n7001\r\n*4\r\n$12\r\nconfig-epoch\r\n$1\r\n5\r\n$23\r\ndown-after-milliseconds\r\n$4\r\n2000\r\n");
  EXPECT_EQ(answer.master, (TcpPlace{"h", 7001}));
  EXPECT_EQ(answer.epoch, 5U);
  EXPECT_EQ(answer.down_after, milliseconds(2000));
}

TEST(Sentinel, UnusableAnswersNameNoMaster) {
  const std::string facts = "*0\r\n";
  for (const std::string address : {"*-1\r\n", "$1\r\nx\r\n", "*1\r\n$1\r\nh\r\n", "*2\r\n$1\r\nh\r\n$1\r\n0\r\n", "*2\r\n$1\r\nh\r\n$5\r\n65536\r\n",
                                    "*2\r\n$3\r\na\nb\r\n$1\r\n1\r\n", "*2\r\n$0\r\n\r\n$1\r\n1\r\n", "-ERR no\r\n"}) {
    EXPECT_FALSE(read(address + facts).master) << address;
    EXPECT_FALSE(read(address + facts).refusal.empty()) << address;
  }
  EXPECT_FALSE(read("").master);
}

TEST(Sentinel, MostAnswersDecide) {
  const std::vector<SentinelAnswer> answers{named("liar", 99), named("a", 3), named("a", 3, 600)};
  const FoundMaster found = weigh_answers(answers);
  EXPECT_EQ(found.place->host, "a");
  EXPECT_EQ(found.disputed, (MasterDispute{TcpPlace{"liar", 1}, 99}));
  EXPECT_EQ(found.down_after, milliseconds(600));
}

TEST(Sentinel, AFailoverInProgressIsADispute) {
  const SentinelAnswer leader = read("*2\r\n$1\r\nh\r\n$4\r\n7001\r\n*4\r\n$5\r\nflags\r\n$27\r\nmaster,failover_in_progress\r\n$12\r\nconfig-epoch\r\n$1\r\n3\r\n");
  EXPECT_TRUE(leader.is_failing_over);
  const SentinelAnswer other{.master = TcpPlace{"h", 7001}, .epoch = 3, .refusal = ""};
  const std::vector<SentinelAnswer> answers{other, leader, other}, before{other, other, other};
  EXPECT_EQ(weigh_answers(answers).place, leader.master);
  EXPECT_EQ(weigh_answers(answers).disputed, (MasterDispute{TcpPlace{"h", 7001}, 3, true}));
  EXPECT_FALSE(weigh_answers(before).disputed);
}

TEST(Sentinel, AnswersThatAreMissingAreCounted) {
  EXPECT_EQ(weigh_answers(std::vector{named("a", 3), silent(), named("a", 3)}).silent, 1U);
  EXPECT_EQ(weigh_answers(std::vector{named("a", 3), named("b", 4)}).silent, 0U);
}

TEST(Sentinel, NewerConfigurationDecidesBetweenEqualNumbers) {
  const std::vector<SentinelAnswer> answers{named("old", 3), named("new", 4), silent()};
  const FoundMaster found = weigh_answers(answers);
  EXPECT_EQ(found.place->host, "new");
  EXPECT_FALSE(found.disputed);
}

TEST(Sentinel, DownTimesAreBounded) {
  const std::vector<SentinelAnswer> short_time{named("a", 1, 1)}, long_time{named("a", 1, 2'000'000'000)}, unknown{named("a", 1, 0)};
  EXPECT_EQ(weigh_answers(short_time).down_after, milliseconds(500));
  EXPECT_EQ(weigh_answers(long_time).down_after, milliseconds(60'000));
  EXPECT_EQ(weigh_answers(unknown).down_after, milliseconds(60'000));
}

TEST(Sentinel, NoAnswerGivesTheReasons) {
  const std::vector<SentinelAnswer> answers{silent(), silent()};
  const FoundMaster found = weigh_answers(answers);
  EXPECT_FALSE(found.place);
  EXPECT_EQ(found.reason, "timeout; timeout");
}

}  // namespace
}  // namespace redquel::executor
