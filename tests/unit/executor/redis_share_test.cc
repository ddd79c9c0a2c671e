#include "executor/redis/redis_share.h"

#include <gtest/gtest.h>

namespace redquel::executor {
namespace {

using namespace std::chrono_literals;
using Clock = RedisShare::Clock;

const Clock::time_point kStart = Clock::time_point(1h);

TEST(RedisShare, a_read_is_followed_by_a_pause_for_the_share) {
  RedisShare share({.percent = 10});
  share.note(kStart, 1ms, 1000, 1);
  EXPECT_EQ(share.next(), kStart + 9ms);
}

TEST(RedisShare, the_round_trip_is_no_time_of_redis) {
  RedisShare share({.percent = 50});
  share.note_latency(kStart, 400us, 400us);
  share.note(kStart, 1ms, 0, 1);
  EXPECT_EQ(share.next(), kStart + 200us);  // the way to Redis and back is a part of the pause
  share.note_latency(kStart, 900us, 900us);  // the least one counts
  share.note(kStart + 1s, 1ms, 0, 1);
  EXPECT_EQ(share.next(), kStart + 1s + 200us);
  share.note(kStart + 2s, 100us, 0, 1);  // shorter than a round trip
  EXPECT_EQ(share.next(), kStart + 2s - 100us);
}

TEST(RedisShare, a_wait_for_the_processor_is_no_time_of_redis) {
  RedisShare share({.percent = 50});
  for (int read = 0; read < 32; ++read) share.note(kStart, 100us, 100, 100);
  share.note(kStart + 1h, 10ms, 100, 100);
  EXPECT_EQ(share.next(), kStart + 1h - 10ms + 200us);
  share.note(kStart + 2h, 10ms, 1000, 1000);  // ten times as many keys
  EXPECT_EQ(share.next(), kStart + 2h - 10ms + 2ms);
}

TEST(RedisShare, all_of_the_time_needs_no_pause) {
  RedisShare share({.percent = 100});
  share.note(kStart, 1s, 1000, 1);
  EXPECT_EQ(share.next(), kStart);
  EXPECT_FALSE(share.wants_latency(kStart));
  EXPECT_EQ(share.step(), 1000u);
}

TEST(RedisShare, keys_per_second_bound_the_pace_too) {
  RedisShare share({.percent = 100, .keys_per_second = 1000});
  share.note(kStart, 100ms, 500, 1);
  EXPECT_EQ(share.next(), kStart + 400ms);  // half a second for 500 keys, less the time of the read
  share.note(kStart + 2s, 1s, 500, 1);         // slower than the pace
  EXPECT_EQ(share.next(), kStart + 2s);  // no pause
}

TEST(RedisShare, reads_of_several_sessions_wait_for_each_other) {
  RedisShare share({.percent = 50});
  share.note(kStart, 10ms, 0, 1);
  share.note(kStart, 10ms, 0, 1);  // of another thread, which had been sent before
  EXPECT_EQ(share.next(), kStart + 30ms);  // both have begun 10 ms before
}

TEST(RedisShare, a_redis_that_stood_still_is_not_paid_for_with_minutes) {
  RedisShare share({.percent = 1});
  share.note(kStart, 1h, 0, 1);
  EXPECT_EQ(share.next(), kStart + 1s);
}

TEST(RedisShare, the_latency_is_measured_now_and_then) {
  RedisShare share({.percent = 10});
  EXPECT_TRUE(share.wants_latency(kStart));
  for (int measured = 0; measured < 5; ++measured) {
    share.note_latency(kStart, 1ms, 1ms);
    EXPECT_EQ(share.wants_latency(kStart + 200ms), measured < 4);
  }
  EXPECT_FALSE(share.wants_latency(kStart + 9s));
  EXPECT_TRUE(share.wants_latency(kStart + 11s));
}

TEST(RedisShare, a_step_takes_100_microseconds_of_redis) {
  RedisShare share({.percent = 10});
  EXPECT_EQ(share.step(), 66u);  // before a read is measured
  for (int read = 0; read < 32; ++read) share.note(kStart, 2ms, 1000, 1000);
  EXPECT_EQ(share.step(), 50u);
  for (int read = 0; read < 32; ++read) share.note(kStart, 10ms, 10, 10);
  EXPECT_EQ(share.step(), 10u);
  for (int read = 0; read < 32; ++read) share.note(kStart, 1us, 1000, 1000);
  EXPECT_EQ(share.step(), 1000u);
}

TEST(RedisShare, a_step_holds_redis_longer_than_a_command_without_work_after_a_pause) {
  RedisShare share({.percent = 10});
  for (int measured = 0; measured < 5; ++measured) share.note_latency(kStart, 20us, 60us);
  for (int read = 0; read < 32; ++read) share.note(kStart, 160us, 50, 50);
  EXPECT_EQ(share.step(), 50u);
  EXPECT_EQ(share.expected(1'000'000, 1), 28s);  // 140 microseconds of Redis for a step: the pause is no time of Redis, its end is
}

TEST(RedisShare, the_expected_time_is_that_of_the_share) {
  RedisShare share({.percent = 10});
  for (int read = 0; read < 32; ++read) share.note(kStart, 1ms, 1000, 1000);
  EXPECT_EQ(share.expected(1'000'000, 1), 10s);
  EXPECT_EQ(share.expected(1'000'000, 3), 30s);
}

}  // namespace
}  // namespace redquel::executor
