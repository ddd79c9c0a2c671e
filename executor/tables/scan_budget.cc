#include "executor/tables/scan_budget.h"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <chrono>

#include "executor/context/setting.h"
#include "executor/redis/own_keyspace.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using Clock = std::chrono::steady_clock;

/// Returns the number that a parameter has; 0: none.
std::uint64_t number_of(const ExecutionContext& context, const char* parameter) {
  const sql::EvaluationContext& evaluation = context.evaluation();
  const std::string* value = evaluation.show == nullptr ? nullptr : evaluation.show(evaluation.session, parameter);
  std::uint64_t number = 0;
  if (value != nullptr) std::from_chars(value->data(), value->data() + value->size(), number);
  return number;
}

}  // namespace

void bound_steps(ExecutionContext& context) {
  OwnKeyspace* const own = context.redis().own_keyspace();
  if (own == nullptr) return;
  constexpr std::size_t kLooksForElement = 4;  // of SINTER and its kin: a look at a member costs less than to send one
  context.limits.chunk_rows = own->share().step();
  context.limits.set_members = kLooksForElement * context.limits.chunk_rows;
}

asio::awaitable<void> count_scanned_keys(ExecutionContext& context, std::size_t keys, std::string avoided_by) {
  ScanProgress& progress = context.scan_progress;
  if (progress.keys == 0) progress.begun = progress.reported = Clock::now();
  const std::uint64_t limit = number_of(context, "redquel.max_scanned_keys"), rate = number_of(context, "redquel.max_keys_per_second");
  if (limit != 0 && progress.keys >= limit) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded, fmt::format("the statement has scanned {} keys, more than redquel.max_scanned_keys allows", progress.keys))
        .hint(std::move(avoided_by));
  }
  if (rate != 0) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_at(progress.begun + std::chrono::microseconds(progress.keys * 1'000'000 / rate));
    co_await timer.async_wait(asio::use_awaitable);
  }
  progress.keys += keys;
  const auto now = Clock::now();
  if (now < progress.reported + std::chrono::seconds(1) || !context.notice || !is_on(context, "redquel.progress")) co_return;
  progress.reported = now;
  context.notice(sql::SqlError(sqlstate::kSuccessfulCompletion, fmt::format("{} keys scanned", progress.keys)));
}

}  // namespace redquel::executor
