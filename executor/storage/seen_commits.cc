#include "executor/storage/seen_commits.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <charconv>
#include <chrono>
#include <map>
#include <utility>

#include "executor/scripts/scripts.h"
#include "executor/storage/bucket_look.h"
#include "executor/storage/bucket_writes.h"
#include "executor/storage/placed_table.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

SeenCommits::SeenCommits(std::vector<std::string> tags, std::set<sql::Oid> tables) : tags_(std::move(tags)), tables_(std::move(tables)) {}

SeenCommits::SeenCommits(const std::vector<TablePtr>& tables) {
  if (!sql::uses_cluster()) return;
  for (const TablePtr& table : tables) {
    if (table->is_mapped()) continue;
    const std::string tag(table->tag());
    if (std::ranges::find(tags_, tag) == tags_.end()) tags_.push_back(tag);
    tables_.insert(table->oid);
  }
}

namespace {

/// The number of the last commit of a bucket, as this thread has seen it. It counts for a moment, and for the nodes that gave it: a promoted
/// master counts anew, and a commit may get a number that an earlier one had.
struct KnownNumber {
  std::int64_t number = 0;
  std::uint64_t generation = 0;
  std::chrono::steady_clock::time_point seen;

  bool is(std::int64_t other, std::uint64_t nodes) const {
    /// A master that is replaced, and replaces its successor, takes longer.
    constexpr std::chrono::seconds kKnownFor{1};
    return number == other && generation == nodes && std::chrono::steady_clock::now() - seen < kKnownFor;
  }
};

/// By the tags of buckets.
std::map<std::string, KnownNumber>& known_numbers_of_thread() {
  thread_local std::map<std::string, KnownNumber> numbers;
  return numbers;
}

void note_number(const std::string& tag, std::int64_t number, std::uint64_t generation) {
  known_numbers_of_thread()[tag] = {number, generation, std::chrono::steady_clock::now()};
}

}  // namespace

/// The reads of one run, and the commands around them.
struct SeenCommits::Round {
  Round(RedisClient& client_, asio::any_io_executor executor_, std::vector<std::string> tags_, bool looks_once_, CommandBatch more_)
      : client(client_), executor(std::move(executor_)), tags(std::move(tags_)), looks_once(looks_once_), more(std::move(more_)) {}

  void send_before() {
    // A number that another session learns from now on may be that of a commit which the first reads have missed.
    for (const std::string& tag : tags) {
      const auto found = known_numbers_of_thread().find(tag);
      known.push_back(found == known_numbers_of_thread().end() ? KnownNumber{} : found->second);
    }
    CommandBatch batch;
    for (const std::string& tag : tags) batch.add("HGET", own_key(tag, sql::kCommitNumbersKey), "number");
    batch.append_batch(more);
    before = client.start(std::move(batch), &before_counts);
  }

  /// Records come first: a commit that leaves them meanwhile has a new number.
  CommandBatch commands_behind() const {
    CommandBatch batch;
    for (const std::string& tag : tags) {
      batch.add("EXISTS", own_key(tag, sql::kPreparedKey), own_key(tag, sql::kMovingKey));
      batch.add("HGET", own_key(tag, sql::kCommitNumbersKey), "number");
    }
    return batch;
  }

  void send_behind() {
    reads_before_look = reads;
    behind = client.start(commands_behind(), &behind_counts);
  }

  /// Returns true if this thread knew the numbers of before the reads when the run began.
  bool are_known() const {
    for (std::size_t index = 0; index < tags.size(); ++index) {
      if (!known[index].is(numbers[index], generation)) return false;
    }
    return true;
  }

  /// Returns true if the replies to commands_behind() show no record, and the numbers of before the reads.
  bool are_unchanged(const Replies& replies) const {
    const auto is_error = [](const Reply& reply) { return reply.is_error(); };
    if (replies.generation() != generation || std::ranges::any_of(replies.all(), is_error)) return false;
    for (std::size_t index = 0; index < tags.size(); ++index) {
      if (replies.integer(2 * index) != 0 || number_of(replies, 2 * index + 1) != numbers[index]) return false;
    }
    return true;
  }

  asio::awaitable<void> take_before() {
    if (!before) co_return;
    const std::unique_ptr<RedisRequest> request = std::move(before);
    replies_before = co_await request->replies();
    replies_before->or_throw();
    generation = replies_before->generation();
    for (std::size_t index = 0; index < tags.size(); ++index) numbers.push_back(number_of(*replies_before, index));
  }

  static std::int64_t number_of(const Replies& replies, std::size_t index) {
    const std::string_view text = replies.text(index).value_or("0");
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }

  RedisClient& client;
  asio::any_io_executor executor;
  std::vector<std::string> tags;
  bool looks_once;
  CommandBatch more;
  std::size_t reads = 0, reads_before_look = 0;
  bool has_begun = false, goes_elsewhere = false, was_sent_again = false;
  ExecutionCounters before_counts, behind_counts;
  std::unique_ptr<RedisRequest> before, behind;
  RepliesPtr replies_before;
  std::vector<KnownNumber> known;     // when the run began, by tag
  std::vector<std::int64_t> numbers;  // of the last commits before the reads, by tag
  std::uint64_t generation = 0;       // of the nodes that gave the numbers
};

void SeenCommits::begin(RedisClient& client, asio::any_io_executor executor, bool looks_once, CommandBatch more) {
  round_ = std::make_shared<Round>(client, std::move(executor), tags_, looks_once, std::move(more));
}

ExecutionCounters SeenCommits::counters() const {
  ExecutionCounters sum;
  if (round_) (sum += round_->before_counts) += round_->behind_counts;
  sum.round_trips = 0;
  return sum;
}

const Reply& SeenCommits::reply_before(std::size_t index) const { return (*round_->replies_before)[tags_.size() + index]; }

void SeenCommits::note_read(bool by_client) {
  if (!round_) return;
  round_->goes_elsewhere = round_->goes_elsewhere || !by_client;
  // Behind the reads that are ready to be sent; and before the write of what is sent from here on, which a handler behind this one begins.
  if (round_->reads++ == 0 && round_->looks_once) asio::post(round_->executor, [weak = std::weak_ptr(round_)] { look_behind(weak.lock()); });
  if (!std::exchange(round_->has_begun, true)) round_->send_before();
}

void SeenCommits::look_behind(const std::shared_ptr<Round>& round) {
  if (!round || round->goes_elsewhere) return;
  try {
    round->send_behind();
  } catch (const sql::SqlError&) {  // the reads fail, too
  }
}

void SeenCommits::note_answer(std::uint64_t round_trips) {
  if (round_ && round_trips > 1) round_->was_sent_again = true;
}

asio::awaitable<void> SeenCommits::take_numbers() {
  if (!round_) co_return;
  const std::shared_ptr<Round> round = round_;
  if (!std::exchange(round->has_begun, true)) round->send_before();
  co_await round->take_before();
}

asio::awaitable<bool> SeenCommits::is_quiet() {
  const std::shared_ptr<Round> round = round_;
  const auto note = [&] {
    for (std::size_t index = 0; index < tags_.size(); ++index) note_number(tags_[index], round->numbers[index], round->generation);
  };
  if (round->behind && round->reads == round->reads_before_look && !round->goes_elsewhere && !round->was_sent_again) {
    const RepliesPtr replies = co_await round->behind->replies();
    if (!round->are_unchanged(*replies)) co_return false;
    if (round->behind_counts.round_trips <= 1 && round->are_known()) {
      note();
      co_return true;
    }
  }
  // Once all reads are answered, the numbers of before them are enough.
  const RepliesPtr replies = co_await round->client.execute(round->commands_behind(), &round->behind_counts);
  const bool is_quiet = round->are_unchanged(*replies);
  if (is_quiet) note();
  co_return is_quiet;
}

bool SeenCommits::counts(const CommitName& name) const {
  return std::ranges::any_of(name.tables, [this](sql::Oid table) { return tables_.contains(table); });
}

asio::awaitable<void> apply_seen_commits(RedisClient& client, const sql::CatalogSnapshot& catalog, const ReadChecks& first, const ReadChecks& second) {
  std::vector<SeenCommits::TablePtr> tables;
  for (const ReadChecks* reads : {&first, &second}) {
    for (const auto& [oid, checks] : reads->tables()) {
      if (SeenCommits::TablePtr table = catalog.find_table(oid)) tables.push_back(std::move(table));
    }
  }
  SeenCommits seen(tables);
  if (seen.are_possible()) co_await seen.are_torn(client);
}

asio::awaitable<bool> SeenCommits::are_torn(RedisClient& client) {
  std::vector<std::int64_t> numbers;
  std::uint64_t generation = 0;
  if (round_) {
    if (!round_->has_begun) co_return false;  // nothing was read
    co_await round_->take_before();
    // Each node gets the commands before the reads. If a node did not answer them at once, reads may have been answered before.
    if (round_->before_counts.round_trips > 1 && round_->reads > 0) co_return true;
    if (co_await is_quiet()) co_return false;
    numbers = round_->numbers;
    generation = round_->generation;
  }
  CommandBatch batch;
  for (std::size_t index = 0; index < tags_.size(); ++index) {
    const std::vector<std::string> keys{own_key(tags_[index], sql::kPreparedKey)}, arguments{numbers.empty() ? "+inf" : std::to_string(numbers[index])};
    kLookAtCommitsScript.append_call(batch, keys, arguments);
  }
  std::vector<const Script*> scripts{&kLookAtCommitsScript};
  const RepliesPtr replies = co_await run_scripts(client, std::move(scripts), std::move(batch));
  replies->or_throw();
  // A promoted master counts anew: a later commit may have the number of an earlier one.
  bool is_torn = !numbers.empty() && replies->generation() != generation;
  std::map<std::string, std::pair<CommitName, int>> records;  // by text: the name, and a bucket that has the record
  for (std::size_t index = 0; index < tags_.size(); ++index) {
    const BucketLook look = decode_bucket_look((*replies)[index]);
    if (!numbers.empty()) is_torn = is_torn || look.trimmed > numbers[index] || look.number < numbers[index];
    for (const CommitName& name : look.applied) is_torn = is_torn || counts(name);
    for (const CommitName& name : look.records) {
      if (counts(name)) records.try_emplace(name.text, name, sql::bucket_of(tags_[index]));
    }
    note_number(tags_[index], look.number, replies->generation());
  }
  for (const auto& [text, seen] : records) {
    if (co_await finish_if_decided(client, seen.first, seen.second)) is_torn = true;
  }
  co_return is_torn;
}

}  // namespace redquel::executor
