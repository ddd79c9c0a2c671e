#include "executor/runtime/process_exchange.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <chrono>
#include <utility>

#include "executor/runtime/random_version.h"
#include "executor/tls/sealed_message.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using Clock = std::chrono::steady_clock;

/// Longer than an answer needs; a process that stands still is left out.
constexpr std::chrono::milliseconds kPatience{500};
/// The key is read again because of a message that it does not fit at most so often.
constexpr std::chrono::seconds kKeyPause{1};
/// Questions that wait for their answer while the key is read; more are dropped.
constexpr std::size_t kMostWaiting = 100;

std::string answers_channel(std::string_view asker) { return fmt::format("{}{}", sql::kAnswersPrefix, asker); }

// A question is "<asker> <process> <number> <milliseconds since 1970>\n<text>", an answer "<number>\n<text>". The numbers of an asker rise, and a
// listener takes no question that is older than itself: a message that another client of Redis sends once more has no effect.

struct Question {
  std::string asker, process;
  std::uint64_t number = 0, asked_at = 0;
  std::string_view text;
};

std::uint64_t milliseconds_now() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

bool take_number(std::string_view digits, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size();
}

std::optional<Question> read_question(std::string_view message) {
  const std::size_t end = message.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= end; at = std::min(message.find(' ', at), end) + 1) words.push_back(message.substr(at, std::min(message.find(' ', at), end) - at));
  if (words.size() != 4) return std::nullopt;
  Question question{std::string(words[0]), std::string(words[1]), 0, 0, message.substr(end + 1)};
  const bool is_read = take_number(words[2], question.number) && take_number(words[3], question.asked_at);
  return is_read ? std::optional(std::move(question)) : std::nullopt;
}

}  // namespace

asio::awaitable<std::string> ExchangeKey::load(RedisClient& home) {
  CommandBatch batch;
  batch.add("SET", sql::kExchangeKey, random_bytes(kSealKeyBytes), "NX");
  batch.add("GET", sql::kExchangeKey);
  const RepliesPtr replies = co_await home.execute(std::move(batch));
  replies->or_throw();
  known_ = (*replies)[1].is_text() ? std::string((*replies)[1].text) : std::string();
  co_return known_;
}

// ---- ProcessListener ---------------------------------------------------------------------------------------------------

struct ProcessListener::State : std::enable_shared_from_this<State> {
  State(RedisClient& client, std::string own, Answer function) : home(&client), identity(std::move(own)), answer(std::move(function)) {}

  /// The key may be another one by now, in a Redis that was emptied or replaced.
  void take(std::string_view sealed) {
    if (home == nullptr || waiting >= kMostWaiting) return;
    if (const auto message = unseal(key.known(), sealed)) return respond(*message);
    if (Clock::now() - key_read < kKeyPause) return;
    key_read = Clock::now();
    ++waiting;
    asio::co_spawn(executor, take_with_new_key(shared_from_this(), std::string(sealed)), asio::detached);
  }

  static asio::awaitable<void> take_with_new_key(std::shared_ptr<State> self, std::string sealed) {
    try {
      if (self->home != nullptr) co_await self->key.load(*self->home);
      if (const auto message = unseal(self->key.known(), sealed)) self->respond(*message);
    } catch (const std::exception& error) {
      spdlog::debug("a question of another process is not answered: {}", error.what());
    }
    --self->waiting;
  }

  void respond(std::string_view message) {
    const std::optional<Question> question = read_question(message);
    if (!question || question->process == identity || question->asked_at < started) return;
    std::uint64_t& last = last_numbers[question->asker];
    if (question->number <= last) return;
    last = question->number;
    const std::optional<std::string> text = answer(question->text);
    if (!text || home == nullptr || waiting >= kMostWaiting) return;
    ++waiting;
    asio::co_spawn(executor, send(shared_from_this(), answers_channel(question->asker), seal(key.known(), fmt::format("{}\n{}", question->number, *text))),
                   asio::detached);
  }

  static asio::awaitable<void> send(std::shared_ptr<State> self, std::string channel, std::string sealed) {
    try {
      CommandBatch batch;
      batch.add("PUBLISH", channel, sealed);
      if (self->home != nullptr) co_await self->home->execute(std::move(batch));
    } catch (const std::exception& error) {
      spdlog::debug("an answer to another process is lost: {}", error.what());
    }
    --self->waiting;
  }

  RedisClient* home;  // null: the listener is gone
  const std::string identity;
  const Answer answer;
  asio::any_io_executor executor;
  ExchangeKey key;
  Clock::time_point key_read{};
  std::size_t waiting = 0;
  const std::uint64_t started = milliseconds_now();
  std::map<std::string, std::uint64_t> last_numbers;  // by asker
  std::unique_ptr<Subscription> subscription;
};

ProcessListener::ProcessListener(RedisAccess& access, RedisClient& home, std::string identity, Answer answer)
    : state_(std::make_shared<State>(home, std::move(identity), std::move(answer))) {
  state_->subscription = access.subscribe(std::string(sql::kQuestionsChannel), [weak = std::weak_ptr(state_)](std::string_view message) {
    if (const auto state = weak.lock()) state->take(message);
  });
}

ProcessListener::~ProcessListener() {
  state_->home = nullptr;
  state_->subscription.reset();
}

asio::awaitable<void> ProcessListener::ready() {
  const std::shared_ptr<State> state = state_;
  state->executor = co_await asio::this_coro::executor;
  co_await state->key.load(*state->home);
  if (state->subscription) co_await state->subscription->ready();
}

// ---- ProcessQuestions --------------------------------------------------------------------------------------------------

struct ProcessQuestions::State {
  /// A question that waits for answers.
  struct Asked {
    explicit Asked(const asio::any_io_executor& executor) : patience(executor, kPatience) {}
    std::vector<std::string> answers;
    std::optional<std::size_t> expected;  // nullopt: not known yet
    asio::steady_timer patience;
    void look() {
      if (expected && answers.size() >= *expected) patience.cancel();
    }
  };

  void take(std::string_view sealed) {
    const std::optional<std::string> message = unseal(key.known(), sealed);
    if (!message) return;
    const std::string_view text = *message;
    const std::size_t end = text.find('\n');
    std::uint64_t number = 0;
    if (end == std::string_view::npos || !take_number(text.substr(0, end), number)) return;
    const auto found = asked.find(number);
    if (found == asked.end()) return;
    found->second->answers.emplace_back(text.substr(end + 1));
    found->second->look();
  }

  const std::string asker = random_version();
  std::uint64_t next_number = 1;
  ExchangeKey key;
  std::map<std::uint64_t, std::shared_ptr<Asked>> asked;
  std::unique_ptr<Subscription> subscription;
};

ProcessQuestions::ProcessQuestions(RedisAccess& access, RedisClient& home, std::string identity)
    : access_(access), home_(home), identity_(std::move(identity)), state_(std::make_shared<State>()) {}

ProcessQuestions::~ProcessQuestions() = default;

asio::awaitable<std::vector<std::string>> ProcessQuestions::ask(std::string question) {
  try {
    co_return co_await ask_all(std::move(question));
  } catch (const sql::SqlError& error) {
    spdlog::debug("other processes are not asked: {}", error.message());
  }
  co_return std::vector<std::string>{};
}

namespace {

/// PUBLISH counts the listeners of one node. Returns those of all masters of a cluster; nullopt: the user may not ask for them.
asio::awaitable<std::optional<std::int64_t>> count_listeners(RedisClient& redis) {
  CommandBatch batch;
  batch.add("PUBSUB", "NUMSUB", sql::kQuestionsChannel);
  const RepliesPtr replies = co_await redis.execute(std::move(batch));
  if (!(*replies)[0].is_array()) co_return std::nullopt;
  std::int64_t listeners = 0;
  for (const Reply& reply : replies->array(0)) {  // channel, count, channel, count…
    if (reply.kind == Reply::Kind::integer) listeners += reply.integer;
  }
  co_return listeners;
}

}  // namespace

asio::awaitable<std::vector<std::string>> ProcessQuestions::ask_all(std::string question) {
  const std::shared_ptr<State> state = state_;
  if (!state->subscription) {
    state->subscription = access_.subscribe(answers_channel(state->asker), [weak = std::weak_ptr(state)](std::string_view message) {
      if (const auto self = weak.lock()) self->take(message);
    });
  }
  co_await state->subscription->ready();
  const std::string key = co_await state->key.load(home_);
  if (key.size() != kSealKeyBytes) {
    throw sql::SqlError(sqlstate::kDataCorrupted,
                        fmt::format("key \"{}\" in Redis does not hold {} bytes", sql::kExchangeKey, kSealKeyBytes))
        .hint(fmt::format("redis-cli DEL {}: redquel makes the key anew.", sql::kExchangeKey));
  }
  const std::uint64_t number = state->next_number++;
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto asked = std::make_shared<State::Asked>(executor);
  state->asked.emplace(number, asked);
  struct Forget {
    State& state;
    std::uint64_t number;
    ~Forget() { state.asked.erase(number); }
  } const forget{*state, number};
  CommandBatch batch;
  batch.add("PUBLISH", sql::kQuestionsChannel, seal(key, fmt::format("{} {} {} {}\n{}", state->asker, identity_, number, milliseconds_now(), question)));
  const RepliesPtr replies = co_await home_.execute(std::move(batch));
  replies->or_throw();
  std::optional<std::int64_t> listeners = replies->integer(0);  // this process is one of them
  if (sql::uses_cluster()) listeners = co_await count_listeners(home_);
  if (listeners) asked->expected = *listeners > 0 ? static_cast<std::size_t>(*listeners - 1) : 0;
  if (!asked->expected || asked->answers.size() < *asked->expected) {
    boost::system::error_code ended;
    co_await asked->patience.async_wait(asio::redirect_error(asio::use_awaitable, ended));
  }
  co_return std::move(asked->answers);
}

ProcessQuestions*& other_processes() {
  thread_local ProcessQuestions* questions = nullptr;
  return questions;
}

}  // namespace redquel::executor
