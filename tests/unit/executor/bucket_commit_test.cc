#include "executor/storage/bucket_commit.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "executor/redis/resp_codec.h"
#include "sql/error.h"
#include "tests/unit/executor/resp_text.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

/// Buckets that know in advance which calls come. A call is "<script> <bucket>", with " wait" behind it if it waits for replicas.
class ExpectingSender final : public BucketSender {
 public:
  /// An answer: a word, two words with a comma between, "lost", or a word with " unconfirmed" behind it. "refused": nothing of the round can be sent.
  void expect(std::vector<std::pair<std::string, std::string>> round) { rounds_.push_back(std::move(round)); }

  asio::awaitable<std::vector<BucketAnswer>> run(std::vector<BucketCall> calls) override {
    std::vector<BucketAnswer> answers;
    if (rounds_.empty()) {
      ADD_FAILURE() << "a round of " << calls[0].script->name() << " that was not expected";
      co_return std::vector<BucketAnswer>(calls.size());
    }
    const auto round = std::move(rounds_.front());
    rounds_.pop_front();
    EXPECT_EQ(calls.size(), round.size());
    for (std::size_t index = 0; index < calls.size(); ++index) {
      const BucketCall& call = calls[index];
      const std::string text = std::string(call.script->name()) + " " + std::to_string(call.bucket) + (call.waits ? " wait" : "");
      EXPECT_EQ(text, round[index].first);
      EXPECT_EQ(call.arguments[call.script->name() == "prepare_commit" ? 1 : 0], name_.text);
      most_names_ = std::max(most_names_, call.arguments.size());
      if (round[index].second == "refused") throw sql::SqlError("57P01", "closed");
      answers.push_back(answer(round[index].second));
    }
    time_ += step_;
    most_names_ = rounds_.empty() ? most_names_ : 0;
    co_return answers;
  }
  std::chrono::milliseconds now() const override { return time_; }

  BucketCommitResult commit() {
    std::vector<BucketWrite> writes;
    for (const int bucket : name_.buckets) writes.push_back({bucket, {"record"}});
    asio::io_context loop;
    return run_coroutine(loop, commit_in_buckets(*this, name_, std::move(writes)));
  }
  bool forget() {
    asio::io_context loop;
    return run_coroutine(loop, forget_commit(*this, name_));
  }
  /// Forgets the commit and another one over the same buckets. Returns the most names that a call of the last round had.
  std::size_t forget_two() {
    asio::io_context loop;
    const CommitName other = make_commit_name({5, 3}, std::vector<sql::Oid>{16400});
    run_coroutine(loop, forget_both(other));
    return most_names_;
  }
  bool is_decided() {
    asio::io_context loop;
    return run_coroutine(loop, is_commit_decided(*this, name_, 3));
  }
  bool is_done() const { return rounds_.empty(); }
  void set_step(std::chrono::milliseconds step) { step_ = step; }

 private:
  asio::awaitable<bool> forget_both(CommitName other) {
    std::vector<CommitName> names{name_, std::move(other)};
    co_await forget_commits(*this, std::move(names));
    co_return true;
  }

  static BucketAnswer answer(std::string word) {
    if (word == "lost") return {};
    const std::size_t blank = word.find(" unconfirmed");
    auto replies = std::make_shared<Replies>();
    ReplyDecoder decoder(1 << 20);
    const std::string words = word.substr(0, blank);
    const std::size_t comma = words.find(',');
    decoder.feed(comma == std::string::npos ? resp::texts({words}) : resp::texts({words.substr(0, comma), words.substr(comma + 1)}));
    decoder.next(*replies);
    return {replies, blank == std::string::npos};
  }

  CommitName name_ = make_commit_name({5, 3}, std::vector<sql::Oid>{16400});
  std::deque<std::vector<std::pair<std::string, std::string>>> rounds_;
  std::chrono::milliseconds time_{0}, step_{1};
  std::size_t most_names_ = 0;  // of a call of the last round
};

TEST(BucketCommit, PreparesAndAppliesInTwoRounds) {
  ExpectingSender sender;
  sender.expect({{"prepare_commit 3 wait", "prepared"}, {"prepare_commit 5 wait", "prepared"}});
  sender.expect({{"apply_commit 3", "applied"}, {"apply_commit 5", "applied"}});
  const BucketCommitResult result = sender.commit();
  EXPECT_EQ(result.state, BucketCommitState::kCommitted);
  EXPECT_TRUE(result.is_applied);
  EXPECT_TRUE(sender.is_done());
}

TEST(BucketCommit, IsCommittedWhereOneBucketAppliesItLater) {
  ExpectingSender sender;
  sender.expect({{"prepare_commit 3 wait", "prepared"}, {"prepare_commit 5 wait", "prepared"}});
  sender.expect({{"apply_commit 3", "applied"}, {"apply_commit 5", "lost"}});
  const BucketCommitResult result = sender.commit();
  EXPECT_EQ(result.state, BucketCommitState::kCommitted);
  EXPECT_FALSE(result.is_applied);
}

TEST(BucketCommit, AnErrorBehindTheDecisionIsNoRefusal) {
  ExpectingSender sender;
  sender.expect({{"prepare_commit 3 wait", "prepared"}, {"prepare_commit 5 wait", "prepared"}});
  sender.expect({{"apply_commit 3", "refused"}, {"apply_commit 5", ""}});
  EXPECT_EQ(sender.commit().state, BucketCommitState::kCommitted);
  sender.expect({{"prepare_commit 3 wait", "prepared"}, {"prepare_commit 5 wait", "lost"}});
  sender.expect({{"fence_prepared 3 wait", "refused"}, {"fence_prepared 5 wait", ""}});
  sender.expect({{"fence_prepared 3 wait", "prepared"}, {"fence_prepared 5 wait", "prepared"}});
  sender.expect({{"apply_commit 3", "refused"}, {"apply_commit 5", ""}});
  sender.expect({{"fence_prepared 3 wait", "applied"}, {"fence_prepared 5 wait", "applied"}});
  sender.expect({{"apply_commit 3", "applied"}, {"apply_commit 5", "applied"}});
  EXPECT_EQ(sender.commit().state, BucketCommitState::kCommitted);
  EXPECT_TRUE(sender.is_done());
}

TEST(BucketCommit, AbortsEverywhereWhereOneBucketRefuses) {
  ExpectingSender sender;
  sender.expect({{"prepare_commit 3 wait", "stop"}, {"prepare_commit 5 wait", "prepared"}});
  sender.expect({{"abort_commit 3", "aborted"}, {"abort_commit 5", "aborted"}});
  const BucketCommitResult result = sender.commit();
  EXPECT_EQ(result.state, BucketCommitState::kAborted);
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].bucket, 3);
  EXPECT_EQ(result.refusals[0].replies->array(0)[0].text, "stop");
}

TEST(BucketCommit, RecoversWhereAnAnswerIsLost) {
  ExpectingSender sender;
  sender.expect({{"prepare_commit 3 wait", "prepared"}, {"prepare_commit 5 wait", "lost"}});
  sender.expect({{"fence_prepared 3 wait", "prepared"}, {"fence_prepared 5 wait", "aborted"}});
  sender.expect({{"abort_commit 3", "aborted"}, {"abort_commit 5", "aborted"}});
  EXPECT_EQ(sender.commit().state, BucketCommitState::kAborted);
  EXPECT_TRUE(sender.is_done());
}

TEST(BucketCommit, DecidesAfterReplicasConfirm) {
  ExpectingSender sender;
  sender.expect({{"prepare_commit 3 wait", "prepared"}, {"prepare_commit 5 wait", "prepared unconfirmed"}});
  sender.expect({{"fence_prepared 3 wait", "prepared"}, {"fence_prepared 5 wait", "prepared unconfirmed"}});
  sender.expect({{"fence_prepared 3 wait", "prepared"}, {"fence_prepared 5 wait", "prepared"}});
  sender.expect({{"apply_commit 3", "applied"}, {"apply_commit 5", "applied"}});
  EXPECT_EQ(sender.commit().state, BucketCommitState::kCommitted);
  EXPECT_TRUE(sender.is_done());
}

TEST(BucketCommit, IsCommittedWhereOneBucketHasForgottenIt) {
  ExpectingSender sender;
  sender.expect({{"prepare_commit 3 wait", "lost"}, {"prepare_commit 5 wait", "prepared"}});
  sender.expect({{"fence_prepared 3 wait", "aborted"}, {"fence_prepared 5 wait", "prepared"}});
  sender.expect({{"abort_commit 3", "aborted"}, {"abort_commit 5", "applied"}});
  EXPECT_EQ(sender.commit().state, BucketCommitState::kCommitted);
}

TEST(BucketCommit, ASlowOwnerNeverAppliesAndDoesNotTrustAnAbort) {
  ExpectingSender sender;
  sender.set_step(std::chrono::hours(13));
  sender.expect({{"prepare_commit 3 wait", "prepared"}, {"prepare_commit 5 wait", "prepared"}});
  sender.expect({{"fence_prepared 3 wait", "aborted"}, {"fence_prepared 5 wait", "prepared"}});
  sender.expect({{"abort_commit 3", "aborted"}, {"abort_commit 5", "aborted"}});
  EXPECT_EQ(sender.commit().state, BucketCommitState::kUnknown);
  EXPECT_TRUE(sender.is_done());
}

TEST(BucketCommit, AReaderAsksTheOtherBucketsAndLooksAgain) {
  ExpectingSender sender;
  sender.expect({{"commit_state 5", "prepared"}});
  EXPECT_TRUE(sender.is_decided());
  sender.expect({{"commit_state 5", "never"}});
  sender.expect({{"commit_state 3", "prepared"}});
  EXPECT_FALSE(sender.is_decided());
  sender.expect({{"commit_state 5", "never"}});
  sender.expect({{"commit_state 3", "never"}});
  EXPECT_TRUE(sender.is_decided());
  sender.expect({{"commit_state 5", "lost"}});
  EXPECT_THROW(sender.is_decided(), sql::SqlError);
}

TEST(BucketCommit, SeveralAreForgottenByTwoCallsForEachBucket) {
  ExpectingSender sender;
  sender.expect({{"fence_prepared 3 wait", "applied,applied"}, {"fence_prepared 5 wait", "applied,applied"}});
  sender.expect({{"forget_commits 3", "forgotten"}, {"forget_commits 5", "forgotten"}});
  EXPECT_EQ(sender.forget_two(), 2u);
  sender.expect({{"fence_prepared 3 wait", "applied,applied"}, {"fence_prepared 5 wait", "applied,prepared"}});
  sender.expect({{"forget_commits 3", "forgotten"}, {"forget_commits 5", "forgotten"}});
  EXPECT_EQ(sender.forget_two(), 1u);
  sender.expect({{"fence_prepared 3 wait", "applied,applied unconfirmed"}, {"fence_prepared 5 wait", "applied,applied"}});
  sender.forget_two();
  EXPECT_TRUE(sender.is_done());
}

TEST(BucketCommit, IsForgottenWhenAllBucketsAndReplicasHaveIt) {
  ExpectingSender sender;
  sender.expect({{"fence_prepared 3 wait", "applied"}, {"fence_prepared 5 wait", "applied unconfirmed"}});
  EXPECT_FALSE(sender.forget());
  sender.expect({{"fence_prepared 3 wait", "applied"}, {"fence_prepared 5 wait", "applied"}});
  sender.expect({{"forget_commits 3", "forgotten"}, {"forget_commits 5", "forgotten"}});
  EXPECT_TRUE(sender.forget());
  EXPECT_TRUE(sender.is_done());
}

TEST(CommitName, RoundTrips) {
  const CommitName name = make_commit_name({17, 3}, std::vector<sql::Oid>{16400, 16402});
  EXPECT_EQ(name.text.substr(16), ".3,17.16400,16402");
  EXPECT_EQ(parse_commit_name(name.text), name);
  const CommitName without = make_commit_name({0}, {});
  EXPECT_EQ(parse_commit_name(without.text), without);
}

TEST(CommitName, RefusesOtherTexts) {
  const std::string id = "0123456789abcdef";
  for (const char* rest : {"", ".", "..", ".3", ".,.", ".3,.1", ".3,3.1", ".5,3.1", ".1024.1", ".-1.1", ".03.1", ".3.1,", ".3.x", ".3 .1", ".3.1.1",
                           ".99999999999999999999.1", ".3.99999999999999999999"}) {
    EXPECT_EQ(parse_commit_name(id + rest), std::nullopt) << rest;
  }
  EXPECT_EQ(parse_commit_name("0123456789abcdeX.3.1"), std::nullopt);
}

}  // namespace
}  // namespace redquel::executor
