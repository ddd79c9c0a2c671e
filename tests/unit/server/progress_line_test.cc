#include "server/progress_line.h"

#include <gtest/gtest.h>

namespace redquel::server {
namespace {

TEST(ProgressLine, Text) {
  using std::chrono::seconds;
  EXPECT_EQ(progress_text(0, 0, seconds(0)), "[........................]   0 %  0 of 0 keys, 0 a second");
  EXPECT_EQ(progress_text(2'500'000, 10'000'000, seconds(10)),
            "[######..................]  25 %  2,500,000 of 10,000,000 keys, 250,000 a second, 30 s left");
  EXPECT_EQ(progress_text(1000, 1'000'000, seconds(1)), "[........................]   0 %  1,000 of 1,000,000 keys, 1,000 a second, 17 min left");
  EXPECT_EQ(progress_text(5, 5, seconds(1)), "[########################] 100 %  5 of 5 keys, 5 a second");
}

}  // namespace
}  // namespace redquel::server
