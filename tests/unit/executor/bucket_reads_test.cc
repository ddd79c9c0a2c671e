#include "executor/storage/bucket_reads.h"

#include <gtest/gtest.h>

#include "executor/redis/resp_codec.h"
#include "sql/error.h"
#include "tests/unit/executor/resp_text.h"

namespace redquel::executor {
namespace {

const std::vector<sql::Oid> kTable{16400}, kOtherTable{16500};
const std::set<sql::Oid> kRead{16400};

BucketLook look(std::int64_t number, std::vector<CommitName> records, std::vector<CommitName> applied) {
  return {number, 0, std::move(records), std::move(applied), 1};
}

TEST(BucketReads, OneRoundIsEnoughWithoutCommits) {
  BucketReads reads({0, 1}, kRead, {});
  EXPECT_EQ(reads.todo(), (std::set<int>{0, 1}));
  reads.take(0, look(0, {}, {}));
  reads.take(1, look(0, {}, {}));
  EXPECT_TRUE(reads.questions().empty());
  EXPECT_TRUE(reads.todo().empty());
}

TEST(BucketReads, AsksForAPreparedCommitAndReadsAgainIfItIsDecided) {
  const CommitName name = make_commit_name({0, 5}, kTable);
  BucketReads reads({0, 1}, kRead, {});
  reads.take(0, look(0, {name}, {}));
  reads.take(1, look(0, {}, {}));
  const std::vector<BucketReads::Question> questions = reads.questions();
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_EQ(questions[0].name, name);
  EXPECT_EQ(questions[0].seen_in, 0);
  reads.answer(questions[0], true);
  EXPECT_EQ(reads.todo(), std::set<int>{0});
  reads.take(0, look(1, {}, {name}));
  EXPECT_TRUE(reads.questions().empty());
  EXPECT_TRUE(reads.todo().empty());
}

TEST(BucketReads, AnUndecidedCommitLeavesTheOldState) {
  const CommitName name = make_commit_name({0, 5}, kTable);
  BucketReads reads({0}, kRead, {});
  reads.take(0, look(0, {name}, {}));
  reads.answer(reads.questions().at(0), false);
  EXPECT_TRUE(reads.todo().empty());
}

TEST(BucketReads, ReadsABucketAgainThatLacksACommitOfAnotherList) {
  const CommitName name = make_commit_name({0, 1}, kTable);
  BucketReads reads({0, 1}, kRead, {});
  reads.take(0, look(0, {}, {}));
  reads.take(1, look(1, {}, {name}));
  EXPECT_TRUE(reads.questions().empty());
  EXPECT_EQ(reads.todo(), std::set<int>{0});
  // The second round has its effect, though the list may have forgotten it.
  reads.take(0, look(1, {}, {}));
  EXPECT_TRUE(reads.questions().empty());
  EXPECT_TRUE(reads.todo().empty());
}

TEST(BucketReads, ARecordWhoseCommitIsAppliedElsewhereNeedsNoQuestion) {
  const CommitName name = make_commit_name({0, 1}, kTable);
  BucketReads reads({0, 1}, kRead, {});
  reads.take(0, look(0, {name}, {}));
  reads.take(1, look(1, {}, {name}));
  EXPECT_TRUE(reads.questions().empty());
  EXPECT_EQ(reads.todo(), std::set<int>{0});
}

TEST(BucketReads, CommitsOfOtherTablesDoNotCount) {
  const CommitName name = make_commit_name({0, 1}, kOtherTable);
  BucketReads reads({0, 1}, kRead, {});
  reads.take(0, look(0, {name}, {}));
  reads.take(1, look(1, {}, {name}));
  EXPECT_TRUE(reads.questions().empty());
  EXPECT_TRUE(reads.todo().empty());
}

TEST(BucketReads, ReadsEverythingAgainWhereAListHasLostItsBeginning) {
  BucketReads reads({0, 1}, kRead, {{0, {1, 3}}, {1, {1, 3}}});
  EXPECT_EQ(reads.since(0), 3);
  BucketLook trimmed = look(9, {}, {});
  trimmed.trimmed = 5;
  reads.take(0, trimmed);
  reads.take(1, look(3, {}, {}));
  EXPECT_TRUE(reads.questions().empty());
  EXPECT_EQ(reads.todo(), (std::set<int>{0, 1}));
  EXPECT_EQ(reads.since(0), 9);
}

TEST(BucketReads, ARememberedNumberEndsWithItsConnection) {
  KnownNumbers known{{0, {1, 7}}, {1, {1, 2}}};
  BucketReads reads({0, 1}, kRead, known);
  BucketLook promoted = look(1, {}, {});
  promoted.connection = 2;
  reads.take(0, promoted);
  reads.take(1, look(2, {}, {}));
  EXPECT_TRUE(reads.questions().empty());
  EXPECT_EQ(reads.todo(), (std::set<int>{0, 1}));
  EXPECT_EQ(reads.since(0), 1);
  reads.take(0, promoted);
  reads.take(1, look(2, {}, {}));
  EXPECT_TRUE(reads.questions().empty());
  EXPECT_TRUE(reads.todo().empty());
  reads.keep_numbers(known);
  EXPECT_EQ(known[0].connection, 2u);
  EXPECT_EQ(known[0].number, 1);
}

std::string sqlstate_of_look(const std::string& bytes) {
  Replies replies;
  ReplyDecoder decoder(1 << 20);
  decoder.feed(bytes);
  decoder.next(replies);
  try {
    decode_bucket_look(replies[0], 1);
  } catch (const sql::SqlError& error) {
    return std::string(error.sqlstate());
  }
  return "00000";
}

TEST(BucketReads, DecodesALookAndRefusesOtherReplies) {
  const std::string name = resp::texts({make_commit_name({0, 1}, kTable).text}), none = resp::array({});
  EXPECT_EQ(sqlstate_of_look(resp::array({resp::integer(1), resp::integer(0), name, none})), "00000");
  EXPECT_EQ(sqlstate_of_look(resp::array({resp::integer(1), resp::integer(0), resp::texts({"x"}), none})), "XX001");
  EXPECT_EQ(sqlstate_of_look(resp::array({resp::integer(1), resp::text("0"), name, none})), "XX001");
  EXPECT_EQ(sqlstate_of_look(resp::array({resp::integer(1)})), "XX001");
  EXPECT_EQ(sqlstate_of_look(resp::text("x")), "XX001");
}

}  // namespace
}  // namespace redquel::executor
