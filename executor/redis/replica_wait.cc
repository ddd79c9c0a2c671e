#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "executor/redis/connection_core.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

// A commit is acknowledged once `synchronous_replicas` replicas have it. WAIT counts from the last write of its own connection, so it stands in
// the same write behind the commits of a turn. It blocks the connection for a short time only and is asked again until enough replicas confirm.

namespace {

constexpr int kWaitMilliseconds = 500;
constexpr std::chrono::milliseconds kPauseBetweenWaits{50};

/// Returns true if each command was refused: NOSCRIPT, for one. The caller may send them again.
bool wrote_nothing(const PendingBatch& pending) {
  for (std::size_t index = 0; index < pending.replies->size(); ++index) {
    if (!(*pending.replies)[index].is_error()) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<SharedConnection::Core> SharedConnection::Core::for_commits() {
  ConnectionOptions options = options_;
  options.client_name += "-commits";
  auto core = std::make_shared<Core>(socket_.get_executor(), std::move(options), generation_);
  CommandBatch wait;
  wait.add("WAIT", options_.synchronous_replicas, kWaitMilliseconds);
  core->wait_command_ = wait.bytes();
  core->awaits_replicas_ = true;
  return core;
}

void SharedConnection::Core::check_replicas(Turn turn) {
  const Reply& reply = (*turn.replicas)[0];
  const std::string reason = reply.is_error() ? std::string(reply.text) : "";
  const bool is_confirmed = !reply.is_error() && reply.integer >= options_.synchronous_replicas;
  const auto now = std::chrono::steady_clock::now();
  turn.answered = now;
  unreplicated_.push_back(std::move(turn));
  if (!reason.empty()) return fail_unreplicated(reason);
  if (!is_confirmed) {
    if (!lacks_replicas_since_) {
      lacks_replicas_since_ = now;
      spdlog::warn("Redis at {}: fewer than {} replicas confirm commits, which wait for them", options_.url.address(), options_.synchronous_replicas);
    }
    const auto is_overdue = [&](const Turn& waiting) { return now - waiting.written >= options_.replica_timeout; };
    if (is_overdue(unreplicated_.front())) fail_unreplicated("timeout");
    else ask_replicas_again();
    return;
  }
  if (lacks_replicas_since_) spdlog::info("Redis at {}: enough replicas confirm commits again", options_.url.address());
  lacks_replicas_since_.reset();
  // The confirmation covers everything that this connection wrote before.
  std::deque<Turn> confirmed = std::exchange(unreplicated_, {});
  for (Turn& one : confirmed) {
    if (!master_ || (unproven_.empty() && is_proven(one))) {
      give_replies(one);
      continue;
    }
    unproven_.push_back(std::move(one));
    if (!std::exchange(is_proving_, true)) asio::co_spawn(socket_.get_executor(), prove(shared_from_this(), statistics_.connects), asio::detached);
  }
}

void SharedConnection::Core::fail_unreplicated(std::string_view reason) {
  const sql::SqlError error =
      sql::SqlError(sqlstate::kTransactionResolutionUnknown, "the commit took place, but too few replicas of Redis have confirmed it")
          .detail(fmt::format("{}; redis.synchronous_replicas is {}.", reason, options_.synchronous_replicas))
          .hint("A failover may lose it.");
  for (const Turn& turn : std::exchange(unreplicated_, {})) {
    for (const auto& pending : turn.batches) {
      if (!wrote_nothing(*pending)) {
        pending->fail(error);
        continue;
      }
      pending->replies->set_generation(*generation_);
      pending->finish();
    }
  }
}

void SharedConnection::Core::ask_replicas_again() {
  if (!turns_.empty()) return;  // their WAIT answers for these, too
  replica_timer_.expires_after(kPauseBetweenWaits);
  replica_timer_.async_wait([self = shared_from_this(), connection = statistics_.connects](boost::system::error_code cancelled) {
    if (cancelled || !self->is_connection(connection) || self->unreplicated_.empty() || !self->turns_.empty()) return;
    if (self->writing_) return self->ask_replicas_again();
    Turn turn;
    turn.written = std::chrono::steady_clock::now();
    self->send_turn(std::move(turn));
  });
}

}  // namespace redquel::executor
