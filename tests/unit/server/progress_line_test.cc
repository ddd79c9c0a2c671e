#include "server/progress_line.h"

#include <gtest/gtest.h>

namespace redquel::server {
namespace {

using namespace std::chrono_literals;

TEST(ProgressLine, Text) {
  const executor::DiscoveryProgress::Clock::time_point begun(1h);
  EXPECT_EQ(line_text({.state = executor::DiscoveryProgress::State::kListing, .begun = begun}, begun), "[........................]   0 %  0 of 0 keys");
  EXPECT_EQ(line_text({.state = executor::DiscoveryProgress::State::kListing, .walked = 2'500'000, .all = 10'000'000, .tables = 14, .begun = begun}, begun + 10s),
            "[######..................]  25 %  2,500,000 of 10,000,000 keys, 14 tables, about 30 s left");
  EXPECT_EQ(line_text({.state = executor::DiscoveryProgress::State::kListing, .walked = 1000, .all = 1'000'000, .begun = begun}, begun + 1s),
            "[........................]   0 %  1,000 of 1,000,000 keys, about 17 min left");
  EXPECT_EQ(line_text({.walked = 5, .all = 5, .begun = begun}, begun + 1s), "[########################] 100 %  5 of 5 keys");
}

}  // namespace
}  // namespace redquel::server
