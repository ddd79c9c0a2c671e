#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "executor/redis/cluster_buckets.h"
#include "executor/redis/script.h"
#include "tests/unit/executor/cluster_fixture.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

using std::chrono::milliseconds;

const Script kAdd("add", "return 1", "sha", Script::Access::write);

class ClusterBucketsTest : public ::testing::Test {
 protected:
  std::vector<BucketAnswer> run(std::vector<BucketCall> calls) { return run_coroutine(loop_, buckets_.run(std::move(calls))); }
  void TearDown() override { EXPECT_TRUE(nodes_->is_done()); }
  /// Bucket 0 is at A, 1 at B, 2 at C.
  static std::string key_of(int bucket) { return "{" + std::string(1, static_cast<char>('a' + bucket)) + "}k"; }

  asio::io_context loop_;
  std::shared_ptr<FakeNodes> nodes_ = std::make_shared<FakeNodes>();
  ClusterBuckets buckets_{loop_.get_executor(), nodes_, key_of, milliseconds(200)};
};

TEST_F(ClusterBucketsTest, OneWaitStandsBehindTheScriptsOfANode) {
  nodes_->set_replicas(kA, 2);
  nodes_->expect(kA, {"EVALSHA sha 1 {a}k x", "EVALSHA sha 2 {a}k {a}r y", "WAIT 2 500"}, {resp::text("prepared"), resp::text("prepared"), resp::integer(2)});
  nodes_->expect(kB, {"EVALSHA sha 1 {b}k z"}, {resp::text("prepared")});  // a master without replicas
  const std::vector<BucketAnswer> answers = run({{0, &kAdd, {}, {"x"}, true}, {1, &kAdd, {}, {"z"}, true}, {0, &kAdd, {"{a}r"}, {"y"}, true}});
  ASSERT_EQ(answers.size(), 3U);
  for (const BucketAnswer& answer : answers) {
    ASSERT_TRUE(answer.replies);
    EXPECT_EQ(answer.replies->text(0), "prepared");
    EXPECT_EQ(answer.replies->size(), 1U);
    EXPECT_TRUE(answer.is_confirmed);
  }
}

TEST_F(ClusterBucketsTest, AWaitCountsOnlyIfItsScriptRan) {
  nodes_->set_replicas(kA, 1);
  nodes_->expect(kA, {"EVALSHA sha 1 {a}k", "WAIT 1 500"}, {resp::error("MOVED " + std::to_string(slot_of("a")) + " b:2"), resp::integer(1)});
  nodes_->expect(kB, {"EVALSHA sha 1 {a}k"}, {resp::text("prepared")});
  const std::vector<BucketAnswer> answers = run({{0, &kAdd, {}, {}, true}});
  EXPECT_EQ(answers[0].replies->text(0), "prepared");
  EXPECT_TRUE(answers[0].is_confirmed);
}

TEST_F(ClusterBucketsTest, AsksAgainForReplicasOnTheSameConnection) {
  nodes_->set_replicas(kA, 1);
  nodes_->expect(kA, {"EVALSHA sha 1 {a}k", "WAIT 1 500"}, {resp::text("prepared"), resp::integer(0)});
  nodes_->expect(kA, {"WAIT 1 500"}, {resp::integer(1)});
  EXPECT_TRUE(run({{0, &kAdd, {}, {}, true}})[0].is_confirmed);

  nodes_->expect(kA, {"EVALSHA sha 1 {a}k", "WAIT 1 500"}, {resp::text("prepared"), resp::integer(0)});
  nodes_->expect(kA, {"WAIT 1 500"}, {resp::integer(1)});
  nodes_->set_connection_of_last(9);
  const std::vector<BucketAnswer> answers = run({{0, &kAdd, {}, {}, true}});
  EXPECT_EQ(answers[0].replies->text(0), "prepared");
  EXPECT_FALSE(answers[0].is_confirmed);
}

TEST_F(ClusterBucketsTest, SendsAgainWhatHasNotRun) {
  for (const char* error : {"TRYAGAIN moving", "CLUSTERDOWN x", "LOADING x", "READONLY x", "NOREPLICAS x", "MISCONF x", "ASK 15495 b:2"}) {
    nodes_->expect(kA, {"EVALSHA sha 1 {a}k"}, {resp::error(error)});
    nodes_->expect(kA, {"EVALSHA sha 1 {a}k"}, {resp::text("applied")});
    EXPECT_EQ(run({{0, &kAdd, {}, {}, false}})[0].replies->text(0), "applied") << error;
  }
  nodes_->expect(kA, {"EVALSHA sha 1 {a}k"}, {resp::error("NOSCRIPT x")});
  nodes_->expect(kA, {"SCRIPT LOAD \"return 1\"", "EVALSHA sha 1 {a}k"}, {resp::text("sha"), resp::text("applied")});
  EXPECT_EQ(run({{0, &kAdd, {}, {}, false}})[0].replies->text(0), "applied");
}

TEST_F(ClusterBucketsTest, ALostCallHasNoAnswer) {
  nodes_->expect_lost(kA, {"EVALSHA sha 1 {a}k"}, true);
  nodes_->expect(kB, {"EVALSHA sha 1 {b}k"}, {resp::text("prepared")});
  const std::vector<BucketAnswer> answers = run({{0, &kAdd, {}, {}, true}, {1, &kAdd, {}, {}, true}});
  EXPECT_FALSE(answers[0].replies);
  EXPECT_FALSE(answers[0].is_confirmed);
  EXPECT_TRUE(answers[1].is_confirmed);
  nodes_->expect_lost(kA, {"EVALSHA sha 1 {a}k"}, false);
  nodes_->expect(kA, {"EVALSHA sha 1 {a}k"}, {resp::text("prepared")});
  EXPECT_EQ(run({{0, &kAdd, {}, {}, false}})[0].replies->text(0), "prepared");
}

}  // namespace
}  // namespace redquel::executor
