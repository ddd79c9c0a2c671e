// Commits of the engine's sessions wait for replicas of Redis, as PostgreSQL's wait for synchronous standbys.

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

#include "executor/engine/redis_engine.h"
#include "executor/redis/executor_counts.h"
#include "executor/redis/unreplicated_commits.h"
#include "executor/runtime/failure.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/statistics.h"

namespace redquel::executor {

namespace {

/// Returns true if the session's statement was cancelled, or is past its deadline, while nothing could be cancelled.
bool is_interrupted(std::int32_t process_id) {
  const sql::InterruptScope interrupts(process_id);
  try {
    sql::check_interrupts();
  } catch (const sql::SqlError&) {
    return true;
  }
  return false;
}

/// Shows a session that waits for replicas.
class ShownWait {
 public:
  explicit ShownWait(std::int32_t process_id) : process_id_(process_id) { show(sql::kReplicationWait); }
  ~ShownWait() { show({}); }
  ShownWait(const ShownWait&) = delete;
  ShownWait& operator=(const ShownWait&) = delete;

 private:
  void show(std::string_view event) const {
    if (const auto hook = sql::statistics_hooks().show_wait; hook != nullptr) hook(process_id_, event);
  }
  std::int32_t process_id_;
};

}  // namespace

std::uint64_t RedisEngine::next_commit() const {
  const UnreplicatedCommits* const commits = shared_.unreplicated();
  return commits == nullptr ? 0 : commits->next();
}

void RedisEngine::note_start(const PreparedPlan& plan, SessionState& session) {
  tell_lost_advisory(session);
  const bool may_commit = plan.kind != PreparedPlan::Kind::kQuery || plan.writes;
  if (may_commit && !session.transaction && !session.commits_since) session.commits_since = next_commit();
}

asio::awaitable<std::optional<sql::SqlError>> RedisEngine::wait_for_replicas(SessionState& session, std::uint64_t first) {
  UnreplicatedCommits* const commits = shared_.unreplicated();
  if (commits == nullptr || !commits->has_open(first)) co_return std::nullopt;
  const std::string mode = session.show ? session.show("synchronous_commit").value_or("on") : "on";
  if (mode == "off" || mode == "local") co_return std::nullopt;
  const ShownWait shown(session.backend_pid);
  const auto began = std::chrono::steady_clock::now();
  bool is_cancelled = is_interrupted(session.backend_pid);
  std::optional<sql::SqlError> failure;
  try {
    if (!is_cancelled) co_await commits->confirmed(first);
  } catch (const sql::SqlError& error) {
    failure = error;
  } catch (const boost::system::system_error&) {
    is_cancelled = true;
  }
  counts_of_thread().replica_waits.note(static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count()));
  if (failure) counts_of_thread().replica_failures.add();
  co_await asio::this_coro::reset_cancellation_state();
  if (is_cancelled && session.notice) {
    const auto warning = sql::SqlError(sqlstate::kWarning, "canceling wait for synchronous replication due to user request")
                             .detail("The transaction has already committed locally, but might not have been replicated to the standby.");
    session.notice("WARNING", warning);
  }
  if (failure && failure->sqlstate() != sqlstate::kConnectionFailure) throw sql::SqlError(*failure);
  co_return failure;
}

asio::awaitable<void> RedisEngine::confirm_statement(SessionState& session) {
  const std::optional<std::uint64_t> first = std::exchange(session.commits_since, std::nullopt);
  if (!first) co_return;
  const std::optional<sql::SqlError> lost = co_await wait_for_replicas(session, *first);
  if (!lost) co_return;
  throw sql::SqlError(sqlstate::kTransactionResolutionUnknown,
                      "the connection to Redis was lost before replicas confirmed the statement: it is not known whether its changes are there")
      .detail(lost->message());
}

asio::awaitable<std::exception_ptr> RedisEngine::confirm_commit(SessionState& session, SentCommit commit) {
  std::exception_ptr failure;
  // The tickets are those of all sessions: a connection that others lose says nothing about a commit over several buckets.
  bool is_open = commit.trace.kind == CommitTrace::Kind::kToken || commit.trace.kind == CommitTrace::Kind::kNone;
  while (is_open && !failure) {
    co_await asio::this_coro::reset_cancellation_state();
    const Attempt<std::optional<sql::SqlError>> waited = co_await attempt(wait_for_replicas(session, commit.first_write));
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    failure = waited.failure;
    const std::optional<sql::SqlError> lost = waited.value.value_or(std::nullopt);
    is_open = lost.has_value();
    commit.first_write = next_commit();
    if (is_open) failure = co_await settle_lost_commit(commit, *lost);
  }
  co_return failure;
}

}  // namespace redquel::executor
