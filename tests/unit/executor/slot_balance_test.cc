#include "executor/redis/slot_balance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace redquel::executor {
namespace {

using testing::IsEmpty;

std::vector<std::uint64_t> bytes_after(std::vector<SlotLoad> loads, std::size_t masters) {
  std::vector<std::uint64_t> bytes(masters);
  for (const SlotMove& move : balance_slots(loads, masters)) {
    EXPECT_EQ(loads[move.slot].owner, move.from);
    loads[move.slot].owner = move.to;
  }
  for (const SlotLoad& load : loads) bytes[load.owner] += load.bytes;
  return bytes;
}

TEST(SlotBalance, ABalancedClusterStaysAsItIs) {
  EXPECT_THAT(balance_slots({}, 3), IsEmpty());
  EXPECT_THAT(balance_slots({{0, 0, 10, 1000}, {1, 1, 10, 950}}, 2), IsEmpty());
  EXPECT_THAT(balance_slots({{0, 0, 10, 1000}}, 1), IsEmpty());
}

TEST(SlotBalance, AnEmptyMasterGetsItsShare) {
  std::vector<SlotLoad> loads;
  for (Slot slot = 0; slot < 30; ++slot) loads.push_back({slot, slot % 2U, 10, 100});
  EXPECT_THAT(bytes_after(loads, 3), testing::Each(1000U));
}

TEST(SlotBalance, ASlotThatIsLargerThanTheRestStays) {
  EXPECT_THAT(balance_slots({{0, 0, 10, 1000}, {1, 1, 1, 10}}, 2), IsEmpty());
}

TEST(SlotBalance, EmptySlotsMoveOnlyIfTheyTakeTables) {
  const std::vector<SlotLoad> loads{{0, 0, 0, 0, true}, {1, 0, 0, 0, false}, {2, 0, 0, 0, true}};
  EXPECT_THAT(balance_slots(loads, 2), testing::ElementsAre(SlotMove{0, 0, 1}));
}

TEST(SlotBalance, TheFullestMasterNeverGetsFuller) {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    const std::size_t masters = 2 + random() % 6;
    std::vector<SlotLoad> loads;
    std::vector<std::uint64_t> before(masters);
    for (Slot slot = 0; slot < 40; ++slot) {
      loads.push_back({slot, random() % masters, 1, random() % 1000});
      before[loads.back().owner] += loads.back().bytes;
    }
    const std::vector<std::uint64_t> after = bytes_after(loads, masters);
    EXPECT_LE(std::ranges::max(after), std::ranges::max(before));
    EXPECT_LE(std::ranges::max(after) - std::ranges::min(after), std::max<std::uint64_t>(1000, std::ranges::max(after) / 10));
  }
}

}  // namespace
}  // namespace redquel::executor
