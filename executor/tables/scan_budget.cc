#include "executor/tables/scan_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

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

/// Notices of a scan, one each second by the clock, however long its steps take.
class ScanReports : public std::enable_shared_from_this<ScanReports> {
 public:
  ScanReports(asio::any_io_executor executor, std::function<void(const sql::SqlError&)> notice) : timer_(std::move(executor), Clock::now()), notice_(std::move(notice)) {}

  void wait() {
    timer_.expires_at(timer_.expiry() + std::chrono::seconds(1));
    timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& failure) {
      const auto self = weak.lock();  // null once the statement has ended
      if (failure || !self) return;
      self->notice_(sql::SqlError(sqlstate::kSuccessfulCompletion, fmt::format("{} keys scanned", self->keys)));
      self->wait();
    });
  }

  std::uint64_t keys = 0;

 private:
  asio::steady_timer timer_;
  std::function<void(const sql::SqlError&)> notice_;
};

void bound_steps(ExecutionContext& context) {
  OwnKeyspace* const own = context.redis().own_keyspace();
  if (own == nullptr) return;
  constexpr std::size_t kLooksForElement = 4;  // of SINTER and its kin: a look at a member costs less than to send one
  context.limits.chunk_rows = own->share().step();
  // A scan passes its limit by no more than a step.
  constexpr std::size_t kStepsOfLimit = 4;
  if (const std::uint64_t limit = number_of(context, "redquel.max_scanned_keys")) {
    context.limits.chunk_rows = std::min(context.limits.chunk_rows, std::max<std::size_t>(limit / kStepsOfLimit, 1));
  }
  context.limits.set_members = kLooksForElement * context.limits.chunk_rows;
}

asio::awaitable<void> announce_scan(ExecutionContext& context, ScanAnnouncement announcement) {
  constexpr std::chrono::seconds kLong{1};
  if (!context.notice) co_return;
  std::string what = std::move(announcement.what);
  bool is_long = false;
  if (OwnKeyspace* const own = context.redis().own_keyspace()) {
    CommandBatch batch;
    batch.add("DBSIZE");
    const RepliesPtr replies = co_await context.redis().execute(std::move(batch));
    const auto keys = static_cast<std::size_t>(std::max<std::int64_t>(replies->integer(0), 0));
    const std::chrono::duration<double> time = own->share().expected(keys, announcement.commands);
    is_long = time > kLong;
    what += fmt::format(": {} keys, about {}", count_text(keys), duration_text(time.count()));
  }
  if (announcement.only_if_long && !is_long) co_return;
  sql::SqlError notice(sqlstate::kSuccessfulCompletion, std::move(what));
  context.notice(announcement.hint == nullptr ? std::move(notice) : std::move(notice).hint(announcement.hint));
}

asio::awaitable<void> count_scanned_keys(ExecutionContext& context, std::size_t keys, std::string avoided_by) {
  ScanProgress& progress = context.scan_progress;
  if (progress.keys == 0) {
    progress.begun = Clock::now();
    if (context.notice && is_on(context, "redquel.progress")) {
      progress.reports = std::make_shared<ScanReports>(co_await asio::this_coro::executor, context.notice);
      progress.reports->wait();
    }
  }
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
  if (progress.reports) progress.reports->keys = progress.keys;
}

}  // namespace redquel::executor
