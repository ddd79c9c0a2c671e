#include "executor/transaction/bucket_rows.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "executor/storage/bucket_writes.h"
#include "executor/storage/write_encoding.h"

namespace redquel::executor {

namespace {

/// Commits that refuse each other would otherwise go on for ever; then the statement or transaction is told.
constexpr int kAttempts = 10;

/// The contents of the units, as a commit over buckets prepares them.
struct CommitAttempt {
  BucketUnits units;
  std::map<int, WriteEncoding> encodings;
  std::vector<BucketWrite> writes;
  std::set<sql::Oid> tables;
  bool is_violated = false;  // by rows of the unit itself
};

void add_unit(CommitAttempt& attempt, int bucket, const std::vector<std::string>& definitions) {
  const auto found = attempt.units.find(bucket);
  if (found == attempt.units.end()) {
    attempt.writes.push_back({bucket, definitions_program(definitions)});
    return;
  }
  WriteUnit& unit = *found->second.unit;
  std::optional<UnitPart> part;
  if (unit.spans_buckets()) part = UnitPart{bucket};
  WriteEncoding& encoding =
      attempt.encodings.emplace(std::piecewise_construct, std::forward_as_tuple(bucket), std::forward_as_tuple(unit, unit.size(), false, part)).first->second;
  attempt.is_violated = attempt.is_violated || encoding.local_violation() || encoding.foreign_keys().violation;
  if (attempt.is_violated) return;
  for (const sql::Oid table : unit.table_oids()) attempt.tables.insert(table);
  const auto words = encoding.prepare(found->second.reads, definitions);
  attempt.writes.push_back({bucket, {words.begin(), words.end()}});
}

CommitAttempt make_attempt(BucketUnits units, const std::map<int, std::vector<std::string>>& definitions) {
  CommitAttempt attempt{std::move(units), {}, {}, {}};
  std::set<int> buckets;
  for (const auto& [bucket, unit] : attempt.units) buckets.insert(bucket);
  for (const auto& [bucket, words] : definitions) buckets.insert(bucket);
  for (const int bucket : buckets) {
    const auto words = definitions.find(bucket);
    add_unit(attempt, bucket, words != definitions.end() ? words->second : std::vector<std::string>());
  }
  return attempt;
}

/// Throws the violation that has made a bucket refuse. Returns another status than kApplied if the rows are not as expected.
asio::awaitable<BucketRowsOutcome> find_violation(RedisClient& redis, BucketUnits units) {
  for (auto& [bucket, of_bucket] : units) {
    const WriteStatus status = co_await of_bucket.unit->execute(redis);
    if (status != WriteStatus::kApplied) co_return BucketRowsOutcome{status, of_bucket.unit->blocker()};
  }
  co_return BucketRowsOutcome{};
}

/// Returns the first refusal that is no violation; kApplied: there are violations alone.
BucketRowsOutcome outcome_of(const CommitAttempt& attempt, const std::vector<BucketCommitResult::Refusal>& refusals) {
  for (const BucketCommitResult::Refusal& refusal : refusals) {
    refusal.replies->checked(0);
    const auto encoding = attempt.encodings.find(refusal.bucket);
    if (encoding == attempt.encodings.end()) return {WriteStatus::kStale};  // definitions alone
    WriteAnswer answer = encoding->second.decode(0, refusal.replies->array(0));
    if (answer.status != WriteStatus::kApplied) return {answer.status, std::move(answer.blocker)};
  }
  return {};
}

}  // namespace

asio::awaitable<BucketRowsOutcome> commit_bucket_rows(RedisClient& redis, std::function<BucketUnits(bool verify)> make,
                                                      std::map<int, std::vector<std::string>> definitions) {
  for (int number = 0; number < kAttempts; ++number) {
    CommitAttempt attempt = make_attempt(make(false), definitions);
    if (!attempt.is_violated) {
      std::vector<int> buckets;
      for (const BucketWrite& write : attempt.writes) buckets.push_back(write.bucket);
      const std::vector<sql::Oid> tables(attempt.tables.begin(), attempt.tables.end());
      const auto refusals = co_await commit_writes(redis, make_commit_name(std::move(buckets), tables), std::move(attempt.writes));
      if (!refusals) co_return BucketRowsOutcome{};
      BucketRowsOutcome outcome = outcome_of(attempt, *refusals);
      if (outcome.status != WriteStatus::kApplied) co_return outcome;
    }
    const BucketRowsOutcome found = co_await find_violation(redis, make(true));
    if (found.status != WriteStatus::kApplied) co_return found;
  }
  co_return BucketRowsOutcome{WriteStatus::kConflict};
}

}  // namespace redquel::executor
