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

SeenCommits::SeenCommits(const std::vector<TablePtr>& tables) {
  if (!sql::uses_cluster()) return;
  for (const TablePtr& table : tables) {
    if (table->is_mapped()) continue;
    const std::string tag(table->tag());
    if (std::ranges::find(tags_, tag) == tags_.end()) tags_.push_back(tag);
    tables_.insert(table->oid);
  }
}

/// The reads of one run, and the commands around them.
struct SeenCommits::Round {
  Round(RedisClient& client_, asio::any_io_executor executor_, std::vector<std::string> tags_, bool looks_once_)
      : client(client_), executor(std::move(executor_)), tags(std::move(tags_)), looks_once(looks_once_) {}

  void send_before() {
    CommandBatch batch;
    for (const std::string& tag : tags) batch.add("HGET", own_key(tag, sql::kCommitNumbersKey), "number");
    before = client.start(std::move(batch), &before_counts);
  }

  /// Records come first: a commit that leaves them meanwhile has a new number.
  void send_behind() {
    CommandBatch batch;
    for (const std::string& tag : tags) {
      batch.add("EXISTS", own_key(tag, sql::kPreparedKey), own_key(tag, sql::kMovingKey));
      batch.add("HGET", own_key(tag, sql::kCommitNumbersKey), "number");
    }
    reads_before_look = reads;
    behind = client.start(std::move(batch), &behind_counts);
  }

  asio::awaitable<void> take_before() {
    if (!before) co_return;
    const std::unique_ptr<RedisRequest> request = std::move(before);
    const RepliesPtr replies = co_await request->replies();
    replies->or_throw();
    generation = replies->generation();
    for (std::size_t index = 0; index < tags.size(); ++index) numbers.push_back(number_of(*replies, index));
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
  std::size_t reads = 0, reads_before_look = 0;
  bool has_begun = false, goes_elsewhere = false, was_sent_again = false;
  ExecutionCounters before_counts, behind_counts;
  std::unique_ptr<RedisRequest> before, behind;
  std::vector<std::int64_t> numbers;  // of the last commits before the reads, by tag
  std::uint64_t generation = 0;       // of the nodes that gave the numbers
};

namespace {

/// The numbers of the last commits of buckets, as this thread has seen them last. A number counts for a moment, and for the nodes that gave it:
/// a promoted master counts anew, and a commit may get a number that an earlier one had.
class KnownNumbers {
 public:
  static KnownNumbers& of_this_thread() {
    thread_local KnownNumbers numbers;
    return numbers;
  }

  bool has(const std::string& tag, std::int64_t number, std::uint64_t generation) const {
    const auto found = by_tag_.find(tag);
    if (found == by_tag_.end()) return false;
    const Known& known = found->second;
    return known.number == number && known.generation == generation && std::chrono::steady_clock::now() - known.seen < kKnownFor;
  }
  void note(const std::string& tag, std::int64_t number, std::uint64_t generation) { by_tag_[tag] = {number, generation, std::chrono::steady_clock::now()}; }

 private:
  /// A master that is replaced, and replaces its successor, takes longer.
  static constexpr std::chrono::seconds kKnownFor{1};
  struct Known {
    std::int64_t number;
    std::uint64_t generation;
    std::chrono::steady_clock::time_point seen;
  };
  std::map<std::string, Known> by_tag_;
};

}  // namespace

void SeenCommits::begin(RedisClient& client, asio::any_io_executor executor, bool looks_once) {
  round_ = std::make_shared<Round>(client, std::move(executor), tags_, looks_once);
}

void SeenCommits::note_read(bool by_client) {
  if (!round_) return;
  round_->goes_elsewhere = round_->goes_elsewhere || !by_client;
  if (!std::exchange(round_->has_begun, true)) round_->send_before();
  if (round_->reads++ > 0 || !round_->looks_once) return;
  // Behind the reads that are ready to be sent, and before the write of what is on its way since now.
  asio::post(round_->executor, [weak = std::weak_ptr(round_)] {
    const std::shared_ptr<Round> round = weak.lock();
    if (!round || round->goes_elsewhere) return;
    try {
      round->send_behind();
    } catch (const sql::SqlError&) {  // the reads fail, too
    }
  });
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
  const bool is_behind = round->behind && round->reads == round->reads_before_look && !round->goes_elsewhere && !round->was_sent_again;
  if (!is_behind) co_return false;
  const RepliesPtr replies = co_await round->behind->replies();
  const auto is_error = [](const Reply& reply) { return reply.is_error(); };
  if (round->behind_counts.round_trips > 1 || replies->generation() != round->generation || std::ranges::any_of(replies->all(), is_error)) co_return false;
  KnownNumbers& known = KnownNumbers::of_this_thread();
  bool is_quiet = true;
  for (std::size_t index = 0; index < tags_.size(); ++index) {
    const std::int64_t number = Round::number_of(*replies, 2 * index + 1);
    is_quiet = is_quiet && replies->integer(2 * index) == 0 && number == round->numbers[index] && known.has(tags_[index], number, round->generation);
  }
  for (std::size_t index = 0; is_quiet && index < tags_.size(); ++index) known.note(tags_[index], round->numbers[index], round->generation);
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
    KnownNumbers::of_this_thread().note(tags_[index], look.number, replies->generation());
  }
  for (const auto& [text, seen] : records) {
    if (co_await finish_if_decided(client, seen.first, seen.second)) is_torn = true;
  }
  co_return is_torn;
}

}  // namespace redquel::executor
