#include "executor/redis/discovery_progress.h"

#include <gtest/gtest.h>

namespace redquel::executor {
namespace {

using namespace std::chrono_literals;

TEST(DiscoveryProgress, the_time_that_is_left_counts_from_the_begin_of_the_listing) {
  DiscoveryProgress progress;
  progress.begin();
  progress.enter(DiscoveryProgress::State::kListing);
  progress.report(20'000, 1'000'000);
  const DiscoveryProgress::Clock::time_point between = DiscoveryProgress::Clock::now();
  progress.report(5'000, 1'000'000);  // the first keys have their tables: all keys are listed
  const DiscoveryProgress::Figures figures = progress.figures();
  EXPECT_GE(figures.listing, between);
  EXPECT_EQ(time_left(figures, figures.listing + 500ms), std::nullopt);
  EXPECT_EQ(time_left(figures, figures.listing + 2s), 398s);
}

}  // namespace
}  // namespace redquel::executor
