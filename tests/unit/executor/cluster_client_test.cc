#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "executor/redis/atomic_reads.h"
#include "executor/redis/cluster_client.h"
#include "tests/unit/executor/cluster_fixture.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClusterClientTest : public ::testing::Test {
 protected:
  RepliesPtr run(CommandBatch batch) { return run_coroutine(loop_, client_.execute(std::move(batch), &counters_)); }
  RepliesPtr run_atomic(CommandBatch batch) { return run_coroutine(loop_, client_.execute_atomic(std::move(batch), &counters_)); }
  std::string error_of(CommandBatch batch) {
    try {
      run(std::move(batch));
    } catch (const sql::SqlError& error) {
      return std::string(error.sqlstate()) + " " + error.message();
    }
    return "";
  }
  void TearDown() override { EXPECT_TRUE(nodes_->is_done()); }

  asio::io_context loop_;
  std::shared_ptr<FakeNodes> nodes_ = std::make_shared<FakeNodes>();
  ClusterClient client_{loop_.get_executor(), nodes_, {.move_timeout = milliseconds(200)}};
  ExecutionCounters counters_;
};

TEST_F(ClusterClientTest, SplitsABatchByNodeAndMergesTheReplies) {
  nodes_->expect(kA, {"GET {a}1", "GET {a}2"}, {resp::text("a1"), resp::text("a2")});
  nodes_->expect(kB, {"GET {b}1"}, {resp::text("b1")});
  const RepliesPtr replies = run(batch_of({{"GET", "{a}1"}, {"GET", "{b}1"}, {"GET", "{a}2"}}));
  ASSERT_EQ(replies->size(), 3U);
  EXPECT_EQ(replies->text(0), "a1");
  EXPECT_EQ(replies->text(1), "b1");
  EXPECT_EQ(replies->text(2), "a2");
  EXPECT_EQ(replies->command(1), "GET");
  EXPECT_EQ(replies->catalog_version(), "v1");
  EXPECT_EQ(replies->generation(), 7U);
  EXPECT_EQ(counters_.round_trips, 1U);
  EXPECT_EQ(counters_.commands, 3U);
}

TEST_F(ClusterClientTest, CommandsOverSeveralSlotsAreTakenApart) {
  nodes_->expect(kA, {"MGET {a}1 {a}2", "EXISTS {a}1"}, {resp::texts({"1", "2"}), resp::integer(1)});
  nodes_->expect(kB, {"MGET {b}1", "EXISTS {b}1"}, {resp::array({resp::nil()}), resp::integer(0)});
  const RepliesPtr replies = run(batch_of({{"MGET", "{a}1", "{b}1", "{a}2"}, {"EXISTS", "{a}1", "{b}1"}}));
  ASSERT_EQ(replies->array(0).size(), 3U);
  EXPECT_EQ(replies->array(0)[0].text, "1");
  EXPECT_TRUE(replies->array(0)[1].is_nil());
  EXPECT_EQ(replies->array(0)[2].text, "2");
  EXPECT_EQ(replies->integer(1), 1);
}

TEST_F(ClusterClientTest, SetAlgebraOverSeveralSlots) {
  nodes_->expect(kA, {"SCARD {a}s"}, {resp::integer(3)});
  nodes_->expect(kB, {"SCARD {b}s"}, {resp::integer(2)});
  nodes_->expect(kB, {"SMEMBERS {b}s"}, {resp::texts({"x", "y"})});
  nodes_->expect(kA, {"SMISMEMBER {a}s x y"}, {resp::array({resp::integer(0), resp::integer(1)})});
  const RepliesPtr both = run(batch_of({{"SINTER", "{a}s", "{b}s"}}));
  ASSERT_EQ(both->array(0).size(), 1U);
  EXPECT_EQ(both->array(0)[0].text, "y");

  nodes_->expect(kA, {"SMEMBERS {a}s"}, {resp::texts({"x", "y"})});
  nodes_->expect(kB, {"SMEMBERS {b}s"}, {resp::texts({"y", "z"})});
  EXPECT_EQ(run(batch_of({{"SUNION", "{a}s", "{b}s"}}))->array(0).size(), 3U);

  nodes_->expect(kA, {"SMEMBERS {a}s"}, {resp::texts({"x", "y"})});
  nodes_->expect(kB, {"SMISMEMBER {b}s x y"}, {resp::array({resp::integer(0), resp::integer(1)})});
  const RepliesPtr rest = run(batch_of({{"SDIFF", "{a}s", "{b}s"}}));
  ASSERT_EQ(rest->array(0).size(), 1U);
  EXPECT_EQ(rest->array(0)[0].text, "x");

  nodes_->expect(kA, {"SCARD {a}s"}, {resp::error("WRONGTYPE x")});
  nodes_->expect(kB, {"SCARD {b}s"}, {resp::integer(2)});
  EXPECT_EQ((*run(batch_of({{"SINTERCARD", "2", "{a}s", "{b}s"}})))[0].text, "WRONGTYPE x");

  nodes_->expect(kA, {"SINTER {a}s {a}t"}, {resp::texts({"x"})});  // one slot: Redis does it
  EXPECT_EQ(run(batch_of({{"SINTER", "{a}s", "{a}t"}}))->array(0).size(), 1U);
}

TEST_F(ClusterClientTest, ScriptsWithKeysOfSeveralSlotsAreRefused) {
  EXPECT_THAT(error_of(batch_of({{"EVALSHA", "sha", "2", "{a}1", "{b}1"}})), HasSubstr("0A000 keys \"{a}1\" and \"{b}1\" lie in different slots"));
}

TEST_F(ClusterClientTest, FollowsMoved) {
  nodes_->expect(kA, {"SET {a}1 x", "EVALSHA sha 1 {a}2"},
                 {resp::error("MOVED " + std::to_string(slot_of("a")) + " b:2"), resp::error("MOVED " + std::to_string(slot_of("a")) + " b:2")});
  nodes_->expect(kB, {"SET {a}1 x", "EVALSHA sha 1 {a}2"}, {resp::ok(), resp::integer(5)});
  const RepliesPtr replies = run(batch_of({{"SET", "{a}1", "x"}, {"EVALSHA", "sha", "1", "{a}2"}}));
  EXPECT_EQ(replies->text(0), "OK");
  EXPECT_EQ(replies->integer(1), 5);
}

TEST_F(ClusterClientTest, FollowsAskForSingleCommandsAlone) {
  const std::string ask = resp::error("ASK " + std::to_string(slot_of("a")) + " b:2");
  nodes_->expect(kA, {"GET {a}1", "EVALSHA sha 1 {a}2"}, {ask, ask});
  nodes_->expect(kB, {"ASKING", "GET {a}1"}, {resp::ok(), resp::text("x")});
  nodes_->expect(kA, {"EVALSHA sha 1 {a}2"}, {resp::integer(5)});  // a script waits until its slot is in one place
  const RepliesPtr replies = run(batch_of({{"GET", "{a}1"}, {"EVALSHA", "sha", "1", "{a}2"}}));
  EXPECT_EQ(replies->text(0), "x");
  EXPECT_EQ(replies->integer(1), 5);
}

TEST_F(ClusterClientTest, SendsAgainWhatHasNotRun) {
  for (const char* error : {"TRYAGAIN moving", "CLUSTERDOWN The cluster is down", "LOADING x", "READONLY x"}) {
    nodes_->expect(kA, {"SET {a}1 x"}, {resp::error(error)});
    nodes_->expect(kA, {"SET {a}1 x"}, {resp::ok()});
    EXPECT_EQ(run(batch_of({{"SET", "{a}1", "x"}}))->text(0), "OK") << error;
  }
  nodes_->expect(kA, {"SET {a}1 x"}, {resp::error("OOM x")});
  EXPECT_TRUE((*run(batch_of({{"SET", "{a}1", "x"}})))[0].is_error());
}

TEST_F(ClusterClientTest, SendsReadsAgainWhoseConnectionWasLost) {
  nodes_->expect_lost(kA, {"GET {a}1"}, true);
  nodes_->expect(kA, {"GET {a}1"}, {resp::text("x")});
  EXPECT_EQ(run(batch_of({{"GET", "{a}1"}}))->text(0), "x");
  EXPECT_GE(nodes_->looks, 1);
  nodes_->expect_lost(kA, {"SET {a}1 x"}, true);
  EXPECT_THAT(error_of(batch_of({{"SET", "{a}1", "x"}})), HasSubstr("08006"));
  nodes_->expect_lost(kA, {"SET {a}1 x"}, false);  // not a byte was written
  nodes_->expect(kA, {"SET {a}1 x"}, {resp::ok()});
  EXPECT_EQ(run(batch_of({{"SET", "{a}1", "x"}}))->text(0), "OK");
}

TEST_F(ClusterClientTest, GivesUpAfterTheMoveTimeout) {
  for (int i = 0; i < 100; ++i) nodes_->expect(kA, {"GET {a}1"}, {resp::error("CLUSTERDOWN Hash slot not served")});
  EXPECT_THAT(error_of(batch_of({{"GET", "{a}1"}})), HasSubstr("57P03 slot 15495 of the cluster is not served for 200 ms: CLUSTERDOWN Hash slot not served"));
  nodes_ = std::make_shared<FakeNodes>();
}

TEST_F(ClusterClientTest, ASlotWithoutANodeIsWaitedFor) {
  EXPECT_THAT(error_of(batch_of({{"GET", "nobody"}})), HasSubstr("57P03"));
}

TEST_F(ClusterClientTest, LoadsScriptsAtEachNodeThatRunsThem) {
  nodes_->expect(kA, {"SCRIPT LOAD text", "EVALSHA sha 1 {a}1"}, {resp::text("sha"), resp::integer(1)});
  nodes_->expect(kB, {"SCRIPT LOAD text", "EVALSHA sha 1 {b}1"}, {resp::text("sha"), resp::integer(2)});
  const RepliesPtr replies = run(batch_of({{"SCRIPT", "LOAD", "text"}, {"EVALSHA", "sha", "1", "{a}1"}, {"EVALSHA", "sha", "1", "{b}1"}}));
  EXPECT_EQ(replies->text(0), "sha");
  EXPECT_EQ(replies->integer(1), 1);
  EXPECT_EQ(replies->integer(2), 2);
}

TEST_F(ClusterClientTest, LoadsScriptsAlsoWhereASlotHasMoved) {
  nodes_->expect(kA, {"SCRIPT LOAD text", "EVALSHA sha 1 {a}1"}, {resp::text("sha"), resp::error("MOVED " + std::to_string(slot_of("a")) + " b:2")});
  nodes_->expect(kB, {"SCRIPT LOAD text", "EVALSHA sha 1 {a}1"}, {resp::text("sha"), resp::integer(1)});
  EXPECT_EQ(run(batch_of({{"SCRIPT", "LOAD", "text"}, {"EVALSHA", "sha", "1", "{a}1"}}))->integer(1), 1);
}

TEST_F(ClusterClientTest, SnapshotsAreOfOneSlot) {
  nodes_->expect(kA, {"MULTI", "GET {a}1", "GET {a}2", "EXEC"},
                 {resp::ok(), resp::status("QUEUED"), resp::status("QUEUED"), resp::array({resp::text("1"), resp::text("2")})});
  nodes_->expect(kB, {"GET {b}1"}, {resp::text("3")});
  const RepliesPtr replies = run_atomic(batch_of({{"GET", "{a}1"}, {"GET", "{b}1"}, {"GET", "{a}2"}}));
  EXPECT_EQ(replies->text(0), "1");
  EXPECT_EQ(replies->text(1), "3");
  EXPECT_EQ(replies->text(2), "2");
}

TEST_F(ClusterClientTest, SnapshotsOfAFullRedisAreTakenByScripts) {
  const std::string oom = resp::error("OOM command not allowed when used memory > 'maxmemory'.");
  nodes_->expect(kA, {"MULTI", "GET {a}1", "GET {a}2", "EXEC"}, {resp::ok(), oom, oom, resp::error("EXECABORT x")});
  CommandBatch reads, script;
  reads.add("GET", "{a}1").add("GET", "{a}2");
  script.add("EVAL_RO", kAtomicReadsScript.text(), 1, "{a}1", reads.bytes());
  nodes_->expect(kA, script.texts(), {resp::texts({"1", "2"})});
  EXPECT_EQ(run_atomic(batch_of({{"GET", "{a}1"}, {"GET", "{a}2"}}))->text(1), "2");
}

TEST_F(ClusterClientTest, ASnapshotWhoseSlotMovesIsTakenAgain) {
  const std::string moved = resp::error("MOVED " + std::to_string(slot_of("a")) + " c:3");
  nodes_->expect(kA, {"MULTI", "GET {a}1", "GET {a}2", "EXEC"}, {resp::ok(), moved, moved, resp::error("EXECABORT x")});
  nodes_->expect(kC, {"MULTI", "GET {a}1", "GET {a}2", "EXEC"},
                 {resp::ok(), resp::status("QUEUED"), resp::status("QUEUED"), resp::array({resp::text("1"), resp::text("2")})});
  EXPECT_EQ(run_atomic(batch_of({{"GET", "{a}1"}, {"GET", "{a}2"}}))->text(1), "2");
  nodes_->expect(kC, {"MULTI", "GETT {a}1", "GET {a}2", "EXEC"}, {resp::ok(), resp::error("ERR unknown command"), resp::status("QUEUED"), resp::error("EXECABORT x")});
  EXPECT_THROW(run_atomic(batch_of({{"GETT", "{a}1"}, {"GET", "{a}2"}})), sql::SqlError);
}

TEST_F(ClusterClientTest, VersionsThatDifferEqualNone) {
  nodes_->expect(kA, {"GET {a}1"}, {resp::text("1")});
  nodes_->expect(kB, {"GET {b}1"}, {resp::text("1")});
  nodes_->set_version_of_last("v2");
  const std::optional<std::string> version = run(batch_of({{"GET", "{a}1"}, {"GET", "{b}1"}}))->catalog_version();
  EXPECT_TRUE(version && *version != "v1" && *version != "v2");
}

TEST_F(ClusterClientTest, ScanVisitsAllMasters) {
  nodes_->expect(kA, {"SCAN 0 COUNT 2"}, {resp::array({resp::text("5"), resp::texts({"{a}1"})})});
  nodes_->expect(kA, {"SCAN 5 COUNT 2"}, {resp::array({resp::text("0"), resp::texts({"{a}2"})})});
  nodes_->expect(kB, {"SCAN 0 COUNT 2"}, {resp::array({resp::text("0"), resp::texts({})})});
  nodes_->expect(kC, {"SCAN 0 COUNT 2"}, {resp::array({resp::text("0"), resp::texts({"{c}1"})})});
  std::vector<std::string> keys;
  std::string cursor = "0";
  int pages = 0;
  do {
    const RepliesPtr replies = run(batch_of({{"SCAN", cursor, "COUNT", "2"}}));
    cursor = replies->array(0)[0].text;
    for (const Reply& key : replies->array(0)[1].children()) keys.emplace_back(key.text);
    ++pages;
  } while (cursor != "0" && pages < 10);
  EXPECT_THAT(keys, ElementsAre("{a}1", "{a}2", "{c}1"));
  EXPECT_EQ(pages, 4);
}

TEST_F(ClusterClientTest, SizeIsThatOfAllMasters) {
  for (const TcpPlace& place : {kA, kB, kC}) nodes_->expect(place, {"DBSIZE"}, {resp::integer(place.port)});
  EXPECT_EQ(run(batch_of({{"DBSIZE"}}))->integer(0), 6);
}

}  // namespace
}  // namespace redquel::executor
