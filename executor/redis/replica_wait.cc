#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <mutex>
#include <utility>

#include "executor/redis/connection_core.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/sentinel.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

// A commit is acknowledged once `synchronous_replicas` replicas have it. WAIT counts from the last write of its own connection, so it stands in
// the same write behind the commits of a turn. It blocks the connection for a short time only and is asked again until enough replicas confirm.
//
// By default ("auto") each replica that follows the master must have it. INFO, directly behind WAIT, shows which replicas have confirmed. A
// replica that is promoted leaves its master before the sentinels report it: so one that is no longer connected still counts, until it is away
// for longer than a failover takes, and the sentinels, or other nodes of the cluster, confirm that the master still is the master.

namespace {

constexpr int kWaitMilliseconds = 500;
constexpr std::chrono::milliseconds kPauseBetweenWaits{50};
constexpr std::chrono::seconds kPauseBetweenLooks{1};
/// Behind Sentinel a new replica counts before a failover can promote it: sentinels hear of one within ten seconds.
constexpr std::chrono::seconds kPauseBetweenWatches{1};

void log_replicas(const std::string& address, const std::string& description) {
  static std::mutex mutex;
  static std::map<std::string, std::string> logged;  // by address
  const std::lock_guard lock(mutex);
  std::string& last = logged[address];
  if (last == description) return;
  last = description;
  spdlog::info("Redis at {}: {} (redis.synchronous_replicas)", address, description);
}

}  // namespace

std::size_t SharedConnection::Core::needed_replicas() const {
  if (options_.synchronous_replicas) return static_cast<std::size_t>(*options_.synchronous_replicas);
  return server_state_->replicas.needed();
}

bool SharedConnection::Core::follows_replicas() const { return !options_.synchronous_replicas && options_.master_watch && server_.may_info; }

std::shared_ptr<SharedConnection::Core> SharedConnection::Core::for_commits() {
  ConnectionOptions options = options_;
  options.client_name += "-commits";
  auto core = std::make_shared<Core>(socket_.get_executor(), std::move(options), server_state_);
  core->awaits_replicas_ = true;
  return core;
}

void SharedConnection::Core::append_wait(std::size_t replicas, std::optional<UnreplicatedCommits::Ticket> ticket) {
  Turn wait;
  wait.needed_replicas = replicas;
  wait.ticket = ticket;
  wait.replicas = std::make_unique<Replies>();
  wait.written = std::chrono::steady_clock::now();
  CommandBatch command;
  command.add("WAIT", wait.needed_replicas, kWaitMilliseconds);
  if (!options_.synchronous_replicas && options_.master_watch && server_state_->replicas.wants_count(wait.written)) {
    command.add("INFO", "replication", "stats");
  } else if (!options_.synchronous_replicas) {
    command.add("INFO", "replication");
  }
  wait.expected_confirmations = command.size();
  output_ += command.bytes();
  turns_.push_back(std::move(wait));
}

void SharedConnection::Core::take_replicas(const ReplicationInfo& info) {
  if (options_.synchronous_replicas || !knows_replicas()) return;
  const bool has_changed = server_state_->replicas.take(info, std::chrono::steady_clock::now(), options_.master_watch != nullptr);
  if (has_changed) report_replicas();
}

void SharedConnection::Core::report_replicas() const {
  if (options_.synchronous_replicas) {
    if (*options_.synchronous_replicas > 0) log_replicas(options_.url.address(), fmt::format("commits wait for {} replicas", *options_.synchronous_replicas));
  } else if (!server_.may_info) {
    log_replicas(options_.url.address(), "commits wait for no replica, because the user of redquel has no right to INFO");
  } else {
    log_replicas(options_.url.address(), server_state_->replicas.description());
  }
}

/// Returns true if enough replicas have the writes before the turn.
bool SharedConnection::Core::have_replicas_confirmed(const Turn& turn) {
  const auto confirmed = static_cast<std::size_t>((*turn.replicas)[0].integer);
  if (turn.replicas->size() == 1) return confirmed >= turn.needed_replicas;
  const Reply& info = (*turn.replicas)[1];
  if (!info.is_text()) return confirmed >= turn.needed_replicas;  // the right to INFO is gone
  if (!knows_replicas()) return false;
  ReplicaSet& replicas = server_state_->replicas;
  take_replicas(read_replication(info.text));
  if (replicas.have_confirmed(confirmed)) return true;
  if (replicas.has_overdue(std::chrono::steady_clock::now()) && !std::exchange(is_dropping_replicas_, true)) {
    asio::co_spawn(socket_.get_executor(), drop_replicas(shared_from_this(), statistics_.connects), asio::detached);
  }
  return false;
}

void SharedConnection::Core::check_replicas(const Turn& turn) {
  const Reply& reply = (*turn.replicas)[0];
  if (turn.ticket) unreplicated_.push_back({*turn.ticket, turn.written});
  if (reply.is_error()) return give_up_unreplicated(too_few_replicas(std::string(reply.text)));
  if (have_replicas_confirmed(turn)) {
    if (lacks_replicas_since_) spdlog::info("Redis at {}: enough replicas confirm commits again", options_.url.address());
    lacks_replicas_since_.reset();
    // The confirmation covers everything that this connection wrote before.
    for (const Unreplicated& commit : std::exchange(unreplicated_, {})) options_.unreplicated->confirm(commit.ticket);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  const bool has_timed_out = static_cast<std::size_t>(reply.integer) < turn.needed_replicas;
  if (!lacks_replicas_since_ && has_timed_out) {
    lacks_replicas_since_ = now;
    spdlog::warn("Redis at {}: fewer than {} replicas confirm commits, which wait for them (redis.synchronous_replicas)", options_.url.address(),
                 turn.needed_replicas);
  }
  const bool has_limit = options_.replica_timeout.count() > 0;
  if (has_limit && !unreplicated_.empty() && now - unreplicated_.front().written >= options_.replica_timeout) {
    return give_up_unreplicated(too_few_replicas("timeout"));
  }
  ask_replicas_again();
}

/// Drops replicas that are away, once it is certain that none of them has become the master.
asio::awaitable<void> SharedConnection::Core::drop_replicas(std::shared_ptr<Core> self, std::uint64_t connection) {
  bool is_certain = false;
  std::chrono::seconds absence = ReplicaSet::kAbsence;
  if (self->options_.master_watch) {
    const FoundMaster found = co_await find_master(self->options_.url, current_login(self->options_).tls);
    is_certain = found.place == self->master_ && !found.disputed;
    // The sentinel that leads a failover is the only one that knows of it.
    if (found.silent > 0) absence = ReplicaSet::kUncertainAbsence;
  } else {
    is_certain = !co_await self->confirm_master();
  }
  if (!self->is_connection(connection)) co_return;
  self->is_dropping_replicas_ = false;
  if (!is_certain || !self->knows_replicas()) co_return;
  self->server_state_->replicas.drop_overdue(std::chrono::steady_clock::now(), absence);
  self->report_replicas();
}

asio::awaitable<void> SharedConnection::Core::watch_replicas(std::shared_ptr<Core> self, std::uint64_t connection) {
  boost::system::error_code cancelled;
  while (self->is_connection(connection)) {
    self->watch_timer_.expires_after(kPauseBetweenWatches);
    co_await self->watch_timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (!self->is_connection(connection)) break;
    if (!self->turns_.empty() || self->writing_ || self->is_silent_) continue;  // the last turn asks, too
    self->note_progress();
    self->append_wait(0, std::nullopt);
    self->write_output();
  }
}

sql::SqlError SharedConnection::Core::too_few_replicas(std::string_view reason) const {
  return sql::SqlError(sqlstate::kTransactionResolutionUnknown, "the commit took place, but too few replicas of Redis have confirmed it")
      .detail(fmt::format("{}; redis.synchronous_replicas is {}.", reason, options_.synchronous_replicas ? fmt::to_string(*options_.synchronous_replicas) : "auto"))
      .hint("A failover may lose it.");
}

void SharedConnection::Core::give_up_unreplicated(const sql::SqlError& reason) {
  for (const Turn& turn : turns_) {
    if (turn.ticket) options_.unreplicated->give_up(*turn.ticket, reason);
  }
  for (const Unreplicated& commit : std::exchange(unreplicated_, {})) options_.unreplicated->give_up(commit.ticket, reason);
}

void SharedConnection::Core::ask_replicas_again() {
  if (!turns_.empty() || unreplicated_.empty()) return;  // the last turn is a WAIT, which answers for these, too
  replica_timer_.expires_after(kPauseBetweenWaits);
  replica_timer_.async_wait([self = shared_from_this(), connection = statistics_.connects](boost::system::error_code cancelled) {
    if (cancelled || !self->is_connection(connection) || self->unreplicated_.empty() || !self->turns_.empty()) return;
    if (self->writing_) return self->ask_replicas_again();
    self->note_progress();
    self->append_wait(self->needed_replicas(), std::nullopt);
    self->write_output();
  });
}

void SharedConnection::Core::look_for_replicas() {
  const auto now = std::chrono::steady_clock::now();
  const bool is_due = server_state_->replicas.size() == 0 && now - looked_for_replicas_ >= kPauseBetweenLooks;
  if (options_.synchronous_replicas || !server_.may_info || state_ != State::ready || is_silent_ || !is_due) return;
  looked_for_replicas_ = now;
  asio::co_spawn(socket_.get_executor(), find_replicas(shared_from_this()), asio::detached);
}

asio::awaitable<void> SharedConnection::Core::find_replicas(std::shared_ptr<Core> self) {
  CommandBatch batch;
  batch.add("INFO", "replication");
  const std::shared_ptr<Replies> replies = co_await self->ask(std::move(batch));
  if (!replies || !(*replies)[0].is_text()) co_return;
  self->take_replicas(read_replication((*replies)[0].text));
}

}  // namespace redquel::executor
