#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <optional>
#include <utility>

namespace redquel::executor {

namespace asio = boost::asio;

/// Awaits the work and gives the exception that it threw; null: none. A `catch` cannot await.
inline asio::awaitable<std::exception_ptr> failure_of(asio::awaitable<void> work) {
  std::exception_ptr failure;
  try {
    co_await std::move(work);
  } catch (...) {
    failure = std::current_exception();
  }
  co_return failure;
}

/// A value, or the exception that the work threw instead.
template <class T>
struct Attempt {
  std::optional<T> value;
  std::exception_ptr failure;
};

template <class T>
asio::awaitable<Attempt<T>> attempt(asio::awaitable<T> work) {
  Attempt<T> attempted;
  try {
    attempted.value.emplace(co_await std::move(work));
  } catch (...) {
    attempted.failure = std::current_exception();
  }
  co_return attempted;
}

/// Awaits the work. If it fails, awaits what `undo` gives, also after a cancellation, and throws the failure.
template <class Undo>
asio::awaitable<void> run_or_undo(asio::awaitable<void> work, Undo undo) {
  const std::exception_ptr failure = co_await failure_of(std::move(work));
  if (!failure) co_return;
  co_await asio::this_coro::reset_cancellation_state();  // nothing could be awaited after a cancellation
  co_await undo();
  std::rethrow_exception(failure);
}

}  // namespace redquel::executor
