#include "executor/redis/look_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "executor/redis/command_words.h"
#include "executor/redis/looking_commands.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/resp_codec.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// The parts of a batch: commands that go to Redis, and answers to those that do not.
struct Split {
  std::vector<std::size_t> sent;  // positions of the commands that go to Redis
  std::string answers;            // RESP: those of all commands, nil for the ones that are sent
  std::size_t own = 0;            // commands that are answered here
  std::size_t keys = 0;           // that SCAN looks at
  std::size_t elements = 0;       // elements that the commands read, as far as their arguments show
};

bool is_own(std::span<const std::string_view> words) {
  const bool has_subcommand = words[0] == "OBJECT" || words[0] == "MEMORY" || words[0] == "XINFO";
  const std::size_t at = has_subcommand ? 2 : 1;
  return words.size() > at && OwnKeyspace::owns(words[at]);
}

/// Returns the number of keys that the command makes Redis look at, if it is SCAN.
std::size_t scanned_keys(std::span<const std::string_view> words) {
  if (words[0] != "SCAN") return 0;
  std::size_t keys = 10;  // Redis's default
  const auto count = std::ranges::find(words, "COUNT");
  if (count != words.end() && count + 1 != words.end()) std::from_chars((count + 1)->data(), (count + 1)->data() + (count + 1)->size(), keys);
  return keys;
}

/// The assumed elements of a command without a count that reads a whole structure.
constexpr std::size_t kElementsOfWhole = 1000;
/// Batches that look at no more are no bulk reads; nor are those that hold Redis for less than half of a step.
constexpr std::size_t kFewElements = 100;

bool is_bulk_read(std::size_t keys, std::size_t elements, const RedisShare& share) {
  return keys > 0 || elements > std::min(kFewElements, share.step() / 2);
}

std::optional<std::int64_t> number_in(std::string_view word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

/// Returns the number behind such a word, or behind the word after it.
std::optional<std::size_t> count_after(std::span<const std::string_view> words, std::string_view option, std::size_t distance) {
  const auto found = std::ranges::find(words, option);
  if (static_cast<std::size_t>(words.end() - found) <= distance) return std::nullopt;
  const std::optional<std::int64_t> count = number_in(*(found + static_cast<std::ptrdiff_t>(distance)));
  return count && *count >= 0 ? std::optional(static_cast<std::size_t>(*count)) : std::nullopt;
}

/// Returns the number of keys and elements that Redis reads for the command, as far as its arguments show.
std::size_t elements_of(std::span<const std::string_view> words) {
  static constexpr std::string_view kWhole[] = {"HGETALL", "HKEYS", "HVALS", "SDIFF", "SINTER", "SINTERCARD", "SMEMBERS", "SORT_RO", "SUNION", "ZDIFF", "ZINTER", "ZUNION"};
  static constexpr std::string_view kSeveral[] = {"HMGET", "MGET", "SMISMEMBER", "ZMSCORE"};
  const std::string_view name = words[0];
  if (const auto count = count_after(words, "COUNT", 1)) return *count;
  if (const auto count = count_after(words, "LIMIT", 2)) return *count;
  if (std::ranges::find(kWhole, name) != std::end(kWhole)) return kElementsOfWhole;
  if (std::ranges::find(kSeveral, name) != std::end(kSeveral)) return words.size() > 20 ? words.size() : 1;
  if ((name != "LRANGE" && !name.starts_with("ZRANGE") && !name.starts_with("ZREVRANGE") && name != "XRANGE") || words.size() < 4) return 1;
  const auto first = number_in(words[2]), last = number_in(words[3]);
  const bool is_known = first && last && (*first < 0) == (*last < 0) && *first <= *last;
  return is_known ? static_cast<std::size_t>(*last - *first + 1) : kElementsOfWhole;
}

Split split_batch(const CommandBatch& batch, const OwnKeyspace* own) {
  Split split;
  BatchReader reader(batch.bytes());
  std::vector<std::string_view> words;
  // Most batches hold no key of redquel's own: nothing is answered for them.
  const bool may_have_own = own != nullptr && batch.bytes().find("\nredquel:") != std::string_view::npos;
  for (std::size_t position = 0; !reader.at_end(); ++position) {
    reader.next(words);
    if (may_have_own && is_own(words)) {
      split.answers += own->answer(words);
      ++split.own;
      continue;
    }
    if (!is_looking_command(words)) {
      throw sql::SqlError(sqlstate::kFeatureNotSupported, fmt::format("redquel look does not send {} to Redis", words[0]))
          .detail("It sends nothing but commands that read.");
    }
    if (may_have_own) split.answers += "$-1\r\n";
    split.keys += scanned_keys(words);
    split.elements += elements_of(words);
    split.sent.push_back(position);
  }
  return split;
}

RepliesPtr decode_answers(const std::string& answers, const CommandBatch& batch, const OwnKeyspace& own, std::uint64_t generation) {
  auto replies = std::make_shared<Replies>();
  replies->set_names(batch.names());
  ReplyDecoder decoder(answers.size() + 1);
  decoder.feed(answers);
  while (replies->size() < batch.size() && decoder.next(*replies)) continue;
  std::string version = own.version();
  if (!version.empty()) replies->set_catalog_version(std::move(version));
  replies->set_generation(generation);
  return replies;
}

}  // namespace

asio::awaitable<RepliesPtr> LookClient::execute(CommandBatch batch, ExecutionCounters* counters) {
  const Split split = split_batch(batch, own_);
  const bool waits = paces_ == Paced::kAll || is_bulk_read(split.keys, split.elements, share_);
  if (split.own == 0) co_return co_await send(std::move(batch), split.keys, split.elements, waits, counters);
  RepliesPtr answered = decode_answers(split.answers, batch, *own_, connection_.generation());
  if (split.sent.empty()) co_return answered;
  CommandBatch rest;
  rest.append_commands(batch, split.sent);
  RepliesPtr replies = co_await send(std::move(rest), split.keys, split.elements, waits, counters);
  co_return Replies::merge(std::move(answered), split.sent, std::move(replies), 0);
}

asio::awaitable<RepliesPtr> LookClient::send(CommandBatch batch, std::size_t keys, std::size_t elements, bool waits, ExecutionCounters* counters) {
  if (!waits) co_return co_await connection_.execute(std::move(batch), counters);
  using Clock = RedisShare::Clock;
  co_await share_.wait();
  if (share_.wants_latency(Clock::now())) co_await measure_latency();
  /// Counts the read at its end, also of a statement that is cancelled meanwhile.
  struct Read {
    RedisShare& share;
    std::size_t keys, elements;
    Clock::time_point begun = Clock::now();
    ~Read() {
      const Clock::time_point now = Clock::now();
      share.note(now, now - begun, keys, elements);
    }
  };
  const Read read{share_, keys, elements};
  co_return co_await connection_.execute(std::move(batch), counters);
}

asio::awaitable<void> LookClient::measure_latency() {
  // The median: of small steps a part of a round trip more or less would count ten times.
  constexpr std::size_t kPings = 5;
  std::array<RedisShare::Clock::duration, kPings> taken;
  for (RedisShare::Clock::duration& one : taken) {
    CommandBatch batch;
    batch.add("PING");
    const auto begun = RedisShare::Clock::now();
    co_await connection_.execute(std::move(batch));
    one = RedisShare::Clock::now() - begun;
  }
  const RedisShare::Clock::duration first = taken[0];
  std::ranges::sort(taken);
  share_.note_latency(RedisShare::Clock::now(), taken[kPings / 2], first);
}

asio::awaitable<RepliesPtr> LookClient::execute_atomic(CommandBatch batch, ExecutionCounters* counters) {
  return execute(std::move(batch), counters);
}

std::unique_ptr<RedisRequest> LookClient::start(CommandBatch batch, ExecutionCounters* counters) {
  const Split split = split_batch(batch, own_);
  if (paces_ == Paced::kAll || is_bulk_read(split.keys, split.elements, share_) || split.own != 0) return RedisClient::start(std::move(batch), counters);
  return connection_.start(std::move(batch), counters);
}

std::unique_ptr<RedisRequest> LookClient::start_atomic(CommandBatch batch, ExecutionCounters* counters) {
  return start(std::move(batch), counters);
}

LookClient& LookAccess::client(int database, bool is_bulk) {
  std::unique_ptr<LookClient>& slot = clients_[{database, is_bulk}];
  if (!slot) slot = std::make_unique<LookClient>(is_bulk ? pool_.bulk(database) : pool_.shared(database), &own_, own_.share(), is_bulk ? LookClient::Paced::kAll : LookClient::Paced::kLarge);
  return *slot;
}

ConnectionOptions looking_options(ConnectionOptions options, std::shared_ptr<OwnKeyspace> own) {
  options.version_key.clear();
  if (own) options.own_version = [own = std::move(own)] { return own->version(); };
  options.only_looks = true;
  options.repairs_append_only_file = options.refuses_eviction = false;
  options.client_name = "redquel-look";
  return options;
}

}  // namespace redquel::executor
