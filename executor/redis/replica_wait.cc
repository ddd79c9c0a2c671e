#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "executor/redis/connection_core.h"
#include "executor/redis/redis_error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

// A commit is acknowledged once `synchronous_replicas` replicas have it. WAIT counts from the last write of its own connection, so it stands in
// the same write behind the commits of a turn. It blocks the connection for a short time only and is asked again until enough replicas confirm.

namespace {

constexpr int kWaitMilliseconds = 500;
constexpr std::chrono::milliseconds kPauseBetweenWaits{50};
constexpr std::chrono::seconds kPauseBetweenLooks{10};

}  // namespace

int SharedConnection::Core::needed_replicas() const {
  return options_.synchronous_replicas.value_or(server_state_->has_replicas ? 1 : 0);
}

std::shared_ptr<SharedConnection::Core> SharedConnection::Core::for_commits() {
  ConnectionOptions options = options_;
  options.client_name += "-commits";
  auto core = std::make_shared<Core>(socket_.get_executor(), std::move(options), server_state_);
  core->awaits_replicas_ = true;
  return core;
}

void SharedConnection::Core::append_wait(std::optional<UnreplicatedCommits::Ticket> ticket) {
  Turn wait;
  wait.needed_replicas = needed_replicas();
  wait.ticket = ticket;
  wait.replicas = std::make_unique<Replies>();
  wait.written = std::chrono::steady_clock::now();
  CommandBatch command;
  command.add("WAIT", wait.needed_replicas, kWaitMilliseconds);
  output_ += command.bytes();
  turns_.push_back(std::move(wait));
}

void SharedConnection::Core::check_replicas(const Turn& turn) {
  const Reply& reply = (*turn.replicas)[0];
  if (turn.ticket) unreplicated_.push_back({*turn.ticket, turn.written});
  if (reply.is_error()) return give_up_unreplicated(too_few_replicas(std::string(reply.text)));
  if (reply.integer >= turn.needed_replicas) {
    if (lacks_replicas_since_) spdlog::info("Redis at {}: enough replicas confirm commits again", options_.url.address());
    lacks_replicas_since_.reset();
    // The confirmation covers everything that this connection wrote before.
    for (const Unreplicated& commit : std::exchange(unreplicated_, {})) options_.unreplicated->confirm(commit.ticket);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!lacks_replicas_since_) {
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

sql::SqlError SharedConnection::Core::too_few_replicas(std::string_view reason) const {
  return sql::SqlError(sqlstate::kTransactionResolutionUnknown, "the commit took place, but too few replicas of Redis have confirmed it")
      .detail(fmt::format("{}; redis.synchronous_replicas is {}.", reason, needed_replicas()))
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
    self->append_wait(std::nullopt);
    self->write_output();
  });
}

void SharedConnection::Core::look_for_replicas() {
  const auto now = std::chrono::steady_clock::now();
  const bool is_due = !server_state_->has_replicas && now - looked_for_replicas_ >= kPauseBetweenLooks;
  if (options_.synchronous_replicas || !server_.may_info || state_ != State::ready || !is_due) return;
  looked_for_replicas_ = now;
  asio::co_spawn(socket_.get_executor(), find_replicas(shared_from_this()), asio::detached);
}

asio::awaitable<void> SharedConnection::Core::find_replicas(std::shared_ptr<Core> self) {
  CommandBatch batch;
  batch.add("INFO", "replication");
  const std::shared_ptr<Replies> replies = co_await self->ask(std::move(batch));
  if (!replies || !(*replies)[0].is_text()) co_return;
  if (info_number((*replies)[0].text, "connected_slaves").value_or(0) > 0) self->server_state_->has_replicas = true;
}

}  // namespace redquel::executor
