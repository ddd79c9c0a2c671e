// Transactions of the engine's sessions.

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <limits>
#include <utility>

#include "executor/redis_engine.h"
#include "executor/transaction/clock.h"
#include "executor/transaction/commit.h"

namespace redquel::executor {

void RedisEngine::begin(SessionState& session) {
  session.transaction = std::make_shared<Transaction>(now_microseconds(), shared_.generation());
  session.has_queried = false;
  session.savepoints = 0;
}

asio::awaitable<void> RedisEngine::commit(SessionState& session) {
  const std::shared_ptr<Transaction> transaction = std::move(session.transaction);
  session.transaction.reset();
  // A script that was sent will run: cancellation waits for its outcome.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  WriteOptions options;
  options.max_rows = std::numeric_limits<std::size_t>::max();
  options.settings = session.settings;
  std::exception_ptr failure;
  try {
    sql::CatalogPtr definitions = co_await catalog(session);
    if (transaction->catalog()) definitions = transaction->catalog()->snapshot();
    options.foreign_keys = std::make_shared<ForeignKeyChecks>(std::move(definitions));
    co_await commit_changes(shared_, *transaction, std::move(options), limits_.script_rows);
  } catch (const sql::SqlError& error) {
    failure = std::current_exception();
    if (error.sqlstate() == "08006" && !transaction->buffer().empty()) {
      failure = std::make_exception_ptr(
          sql::SqlError("08007", "the connection to Redis was lost during COMMIT: it is not known whether it took place").detail(error.message()));
    }
  } catch (...) {
    failure = std::current_exception();
  }
  co_await release(*transaction);
  if (failure) std::rethrow_exception(failure);
  if (transaction->catalog()) {
    co_await reload_catalog();
    DdlContext context{shared_, bulk_, session, home_};
    std::optional<sql::SqlError> warning;
    try {
      co_await finish_commit(context, *transaction);
    } catch (const sql::SqlError& error) {
      warning = error;
    }
    if (warning && session.notice) session.notice("WARNING", *warning);
    co_await reload_catalog();
  }
  co_await asio::this_coro::reset_cancellation_state();
}

asio::awaitable<void> RedisEngine::roll_back(SessionState& session) {
  const std::shared_ptr<Transaction> transaction = std::move(session.transaction);
  session.transaction.reset();
  if (!transaction) co_return;
  co_await release(*transaction);
  co_await forget_counters(shared_, *transaction);
}

asio::awaitable<void> RedisEngine::release(Transaction& transaction) {
  if (transaction.locks().token.empty()) co_return;
  lease_.give_back();
  const LockSet locks = std::exchange(transaction.locks(), {});
  try {
    co_await release_locks(shared_, locks);
  } catch (const sql::SqlError&) {
    lease_.renounce();
  }
}

asio::awaitable<void> RedisEngine::prepare_locks(Transaction& transaction) {
  if (!transaction.locks().token.empty()) co_return co_await lease_.hold();
  transaction.locks().token = co_await lease_.take_token();
}

void RedisEngine::set_savepoint(SessionState& session) {
  session.transaction->set_savepoint();
  ++session.savepoints;
}

void RedisEngine::release_savepoint(SessionState& session, std::size_t number) {
  session.transaction->release_savepoint(number);
  session.savepoints = number;
}

asio::awaitable<void> RedisEngine::roll_back_to(SessionState& session, std::size_t number) {
  session.transaction->roll_back_to(number);
  session.savepoints = number + 1;
  co_return;
}

}  // namespace redquel::executor
