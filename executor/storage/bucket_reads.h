#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "executor/redis/reply.h"
#include "executor/storage/commit_name.h"
#include "sql/types/type.h"

namespace redquel::executor {

/// The answer of look_at_commits.lua for one bucket, at the moment of the rows that were read with it.
struct BucketLook {
  std::int64_t number = 0;   // of the last applied commit
  std::int64_t trimmed = 0;  // the highest number that is forgotten
  std::vector<CommitName> records, applied;
  /// The connection and the generation of its Redis. Another one counts anew.
  std::uint64_t connection = 0;
};

/// Decodes the reply of look_at_commits.lua. Throws XX001 where a name or number cannot be read.
BucketLook decode_bucket_look(const Reply& reply, std::uint64_t connection);

/// The numbers of applied commits that a thread has seen, by bucket.
struct KnownNumber {
  std::uint64_t connection = 0;
  std::int64_t number = 0;
};
using KnownNumbers = std::map<int, KnownNumber>;

/// The rounds of one statement that reads several buckets: each commit is seen whole or not at all. Pure; the caller reads the buckets of
/// `todo()`, gives each look to `take`, and after a round asks for the commits of `questions()`. tests/model/reader.py is its model.
class BucketReads {
 public:
  /// Commits of other tables than `tables` do not count.
  BucketReads(std::vector<int> buckets, std::set<sql::Oid> tables, const KnownNumbers& known);

  /// The buckets of the next round. Empty: the statement is complete.
  const std::set<int>& todo() const { return todo_; }
  /// The number behind which the list of applied commits is wanted.
  std::int64_t since(int bucket) const;
  void take(int bucket, BucketLook look);

  /// A prepared commit that was seen in a bucket, and in no list of applied commits.
  struct Question {
    CommitName name;
    int seen_in;
  };
  /// Ends a round, after all buckets of `todo()` were taken. Returns commits whose state decides; `answer` must follow for each.
  std::vector<Question> questions();
  /// `is_decided`: all buckets of the commit have prepared it. Then the bucket that showed it is read again.
  void answer(const Question& question, bool is_decided);

  /// After the last round: the numbers for later statements.
  void keep_numbers(KnownNumbers& known) const;

 private:
  struct Seen {
    BucketLook look;
    std::set<std::string, std::less<>> applied;
    int round = 0;
  };
  bool counts(const CommitName& name) const;
  void compare_lists();

  std::vector<int> buckets_;
  std::set<sql::Oid> tables_;
  KnownNumbers since_;
  std::map<int, Seen> seen_;
  std::map<std::string, int, std::less<>> shown_in_;  // commit → the round in which a list first showed it
  std::set<int> todo_;
  bool is_anew_ = false;
  int round_ = 1;
};

}  // namespace redquel::executor
