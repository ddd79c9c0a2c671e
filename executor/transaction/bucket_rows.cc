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
  bool may_be_program;       // units of few rows are prepared by write.lua
};

void add_unit(CommitAttempt& attempt, int bucket, BucketWrite& write) {
  const auto found = attempt.units.find(bucket);
  if (found == attempt.units.end()) return;
  WriteUnit& unit = *found->second.unit;
  std::optional<UnitPart> part;
  if (unit.spans_buckets()) part = UnitPart{bucket};
  WriteEncoding& encoding =
      attempt.encodings.emplace(std::piecewise_construct, std::forward_as_tuple(bucket), std::forward_as_tuple(unit, unit.size(), false, part)).first->second;
  attempt.is_violated = attempt.is_violated || encoding.local_violation() || encoding.foreign_keys().violation;
  if (attempt.is_violated) return;
  for (const sql::Oid table : unit.table_oids()) attempt.tables.insert(table);
  const auto program = attempt.may_be_program && write.arguments.empty() ? encoding.prepare_program() : std::nullopt;
  if (program) {
    write.arguments.assign(program->words().begin(), program->words().end());
    write.is_program = true;
    return;
  }
  encoding.divide();
  if (const ReadChecks& reads = found->second.reads; !reads.empty()) {
    write.arguments.insert(write.arguments.end(), {"reading", std::to_string(reads.tables().size())});
    for (const auto& [table, checks] : reads.tables()) write.arguments.push_back(std::to_string(table));
  }
  write.keys.assign(encoding.keys(0).begin(), encoding.keys(0).end());
  write.arguments.insert(write.arguments.end(), encoding.arguments(0).begin(), encoding.arguments(0).end());
}

CommitAttempt make_attempt(BucketUnits units, const std::map<int, std::vector<std::string>>& definitions, bool may_be_program) {
  CommitAttempt attempt{std::move(units), {}, {}, {}, false, may_be_program};
  std::set<int> buckets;
  for (const auto& [bucket, unit] : attempt.units) buckets.insert(bucket);
  for (const auto& [bucket, words] : definitions) buckets.insert(bucket);
  for (const int bucket : buckets) {
    BucketWrite write{bucket, {}, {}};
    if (const auto words = definitions.find(bucket); words != definitions.end()) write.arguments = definition_arguments(words->second);
    add_unit(attempt, bucket, write);
    attempt.writes.push_back(std::move(write));
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

/// Returns true if a step has stopped a program: prepare_commit.lua finds out all that is in the way.
bool is_stopped(const BucketCommitResult::Refusal& refusal) {
  refusal.replies->checked(0);
  const std::span<const Reply> reply = refusal.replies->array(0);
  return !reply.empty() && reply[0].text == "stop";
}

/// Returns the first refusal that is no violation; kApplied: there are violations alone.
BucketRowsOutcome outcome_of(const CommitAttempt& attempt, const std::vector<BucketCommitResult::Refusal>& refusals) {
  for (const BucketCommitResult::Refusal& refusal : refusals) {
    if (is_stopped(refusal)) continue;
    const std::span<const Reply> reply = refusal.replies->array(0);
    if (!reply.empty() && reply[0].text == "stale") return {WriteStatus::kStale};
    const auto encoding = attempt.encodings.find(refusal.bucket);
    if (encoding == attempt.encodings.end()) continue;
    WriteAnswer answer = encoding->second.decode(0, reply);
    if (answer.status != WriteStatus::kApplied) return {answer.status, std::move(answer.blocker)};
  }
  return {};
}

}  // namespace

asio::awaitable<BucketRowsOutcome> commit_bucket_rows(RedisClient& redis, std::function<BucketUnits(bool verify)> make,
                                                      std::map<int, std::vector<std::string>> definitions) {
  bool may_be_program = true;
  for (int number = 0; number < kAttempts; ++number) {
    CommitAttempt attempt = make_attempt(make(false), definitions, may_be_program);
    if (!attempt.is_violated) {
      std::vector<int> buckets;
      for (const BucketWrite& write : attempt.writes) buckets.push_back(write.bucket);
      const std::vector<sql::Oid> tables(attempt.tables.begin(), attempt.tables.end());
      const auto refusals = co_await commit_writes(redis, make_commit_name(std::move(buckets), tables), std::move(attempt.writes));
      if (!refusals) co_return BucketRowsOutcome{};
      BucketRowsOutcome outcome = outcome_of(attempt, *refusals);
      if (outcome.status != WriteStatus::kApplied) co_return outcome;
      if (std::ranges::all_of(*refusals, is_stopped) && !refusals->empty()) {
        may_be_program = false;
        continue;
      }
    }
    const BucketRowsOutcome found = co_await find_violation(redis, make(true));
    if (found.status != WriteStatus::kApplied) co_return found;
  }
  co_return BucketRowsOutcome{WriteStatus::kConflict};
}

}  // namespace redquel::executor
