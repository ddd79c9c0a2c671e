#include "executor/redis/replica_set.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace redquel::executor {

namespace {

using std::chrono::seconds;

/// One master at which replicas come and go.
class ReplicaSetTest : public ::testing::Test {
 protected:
  static ReplicaLine online(int port, std::uint64_t offset, std::uint64_t lag = 0) {
    return {.place = fmt::format("10.0.0.1:{}", port), .is_online = true, .offset = offset, .lag = lag};
  }
  bool look(std::vector<ReplicaLine> lines, seconds later = seconds(0)) {
    now_ += later;
    return set_.take({offset_, std::move(lines), synchronizations_}, now_, may_be_promoted_);
  }
  bool drop() {
    const bool has_overdue = set_.has_overdue(now_);
    set_.drop_overdue(now_);
    return has_overdue;
  }

  ReplicaSet set_;
  std::uint64_t offset_ = 1000;  // of the master
  std::optional<std::uint64_t> synchronizations_;
  bool may_be_promoted_ = false;
  ReplicaSet::Clock::time_point now_ = ReplicaSet::Clock::time_point() + seconds(1000);
};

TEST_F(ReplicaSetTest, LinesAreRead) {
  const std::string info =
      "# Replication\r\nrole:master\r\nconnected_slaves:2\r\nslave0:ip=10.0.0.1,port=1,state=online,offset=5,lag=1\r\n"
      "slave1:ip=::1,port=2,state=wait_bgsave,offset=0,lag=0,type=replica\r\nslave_read_only:1\r\nslaves_waiting_psync:0\r\nmaster_repl_offset:6\r\n# Stats\r\n"
      "sync_full:3\r\nsync_partial_ok:4\r\nsync_partial_err:5\r\n";
  const auto [offset, lines, synchronizations] = read_replication(info);
  EXPECT_EQ(synchronizations, 7U);
  EXPECT_EQ(offset, 6U);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].place, "10.0.0.1:1");
  EXPECT_TRUE(lines[0].is_online);
  EXPECT_EQ(lines[0].offset, 5U);
  EXPECT_EQ(lines[0].lag, 1U);
  EXPECT_EQ(lines[0].objection(), "");
  EXPECT_EQ(lines[1].place, "::1:2");
  EXPECT_FALSE(lines[1].is_online);
  EXPECT_NE(lines[1].objection(), "");
}

TEST_F(ReplicaSetTest, ToolsThatReadTheStreamDoNotCount) {
  look({{.place = "127.0.0.1:0", .is_online = true, .offset = 0, .lag = 30}, {.place = "redquel-stream.invalid:6379", .is_online = true, .offset = 7},
        {.place = "10.0.0.1:9", .is_online = true, .offset = 0}});
  EXPECT_EQ(set_.size(), 0U);
  EXPECT_EQ(set_.needed(), 0U);
  EXPECT_TRUE(set_.have_confirmed(0));
  EXPECT_EQ(set_.description(),
            "commits wait for no replica; 10.0.0.1:9 does not count: it acknowledges nothing; 127.0.0.1:0 does not count: it has no port, so that it "
            "cannot become the master; redquel-stream.invalid:6379 does not count: its name says that it is no replica");
}

TEST_F(ReplicaSetTest, BehindSentinelsAReplicaCountsBeforeItsFirstAcknowledgement) {
  may_be_promoted_ = true;
  look({online(1, 0)});
  EXPECT_EQ(set_.needed(), 1U);
  EXPECT_FALSE(set_.have_confirmed(0));
  look({}, seconds(1));  // it is promoted
  EXPECT_EQ(set_.needed(), 1U);
  EXPECT_FALSE(set_.have_confirmed(0));
}

TEST_F(ReplicaSetTest, BehindSentinelsAToolThatAcknowledgesNothingIsDroppedOnce) {
  may_be_promoted_ = true;
  look({online(1, 0)});
  look({online(1, 0)}, ReplicaSet::kAbsence);
  EXPECT_TRUE(drop());
  look({online(1, 0)}, seconds(1));
  EXPECT_EQ(set_.size(), 0U);
  EXPECT_TRUE(set_.have_confirmed(0));
  look({online(1, 900)}, seconds(1));
  EXPECT_EQ(set_.size(), 1U);
}

TEST_F(ReplicaSetTest, BehindSentinelsAReplicaThatCameAndWentBetweenTwoLooksCounts) {
  may_be_promoted_ = true;
  synchronizations_ = 3;
  look({online(1, 100)});
  EXPECT_TRUE(set_.have_confirmed(1));
  synchronizations_ = 4;
  EXPECT_TRUE(look({online(1, 200)}, seconds(1)));
  EXPECT_FALSE(set_.have_confirmed(1));
  look({online(1, 200)}, seconds(1));
  EXPECT_FALSE(set_.have_confirmed(1)) << "until the sentinels are asked";
  EXPECT_TRUE(drop());
  EXPECT_TRUE(set_.have_confirmed(1));
  synchronizations_ = 5;
  look({online(1, 300), online(2, 300)}, seconds(1));
  EXPECT_TRUE(set_.have_confirmed(2)) << "it is there, and counts by itself";
}

TEST_F(ReplicaSetTest, BehindSentinelsAReplicaThatWentWhileItWasSynchronizedCounts) {
  may_be_promoted_ = true;
  look({online(1, 100), {.place = "10.0.0.1:2", .is_online = false}});
  EXPECT_TRUE(set_.have_confirmed(1));
  look({online(1, 100)});
  EXPECT_FALSE(set_.have_confirmed(1));
  set_.drop_overdue(now_, ReplicaSet::kUncertainAbsence);
  EXPECT_FALSE(set_.have_confirmed(1)) << "a sentinel was silent";
  EXPECT_TRUE(drop());
  EXPECT_TRUE(set_.have_confirmed(1));
}

TEST_F(ReplicaSetTest, EachReplicaMustConfirm) {
  look({online(1, 100), online(2, 100)});
  EXPECT_EQ(set_.needed(), 2U);
  look({online(1, 150), online(2, 120)});
  EXPECT_FALSE(set_.have_confirmed(1));
  look({online(1, 150), online(2, 150)});
  EXPECT_TRUE(set_.have_confirmed(2));
}

TEST_F(ReplicaSetTest, AnotherClientDoesNotConfirmForAReplica) {
  const ReplicaLine tap{.place = "redquel-stream.invalid:1", .is_online = true, .offset = 200};
  look({online(1, 100), tap});
  EXPECT_EQ(set_.needed(), 1U);
  EXPECT_FALSE(set_.have_confirmed(1));  // it was the other one
  EXPECT_EQ(set_.needed(), 2U);
  look({online(1, 200), tap});
  EXPECT_TRUE(set_.have_confirmed(2));
  EXPECT_EQ(set_.needed(), 1U);
}

TEST_F(ReplicaSetTest, APromotedReplicaStillCounts) {
  look({online(1, 100), online(2, 100)});
  EXPECT_TRUE(look({online(2, 200)}, seconds(1)));
  EXPECT_EQ(set_.needed(), 2U);
  EXPECT_FALSE(set_.have_confirmed(1));
  EXPECT_FALSE(drop());
}

TEST_F(ReplicaSetTest, AReplicaThatStaysAwayIsDropped) {
  look({online(1, 100), online(2, 100)});
  look({online(2, 200)}, seconds(5));
  EXPECT_FALSE(drop());
  look({online(2, 300)}, seconds(6));
  EXPECT_TRUE(drop());
  EXPECT_TRUE(set_.have_confirmed(1));
  EXPECT_EQ(set_.size(), 1U);
}

TEST_F(ReplicaSetTest, AReplicaThatComesBackMustConfirmAgain) {
  look({online(1, 100)});
  look({{.place = "10.0.0.1:1", .is_online = false}}, seconds(5));
  look({online(1, 0)}, seconds(4));  // connected, without an acknowledgement yet
  EXPECT_FALSE(set_.have_confirmed(0));
  look({online(1, 300)}, seconds(4));
  EXPECT_TRUE(set_.have_confirmed(1));
  EXPECT_FALSE(drop());
}

TEST_F(ReplicaSetTest, AnOffsetThatDoesNotMoveDoesNotCount) {
  look({online(1, 100)});
  EXPECT_EQ(set_.size(), 1U);
  look({online(1, 100)}, seconds(11));
  EXPECT_EQ(set_.size(), 0U) << "also the only one";
  set_ = {};
  look({online(1, 100)});
  look({online(1, 100), online(2, 500)}, seconds(5));
  EXPECT_EQ(set_.size(), 2U);
  look({online(1, 100), online(2, 900)}, seconds(6));
  EXPECT_EQ(set_.size(), 1U);
  EXPECT_TRUE(set_.have_confirmed(1));
  look({online(1, 900), online(2, 900)}, seconds(1));
  EXPECT_EQ(set_.size(), 2U);
}

TEST_F(ReplicaSetTest, AReplicaOfAnIdleMasterCounts) {
  look({online(1, offset_)});
  look({online(1, offset_)}, seconds(60));
  EXPECT_EQ(set_.size(), 1U);
}

TEST_F(ReplicaSetTest, AReplicaThatStandsStillCounts) {
  look({online(1, 100), online(2, 100)});
  look({online(1, 100, 20), online(2, 900)}, seconds(20));
  EXPECT_FALSE(set_.have_confirmed(1));
  EXPECT_FALSE(drop());
}

TEST_F(ReplicaSetTest, AReplicaIsMissedLongerWhereASentinelIsSilent) {
  look({online(1, 1000), online(2, 1000)});
  look({online(1, 1000)}, ReplicaSet::kAbsence);
  set_.drop_overdue(now_, ReplicaSet::kUncertainAbsence);
  EXPECT_EQ(set_.size(), 2U);
  look({online(1, 1000)}, ReplicaSet::kUncertainAbsence);
  set_.drop_overdue(now_, ReplicaSet::kUncertainAbsence);
  EXPECT_EQ(set_.size(), 1U);
}

}  // namespace

}  // namespace redquel::executor
