#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/redis/cluster_scan.h"
#include "tests/unit/executor/cluster_fixture.h"

namespace redquel::executor {
namespace {

using ::testing::ElementsAre;

std::vector<NodeSlots> placement_of(std::vector<std::pair<TcpPlace, std::vector<Slot>>> nodes) {
  std::vector<NodeSlots> placement;
  for (const auto& [place, slots] : nodes) {
    NodeSlots& node = placement.emplace_back();
    node.place = place;
    for (const Slot slot : slots) node.owned.set(slot);
  }
  return placement;
}

/// Runs the visits of one page each; returns their places.
std::vector<std::string> visit_all(ClusterScan& scan) {
  std::vector<std::string> hosts;
  while (const auto page = scan.next()) {
    hosts.push_back(page->place.host);
    scan.advance("0");
  }
  return hosts;
}

TEST(ClusterScan, VisitsSlotsAgainThatHaveMoved) {
  const Slot slot = slot_of("x");
  const Slot other = static_cast<Slot>(slot + 1);
  ClusterScan scan(placement_of({{kA, {slot, other}}, {kB, {1}}}));
  EXPECT_THAT(visit_all(scan), ElementsAre("a", "b"));
  const auto moved = placement_of({{kA, {other}}, {kB, {1, slot}}});
  EXPECT_FALSE(scan.finish(moved));
  EXPECT_TRUE(scan.wants("x"));
  EXPECT_FALSE(scan.wants("y"));
  EXPECT_THAT(visit_all(scan), ElementsAre("b"));
  EXPECT_TRUE(scan.finish(moved));
}

TEST(ClusterScan, VisitsTheSourceBeforeTheTargetOfAMove) {
  const Slot slot = slot_of("x");
  auto moving = placement_of({{kA, {1}}, {kB, {slot}}});
  moving[1].leaving.emplace_back(slot, kA);
  ClusterScan scan(moving);
  EXPECT_THAT(visit_all(scan), ElementsAre("a", "b"));
  EXPECT_FALSE(scan.finish(moving));
  EXPECT_THAT(visit_all(scan), ElementsAre("b", "a"));
  EXPECT_TRUE(scan.finish(moving));
}

TEST(ClusterScan, WaitsForASlotThatIsBetweenTwoMasters) {
  const Slot slot = slot_of("x");
  ClusterScan scan(placement_of({{kA, {slot}}, {kB, {1}}}));
  visit_all(scan);
  EXPECT_FALSE(scan.finish(placement_of({{kA, {}}, {kB, {1}}})));  // the nodes were asked one after the other
  EXPECT_FALSE(scan.next());
  const auto moved = placement_of({{kA, {}}, {kB, {1, slot}}});
  EXPECT_FALSE(scan.finish(moved));
  EXPECT_THAT(visit_all(scan), ElementsAre("b"));
  EXPECT_TRUE(scan.finish(moved));
  // A slot that no node has any longer is no reason to wait.
  ClusterScan other(placement_of({{kA, {slot}}}));
  visit_all(other);
  EXPECT_FALSE(other.finish(placement_of({{kA, {}}})));
  EXPECT_TRUE(other.finish(placement_of({{kA, {}}})));
}

TEST(ClusterScan, BeginsAnewWhereAMasterWasReplaced) {
  ClusterScan scan(placement_of({{kA, {1}}, {kB, {2}}}));
  scan.advance("17");
  SlotMap now;
  now.assign(1, kC);
  now.assign(2, kB);
  scan.replace(now);
  EXPECT_EQ(scan.next()->place, kC);
  EXPECT_EQ(scan.next()->cursor, "0");
  EXPECT_THAT(visit_all(scan), ElementsAre("c", "b"));
}

TEST(ClusterScan, GivesUpWhereSlotsNeverCeaseToMove) {
  const auto here = placement_of({{kA, {1}}, {kB, {2}}}), there = placement_of({{kA, {2}}, {kB, {1}}});
  ClusterScan scan(here);
  EXPECT_THROW(
      {
        for (int round = 0; round < 100; ++round) {
          visit_all(scan);
          scan.finish(round % 2 == 0 ? there : here);
        }
      },
      sql::SqlError);
}

}  // namespace
}  // namespace redquel::executor
