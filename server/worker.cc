#include "server/worker.h"

#include <spdlog/spdlog.h>
#include <sys/random.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <stdexcept>

#include "executor/redis/executor_counts.h"
#include "executor/runtime/session_exchange.h"
#include "executor/runtime/thread_priority.h"
#include "sql/sqlstate.h"
#include "sql/statistics.h"

namespace redquel::server {

namespace {

using namespace std::chrono_literals;

constexpr auto kTick = 250ms;
/// After the drain time: for cancelled statements to end and for clients to read their last message.
constexpr auto kCancelTime = 3s;
constexpr auto kCloseTime = 2s;

std::int32_t random_secret() {
  std::int32_t secret = 0;
  if (::getrandom(&secret, sizeof secret, 0) != sizeof secret) throw std::runtime_error("no random numbers");
  return secret;
}

}  // namespace

Worker::Worker(Options options, SharedCounts& counts, const EngineSourceFactory& engines)
    : options_(std::move(options)),
      reloadable_(std::make_shared<Reloadable>(options_.reloadable)),
      counts_(counts),
      work_(context_.get_executor()),
      engines_(engines(context_)),
      tick_timer_(context_),
      drain_timer_(context_) {
  if (owns_reserve()) counts_.memory.set_reserve(engines_->memory_reserve());
}

Worker::~Worker() {
  if (owns_reserve()) counts_.memory.set_reserve(nullptr);
}

namespace {

thread_local Worker* this_thread = nullptr;

}  // namespace

void Worker::name_connection_hooks() {
  // Statements run on the workers' threads alone.
  sql::set_statistics_hooks({
      .sessions = [] { return this_thread->counts_.figures.sessions(); },
      .databases = [] { return this_thread->counts_.figures.databases(); },
      .relations = [](std::string_view database) { return this_thread->counts_.figures.relations(database); },
      .statements = [] { return this_thread->counts_.figures.statements(); },
      .reset_statements = [](sql::Oid role, sql::Oid database, std::int64_t query_id) {
        this_thread->counts_.figures.forget_statements(role, database, query_id);
      },
      .forgotten_statements = [] { return this_thread->counts_.figures.forgotten_statements(); },
      .statements_since = [] { return this_thread->counts_.figures.statements_since(); },
      .note_lock_wait = [](std::int32_t process_id, std::int64_t milliseconds, bool is_over) {
        const auto found = this_thread->sessions_.find(process_id);
        if (found != this_thread->sessions_.end()) found->second->note_lock_wait(milliseconds, is_over);
      },
      .show_wait = [](std::int32_t process_id, std::string_view event) {
        const auto found = this_thread->sessions_.find(process_id);
        if (found != this_thread->sessions_.end()) found->second->show_wait(event);
      },
  });
  sql::set_connection_hooks({
      .facts = [](std::int32_t process_id) -> std::optional<sql::ConnectionFacts> {
        if (this_thread == nullptr) return std::nullopt;
        const auto found = this_thread->sessions_.find(process_id);
        return found == this_thread->sessions_.end() ? std::nullopt : std::optional(found->second->connection_facts());
      },
      .signal = [](std::int32_t process_id, bool ends_session) {
        return this_thread != nullptr && this_thread->options_.forward_signal && this_thread->options_.forward_signal(process_id, ends_session);
      },
      .cancel = [](std::int32_t process_id, std::int32_t secret) {
        const bool is_here = this_thread != nullptr && process_id / sql::kSessionsOfProcess == this_thread->counts_.process_number;
        if (is_here) this_thread->options_.forward_cancel({process_id, secret}, "[another process]");
      },
      .reload = [] {
        if (this_thread == nullptr || !this_thread->options_.ask_reload) return false;
        this_thread->options_.ask_reload();
        return true;
      },
      .is_pending_restart = [](std::string_view parameter) {
        return this_thread != nullptr && std::ranges::find(this_thread->reloadable_->pending_restart, parameter) != this_thread->reloadable_->pending_restart.end();
      },
  });
}

bool Worker::run() {
  this_thread = this;
  executor::request_slice(executor::kServiceSlice);
  executor::set_counts_of_thread(thread_counts().executor);
  thread_counts().last_turn.set(steady_nanoseconds());
  asio::co_spawn(context_, tick_forever(), asio::detached);
  if (options_.index == 0) asio::co_spawn(context_, join_processes(), asio::detached);
  context_.run();
  return !gave_up_;
}

asio::awaitable<void> Worker::join_processes() {
  counts_.process_number = co_await engines_->join_processes();
  if (counts_.figures.pings_redis && !is_pinging_) {  // /health/ready knows of Redis before the server is ready
    is_pinging_ = true;
    co_await ping_redis();
  }
  if (options_.joined) options_.joined();
}

void Worker::post_reload(std::shared_ptr<const Reloadable> reloadable) {
  asio::post(context_, [this, reloadable = std::move(reloadable)] {
    reloadable_ = reloadable;
    if (reloadable->redis) engines_->change_login(*reloadable->redis);
    for (const auto& session : all_sessions()) session->follow_reload();
  });
}

void Worker::post_connection(ClientSocket socket, std::uint64_t number, ClientOrigin origin) {
  asio::post(context_, [this, arrival = Arrival{std::move(socket), number, origin}]() mutable {
    ++connections_;
    arrivals_.push_back(std::move(arrival));
    if (!is_beginning_) asio::co_spawn(context_, begin_arrivals(), asio::detached);
    is_beginning_ = true;
  });
}

asio::awaitable<void> Worker::begin_arrivals() {
  while (!arrivals_.empty()) {
    Arrival arrival = std::move(arrivals_.front());
    arrivals_.pop_front();
    asio::co_spawn(context_, serve(std::move(arrival)), asio::detached);
    co_await asio::post(context_, asio::use_awaitable);
  }
  is_beginning_ = false;
}

void Worker::post_refusal(std::uint64_t number) {
  asio::post(context_, [this, number] {
    const auto starting = starting_.find(number);
    if (starting == starting_.end()) return;
    const auto found = sessions_.find(starting->second);
    if (found == sessions_.end()) return;
    const std::shared_ptr<Session> session = found->second;
    session->refuse();
  });
}

void Worker::end_startup(std::uint64_t number) {
  starting_.erase(number);
  counts_.startups.remove(number);
}

void Worker::note_bad_startup(const std::string& address, std::string_view what) {
  if (counts_.addresses.may_log(address)) spdlog::warn("client at {}: {} (further ones of this minute are not logged)", address, what);
}

bool Worker::interrupt(std::int32_t process_id, std::optional<std::int32_t> secret) {
  const std::lock_guard lock(interruptible_mutex_);
  const auto found = interruptible_.find(process_id);
  const bool is_right = found != interruptible_.end() && secret.value_or(found->second.secret) == found->second.secret;
  if (is_right) found->second.interrupts->request_cancel();
  return is_right;
}

void Worker::post_cancel(CancelKey key, const std::string& address) {
  if (!counts_.addresses.may_cancel(address)) return note_bad_startup(address, "too many wrong cancel requests, they are dropped");
  if (!interrupt(key.process_id, key.secret)) return counts_.addresses.note_wrong_cancel(address);
  asio::post(context_, [this, key] {
    const auto found = sessions_.find(key.process_id);
    if (found == sessions_.end() || found->second->key().secret != key.secret) return;
    found->second->cancel(Session::CancelReason::kUserRequest);
  });
}

void Worker::post_signal(std::int32_t process_id, bool ends_session) {
  interrupt(process_id, std::nullopt);
  asio::post(context_, [this, process_id, ends_session] {
    const auto found = sessions_.find(process_id);
    if (found == sessions_.end()) return;
    const std::shared_ptr<Session> session = found->second;
    if (ends_session) session->terminate();
    session->cancel(ends_session ? Session::CancelReason::kShutdown : Session::CancelReason::kUserRequest);
  });
}

void Worker::post_cancel_elsewhere(CancelKey key) {
  asio::co_spawn(context_, executor::cancel_elsewhere(key.process_id, key.secret), asio::detached);
}

void Worker::post_drain() { asio::co_spawn(context_, drain(), asio::detached); }

void Worker::post_hurry() {
  asio::post(context_, [this] { drain_timer_.cancel(); });
}

void Worker::take_place(const SessionPlaces::Place& place) {
  if (counts_.memory.is_full() && !place.is_superuser) {
    throw sql::SqlError(sqlstate::kTooManyConnections, "sorry, too many clients already").detail("All sessions together need limits.memory.");
  }
  counts_.places.take(place, options_.places);
}

void Worker::give_place_back(const SessionPlaces::Place& place) { counts_.places.give_back(place); }

CancelKey Worker::make_key() {
  constexpr auto kLargest = static_cast<std::uint32_t>(sql::kSessionsOfProcess);
  const std::int32_t first = counts_.process_number * sql::kSessionsOfProcess;
  const auto count = static_cast<std::uint32_t>(options_.count);
  while (true) {
    if (next_sequence_ >= kLargest / count - 1) next_sequence_ = 0;
    ++next_sequence_;
    const auto process_id = first + static_cast<std::int32_t>(next_sequence_ * count + options_.index);
    if (!sessions_.contains(process_id)) return {process_id, random_secret()};
  }
}

asio::awaitable<void> Worker::serve(Arrival arrival) {
  const std::uint64_t number = arrival.number;
  const CancelKey key = make_key();
  try {
    Connection connection(std::move(arrival.socket), arrival.origin);
    auto session = std::make_shared<Session>(*this, std::move(connection), key, number);
    sessions_.emplace(key.process_id, session);
    starting_.emplace(number, key.process_id);
    {
      const std::lock_guard lock(interruptible_mutex_);
      interruptible_.emplace(key.process_id, Interruptible{key.secret, session->interrupts()});
    }
    counts_.processes.add(key.process_id);
    ++counts_.figures.connections.accepted;
    if (draining_) session->drain();
    co_await session->run();
  } catch (const std::exception& error) {
    spdlog::error("connection failed: {}", error.what());
  }
  sessions_.erase(key.process_id);
  {
    const std::lock_guard lock(interruptible_mutex_);
    interruptible_.erase(key.process_id);
  }
  counts_.processes.remove(key.process_id);
  end_startup(number);
  --connections_;
  finish_if_empty();
}

asio::awaitable<void> Worker::tick_forever() {
  while (!finished_) {
    const auto due = std::chrono::steady_clock::now() + kTick;
    tick_timer_.expires_at(due);
    co_await tick_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    const auto now = std::chrono::steady_clock::now();
    publish_figures(std::max(now - due, std::chrono::steady_clock::duration::zero()));
    for (const auto& session : all_sessions()) session->tick(now);
  }
}

void Worker::publish_figures(std::chrono::nanoseconds delay) {
  ThreadCounts& figures = thread_counts();
  figures.last_turn.set(steady_nanoseconds());
  figures.event_loop_delay.note(static_cast<std::uint64_t>(delay.count()));
  figures.publish(engines_->redis_statistics());
  figures.compare_clocks();
  // One worker asks for all.
  if (counts_.figures.pings_redis && options_.index == 0 && !is_pinging_ && !draining_) {
    is_pinging_ = true;
    asio::co_spawn(context_, ping_redis(), asio::detached);
  }
}

asio::awaitable<void> Worker::ping_redis() {
  try {
    co_await engines_->ping();
    thread_counts().redis_answered.set(steady_nanoseconds());
    if (const std::optional<RedisMemory> memory = co_await engines_->redis_memory()) {
      counts_.figures.redis_memory_used = memory->used;
      counts_.figures.redis_memory_most = memory->most;
      if (memory->replicas) counts_.figures.redis_replicas = static_cast<std::int64_t>(*memory->replicas);
    }
  } catch (const std::exception& error) {
    spdlog::debug("Redis does not answer: {}", error.what());
  }
  is_pinging_ = false;
}

asio::awaitable<void> Worker::drain() {
  if (draining_) co_return;
  draining_ = true;
  for (const auto& session : all_sessions()) session->drain();
  finish_if_empty();
  const auto wait = [this](std::chrono::milliseconds time) {
    drain_timer_.expires_after(time);
    return drain_timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  };
  if (!finished_) co_await wait(options_.drain_time);
  for (const auto& session : all_sessions()) {
    session->terminate();
    session->cancel(Session::CancelReason::kShutdown);
  }
  if (!finished_) co_await wait(kCancelTime);
  for (const auto& session : all_sessions()) session->close();
  if (!finished_) co_await wait(kCloseTime);
  if (!finished_) {
    spdlog::error("{} sessions could not be ended", sessions_.size());
    gave_up_ = true;
    context_.stop();
  }
}

std::vector<std::shared_ptr<Session>> Worker::all_sessions() const {
  std::vector<std::shared_ptr<Session>> all;
  all.reserve(sessions_.size());
  for (const auto& [id, session] : sessions_) all.push_back(session);
  return all;
}

void Worker::finish_if_empty() {
  if (!draining_ || finished_ || connections_ > 0) return;
  finished_ = true;
  tick_timer_.cancel();
  drain_timer_.cancel();
  engines_->stop();
  work_.reset();
}

}  // namespace redquel::server
