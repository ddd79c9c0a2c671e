#include "executor/storage/bucket_reads.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

[[noreturn]] void refuse_look() {
  throw sql::SqlError(sqlstate::kDataCorrupted, "the commits of a bucket of Redis cannot be read");
}

std::vector<CommitName> decode_names(const Reply& reply) {
  std::vector<CommitName> names;
  if (!reply.is_array()) refuse_look();
  for (const Reply& element : reply.children()) {
    std::optional<CommitName> name = element.is_text() ? parse_commit_name(element.text) : std::nullopt;
    if (!name) refuse_look();
    names.push_back(std::move(*name));
  }
  return names;
}

}  // namespace

BucketLook decode_bucket_look(const Reply& reply, std::uint64_t connection) {
  const std::span<const Reply> parts = reply.children();
  if (parts.size() != 4 || parts[0].kind != Reply::Kind::integer || parts[1].kind != Reply::Kind::integer) refuse_look();
  return {parts[0].integer, parts[1].integer, decode_names(parts[2]), decode_names(parts[3]), connection};
}

BucketReads::BucketReads(std::vector<int> buckets, std::set<sql::Oid> tables, const KnownNumbers& known)
    : buckets_(std::move(buckets)), tables_(std::move(tables)), todo_(buckets_.begin(), buckets_.end()) {
  for (const int bucket : buckets_) {
    const auto found = known.find(bucket);
    since_[bucket] = found != known.end() ? found->second : KnownNumber();
  }
}

std::int64_t BucketReads::since(int bucket) const { return since_.at(bucket).number; }

bool BucketReads::counts(const CommitName& name) const {
  return std::ranges::any_of(name.tables, [&](sql::Oid table) { return tables_.contains(table); });
}

void BucketReads::take(int bucket, BucketLook look) {
  KnownNumber& since = since_[bucket];
  const bool is_other = since.number > 0 && since.connection != look.connection;
  if (is_other || look.trimmed > since.number) {
    // The list has lost its beginning, or another master counts anew.
    since = {look.connection, look.number};
    is_anew_ = true;
  }
  since.connection = look.connection;
  Seen& seen = seen_[bucket];
  seen.round = round_;
  std::erase_if(look.records, [&](const CommitName& name) { return !counts(name); });
  std::erase_if(look.applied, [&](const CommitName& name) { return !counts(name); });
  seen.applied.clear();
  for (const CommitName& name : look.applied) seen.applied.insert(name.text);
  seen.look = std::move(look);
}

std::vector<BucketReads::Question> BucketReads::questions() {
  todo_.clear();
  if (std::exchange(is_anew_, false)) todo_.insert(buckets_.begin(), buckets_.end());
  std::vector<Question> questions;
  for (const auto& [bucket, seen] : seen_) {
    for (const CommitName& name : seen.look.records) {
      const bool is_applied = std::ranges::any_of(seen_, [&](const auto& other) { return other.second.applied.contains(name.text); });
      if (is_applied) todo_.insert(bucket);
      else questions.push_back({name, bucket});
    }
  }
  compare_lists();
  ++round_;
  return questions;
}

/// A bucket that is read later than the round in which a list first showed the commit has its record or its effect.
void BucketReads::compare_lists() {
  for (const auto& [bucket, seen] : seen_) {
    for (const CommitName& name : seen.look.applied) {
      const int first = shown_in_.try_emplace(name.text, round_).first->second;
      for (const int other : name.buckets) {
        const auto found = seen_.find(other);
        if (found == seen_.end() || other == bucket || found->second.round > first) continue;
        if (!found->second.applied.contains(name.text)) todo_.insert(other);
      }
    }
  }
}

void BucketReads::answer(const Question& question, bool is_decided) {
  if (is_decided) todo_.insert(question.seen_in);
}

void BucketReads::keep_numbers(KnownNumbers& known) const {
  for (const auto& [bucket, seen] : seen_) known[bucket] = {seen.look.connection, std::max(since(bucket), seen.look.number)};
}

}  // namespace redquel::executor
