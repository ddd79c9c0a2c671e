#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <type_traits>
#include <utility>

#include "sql/types/user_types.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Runs all that is given to another executor within a scope of known types (sql/types/user_types.h). A coroutine with this executor has the
/// scope each time that it goes on, and so have the coroutines that it starts. Coroutines of other sessions, which run in between on the same
/// thread, have executors of their own.
template <class Inner>
class KnownTypesExecutor {
 public:
  KnownTypesExecutor(Inner inner, std::shared_ptr<const sql::KnownTypes> known) : inner_(std::move(inner)), known_(std::move(known)) {}

  const Inner& inner() const { return inner_; }

  template <typename Property>
  auto query(const Property& property) const -> decltype(asio::query(std::declval<const Inner&>(), property)) {
    return asio::query(inner_, property);
  }
  template <typename Property>
    requires asio::can_require<Inner, Property>::value
  auto require(const Property& property) const {
    using Required = std::decay_t<decltype(asio::require(inner_, property))>;
    return KnownTypesExecutor<Required>(asio::require(inner_, property), known_);
  }
  template <typename Property>
    requires asio::can_prefer<Inner, Property>::value
  auto prefer(const Property& property) const {
    using Preferred = std::decay_t<decltype(asio::prefer(inner_, property))>;
    return KnownTypesExecutor<Preferred>(asio::prefer(inner_, property), known_);
  }
  template <typename Function>
  void execute(Function&& function) const {
    inner_.execute([known = known_, function = std::decay_t<Function>(std::forward<Function>(function))]() mutable {
      const sql::KnownTypesScope scope(known.get());
      std::move(function)();
    });
  }
  friend bool operator==(const KnownTypesExecutor&, const KnownTypesExecutor&) = default;

 private:
  Inner inner_;
  std::shared_ptr<const sql::KnownTypes> known_;
};

/// Returns the event loop of an executor, seen through known types; null: another executor, a thread pool or the like.
inline asio::io_context* loop_of(const asio::any_io_executor& executor) {
  using Plain = asio::io_context::executor_type;
  if (const auto* plain = executor.target<Plain>()) return &plain->context();
  if (const auto* session = executor.target<KnownTypesExecutor<Plain>>()) return &session->inner().context();
  const auto* within = executor.target<KnownTypesExecutor<asio::any_io_executor>>();
  return within == nullptr ? nullptr : loop_of(within->inner());
}

/// Returns the executor of the event loop, for coroutines that outlive the session which starts them.
inline asio::any_io_executor without_known_types(const asio::any_io_executor& executor) {
  asio::io_context* const loop = loop_of(executor);
  return loop == nullptr ? executor : asio::any_io_executor(loop->get_executor());
}

/// Runs work on the event loop in a coroutine that knows the types which `known` has at each moment.
template <class Result>
asio::awaitable<Result> with_known_types(std::shared_ptr<const sql::KnownTypes> known, asio::awaitable<Result> work) {
  const asio::any_io_executor executor = without_known_types(co_await asio::this_coro::executor);
  co_return co_await asio::co_spawn(KnownTypesExecutor<asio::any_io_executor>(executor, std::move(known)), std::move(work), asio::use_awaitable);
}

}  // namespace redquel::executor
