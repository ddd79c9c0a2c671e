// Reads of several buckets beside commits over them, over a fake Redis.

#include "executor/storage/seen_commits.h"

#include <gtest/gtest.h>

#include "executor/scripts/scripts.h"
#include "tests/unit/executor/fake_redis_client.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

constexpr sql::Oid kTable = 16400;
const std::vector<std::string> kBefore{"HGET {a}redquel:commit_numbers number", "HGET {b}redquel:commit_numbers number"};
const std::vector<std::string> kBehind{"EXISTS {a}redquel:prepared {a}redquel:moving", "HGET {a}redquel:commit_numbers number",
                                       "EXISTS {b}redquel:prepared {b}redquel:moving", "HGET {b}redquel:commit_numbers number"};

class SeenCommitsTest : public ::testing::Test {
 protected:
  SeenCommits begin() {
    SeenCommits commits({"{a}", "{b}"}, {kTable});
    commits.begin(redis_, loop_.get_executor(), true);
    commits.note_read(true);
    loop_.restart();
    loop_.poll();  // the commands behind the reads
    return commits;
  }
  bool are_torn(SeenCommits& commits) { return run_coroutine(loop_, commits.are_torn(redis_)); }
  void expect_before(int a, int b) { redis_.expect(kBefore, {number(a), number(b)}); }
  void expect_behind(int a, int b) { redis_.expect(kBehind, {resp::integer(0), number(a), resp::integer(0), number(b)}); }
  static std::string number(int number) { return resp::text(std::to_string(number)); }
  void TearDown() override { EXPECT_TRUE(redis_.is_done()); }

  boost::asio::io_context loop_;
  FakeRedisClient redis_;
};

TEST_F(SeenCommitsTest, NumbersThatWereKnownBeforeTheReadsCostNoRoundTrip) {
  SeenCommits first = begin();
  expect_before(11, 21);
  expect_behind(11, 21);
  expect_behind(11, 21);  // nothing was known: the commands are sent again, behind all reads
  EXPECT_FALSE(are_torn(first));
  SeenCommits second = begin();
  expect_before(11, 21);
  expect_behind(11, 21);
  EXPECT_FALSE(are_torn(second));
}

TEST_F(SeenCommitsTest, ANumberThatAnotherSessionLearnedDuringTheReadsProvesNothing) {
  SeenCommits known = begin();
  expect_before(31, 41);
  expect_behind(31, 41);
  expect_behind(31, 41);
  EXPECT_FALSE(are_torn(known));
  // These reads meet bucket b before a commit is prepared there, and bucket a after the commit was applied.
  SeenCommits reads = begin();
  SeenCommits others = begin();
  expect_before(32, 41);
  expect_behind(32, 41);
  expect_behind(32, 41);
  EXPECT_FALSE(are_torn(others));
  expect_before(32, 41);
  expect_behind(32, 41);
  expect_behind(32, 42);  // bucket b has applied the commit meanwhile
  const std::string name = make_commit_name({0, 1}, std::vector<sql::Oid>{kTable}).text;
  const auto look = [](const char* tag, int after) {
    return std::string(kLookAtCommitsScript.command()) + " " + std::string(kLookAtCommitsScript.sha1()) + " 1 " + tag + "redquel:prepared " + std::to_string(after);
  };
  redis_.expect({look("{a}", 32), look("{b}", 41)}, {resp::array({resp::integer(32), resp::integer(0), resp::array({}), resp::array({})}),
                                                    resp::array({resp::integer(42), resp::integer(0), resp::array({}), resp::texts({name})})});
  EXPECT_TRUE(are_torn(reads));
}

}  // namespace
}  // namespace redquel::executor
