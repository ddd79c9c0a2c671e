#pragma once

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "sql/error.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// One batch between execute() and its replies, and the coroutine that waits for it. Shared by the two sides: a
/// cancelled waiter leaves at once, while the connection still has to read what it asked for.
class PendingBatch : public std::enable_shared_from_this<PendingBatch> {
 public:
  explicit PendingBatch(CommandBatch commands) : batch(std::move(commands)) {}

  CommandBatch batch;
  std::shared_ptr<Replies> replies;  // null: not a byte was written
  std::size_t expected_replies = 0;
  std::optional<sql::SqlError> error;
  std::chrono::steady_clock::time_point deadline;  // while there is no connection
  std::uint64_t connection = 0;                    // the number of the connection to which it was written
  bool knows_version = true;                       // false: the catalog's version was refused (MOVED)

  /// Suspends until finish() has been called. Throws system_error(operation_aborted) when the coroutine is cancelled.
  asio::awaitable<void> wait() {
    return asio::async_initiate<const asio::use_awaitable_t<>, void(boost::system::error_code)>(
        [](auto handler, PendingBatch* self) { self->start_waiting(std::move(handler)); }, asio::use_awaitable, this);
  }

  /// Returns true if replies or an error are there: nothing is to be waited for.
  bool is_finished() const { return finished_; }

  /// A waiter is expected, though there is none yet.
  void expect_waiter() { waiter_expected_ = true; }
  void abandon() { waiter_expected_ = false; }
  bool is_abandoned() const { return waiter_ == nullptr && !waiter_expected_; }

  /// Continues the waiter, if it is still there, in a turn of its own of the event loop.
  void finish() { resume({}, When::kLater); }
  /// Continues it before this returns: the caller must be ready for whatever the waiter does.
  void finish_at_once() { resume({}, When::kNow); }
  void fail(sql::SqlError reason) {
    error = std::move(reason);
    resume({}, When::kLater);
  }

 private:
  enum class When : std::uint8_t { kNow, kLater };
  /// A completion handler of any type.
  struct Waiter {
    virtual ~Waiter() = default;
    virtual void resume(boost::system::error_code error, When when) = 0;
  };
  template <typename Handler>
  struct WaiterOf final : Waiter {
    explicit WaiterOf(Handler taken) : handler(std::move(taken)) {}
    void resume(boost::system::error_code error, When when) override {
      asio::get_associated_cancellation_slot(handler).clear();
      const auto executor = asio::get_associated_executor(handler);
      if (when == When::kNow) asio::dispatch(executor, asio::append(std::move(handler), error));
      else asio::post(executor, asio::append(std::move(handler), error));
    }
    Handler handler;
  };

  template <typename Handler>
  void start_waiting(Handler handler) {
    waiter_expected_ = false;
    if (finished_) {
      WaiterOf<Handler>(std::move(handler)).resume({}, When::kLater);
      return;
    }
    auto slot = asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) {
      slot.assign([weak = weak_from_this()](asio::cancellation_type type) {
        const std::shared_ptr<PendingBatch> self = weak.lock();
        if (self && type != asio::cancellation_type::none) self->resume(asio::error::operation_aborted, When::kLater);
      });
    }
    waiter_ = std::make_unique<WaiterOf<Handler>>(std::move(handler));
  }

  void resume(boost::system::error_code error_code, When when) {
    finished_ = true;
    if (const std::unique_ptr<Waiter> waiter = std::exchange(waiter_, nullptr)) waiter->resume(error_code, when);
  }

  std::unique_ptr<Waiter> waiter_;
  bool waiter_expected_ = false, finished_ = false;
};

}  // namespace redquel::executor
