#include "server/startup_slots.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/address_watch.h"

namespace redquel::server {
namespace {

using namespace std::chrono_literals;

TEST(StartupSlots, TakesNoSlotWhileRedquelIsAtWork) {
  StartupSlots slots(2);
  const std::uint64_t first = slots.add(0, "a");
  EXPECT_FALSE(slots.is_full());
  slots.add(1, "a");
  EXPECT_TRUE(slots.is_full());
  EXPECT_FALSE(slots.take_silent(0ms));
  slots.set_waiting(first, true);
  EXPECT_FALSE(slots.take_silent(1h));
  slots.set_waiting(first, false);
  EXPECT_FALSE(slots.take_silent(0ms));
  slots.remove(first);
  EXPECT_FALSE(slots.is_full());
}

TEST(StartupSlots, BytesNowAndThenKeepNoSlot) {
  StartupSlots slots(2);
  const std::uint64_t trickle = slots.add(0, "a");
  for (int byte = 0; byte < 3; ++byte) {
    slots.set_waiting(trickle, true);
    std::this_thread::sleep_for(20ms);
    slots.set_waiting(trickle, false);
  }
  slots.set_waiting(trickle, true);
  EXPECT_TRUE(slots.take_silent(50ms));
}

TEST(StartupSlots, TheAddressWithMostLosesItsOldest) {
  StartupSlots slots(4);
  const std::uint64_t alone = slots.add(0, "quiet"), first = slots.add(3, "flood"), second = slots.add(1, "flood");
  for (const std::uint64_t number : {alone, first, second}) slots.set_waiting(number, true);
  const auto taken = slots.take_silent(0ms);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->number, first);
  EXPECT_EQ(taken->worker, 3u);
  EXPECT_EQ(taken->address, "flood");
  EXPECT_EQ(slots.take_silent(0ms)->number, alone);  // as many as the other address by now, and older
}

TEST(AddressWatch, CountsWrongCancelsByAddress) {
  AddressWatch watch(2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(watch.may_cancel("a"));
    watch.note_wrong_cancel("a");
  }
  EXPECT_FALSE(watch.may_cancel("a"));
  EXPECT_TRUE(watch.may_cancel("b"));
}

TEST(AddressWatch, LogsOnceAMinute) {
  AddressWatch watch(2);
  EXPECT_TRUE(watch.may_log("a"));
  EXPECT_FALSE(watch.may_log("a"));
  EXPECT_TRUE(watch.may_log("b"));
}

}  // namespace
}  // namespace redquel::server
