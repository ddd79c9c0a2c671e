#include "executor/redis/reply_polling.h"

#include <gtest/gtest.h>

namespace redquel::executor {
namespace {

using Clock = ReplyPolling::Clock;
using std::chrono::microseconds;

constexpr Clock::time_point kBegin{std::chrono::seconds(100)};

TEST(ReplyPolling, AsksWhereTheThreadWasIdle) {
  ReplyPolling polling;
  EXPECT_GT(polling.patience(kBegin, kBegin - microseconds(20)).count(), 0);
  EXPECT_EQ(polling.patience(kBegin, kBegin - microseconds(2)).count(), 0);
}

TEST(ReplyPolling, PausesAfterRepliesThatDidNotComeInTime) {
  ReplyPolling polling;
  int asked = 0;
  for (int i = 0; i < 400; ++i) {
    if (polling.patience(kBegin, kBegin - microseconds(20)).count() == 0) continue;
    ++asked;
    polling.note(false);
  }
  EXPECT_LT(asked, 10);
}

TEST(ReplyPolling, GoesOnOnceRepliesComeInTimeAgain) {
  ReplyPolling polling;
  for (int i = 0; i < 10000; ++i) {
    if (polling.patience(kBegin, kBegin - microseconds(20)).count() > 0) polling.note(i > 3000);
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_GT(polling.patience(kBegin, kBegin - microseconds(20)).count(), 0);
    polling.note(true);
  }
}

}  // namespace
}  // namespace redquel::executor
