#include "executor/engine/discovery_wait.h"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLook{50};

std::chrono::seconds longest_wait(const SessionState& session) {
  const std::string text = session.show ? session.show("redquel.discovery_wait").value_or("0") : "0";
  std::int64_t seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::chrono::seconds(seconds);
}

}  // namespace

void DiscoveryWait::note_error(const sql::SqlError& error) {
  missing_.reset();
  const bool is_missing = error.sqlstate() == sqlstate::kUndefinedTable || error.sqlstate() == sqlstate::kUndefinedSchema;
  if (own_ != nullptr && is_missing) missing_ = error.message();
}

asio::awaitable<bool> DiscoveryWait::wait(std::string_view version) {
  if (!missing_) co_return false;
  DiscoveryProgress::Figures figures = own_->discovery().figures();
  if (!figures.is_running()) co_return own_->version() != version;
  if (!deadline_) {
    deadline_ = Clock::now() + longest_wait(session_);
    if (session_.notice) {
      const std::string text = fmt::format("{} yet; waiting for the discovery of tables ({})", *missing_, progress_text(figures, Clock::now()));
      session_.notice("NOTICE", sql::SqlError(sqlstate::kSuccessfulCompletion, text).hint("SET redquel.discovery_wait bounds the wait."));
    }
  }
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (Clock::now() < *deadline_ && figures.is_running() && own_->version() == version) {
    timer.expires_after(kLook);
    co_await timer.async_wait(asio::use_awaitable);
    figures = own_->discovery().figures();
  }
  co_return own_->version() != version;
}

}  // namespace redquel::executor
