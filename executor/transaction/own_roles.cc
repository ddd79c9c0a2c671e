#include "executor/transaction/own_roles.h"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <type_traits>
#include <utility>

#include "executor/transaction/transaction.h"
#include "sql/catalog/role_scope.h"

namespace redquel::executor {

namespace asio = boost::asio;

namespace {

/// Runs all that is given to another executor within a RoleScope. Coroutines of other sessions, which run in between, have executors without.
class RoleScopeExecutor {
 public:
  RoleScopeExecutor(asio::any_io_executor inner, sql::RoleSetPtr roles) : inner_(std::move(inner)), roles_(std::move(roles)) {}

  template <typename Property>
  auto query(const Property& property) const -> decltype(asio::query(std::declval<const asio::any_io_executor&>(), property)) {
    return asio::query(inner_, property);
  }
  template <typename Property>
    requires asio::can_require<asio::any_io_executor, Property>::value
  RoleScopeExecutor require(const Property& property) const {
    return {asio::require(inner_, property), roles_};
  }
  template <typename Property>
    requires asio::can_prefer<asio::any_io_executor, Property>::value
  RoleScopeExecutor prefer(const Property& property) const {
    return {asio::prefer(inner_, property), roles_};
  }
  template <typename Function>
  void execute(Function&& function) const {
    inner_.execute([roles = roles_, function = std::decay_t<Function>(std::forward<Function>(function))]() mutable {
      const sql::RoleScope scope(roles);
      std::move(function)();
    });
  }
  friend bool operator==(const RoleScopeExecutor&, const RoleScopeExecutor&) = default;

 private:
  asio::any_io_executor inner_;
  sql::RoleSetPtr roles_;
};

asio::awaitable<void> run_in_scope(sql::RoleSetPtr roles, asio::awaitable<void> work) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  auto [failure] = co_await asio::co_spawn(RoleScopeExecutor(executor, std::move(roles)), std::move(work), asio::as_tuple(asio::use_awaitable));
  // The end of the inner coroutine may have continued this one within the scope.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await asio::post(executor, asio::use_awaitable);
  co_await asio::this_coro::reset_cancellation_state();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

asio::awaitable<void> with_own_roles(const SessionState& session, asio::awaitable<void> work) {
  const Transaction* transaction = session.transaction.get();
  if (transaction == nullptr || transaction->catalog() == nullptr || !transaction->catalog()->roles()) return work;
  return run_in_scope(transaction->catalog()->roles()->roles, std::move(work));
}

}  // namespace redquel::executor
