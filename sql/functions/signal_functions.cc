// pg_cancel_backend and pg_terminate_backend (manual 9.27.2). Sessions of other processes are signalled by the executor.

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sql/catalog/role_set.h"
#include "sql/connection_hooks.h"
#include "sql/error.h"
#include "sql/functions/lift.h"
#include "sql/functions/deferred_calls.h"
#include "sql/functions/signal_rights.h"
#include "sql/sqlstate.h"
#include "sql/statistics.h"

namespace redquel::sql {
namespace {

constexpr Oid kSignalBackend = 4200;

/// Returns the role of a session of this process; nullopt: there is no such session that has logged in.
std::optional<Oid> role_of_session(std::int32_t process_id) {
  if (statistics_hooks().sessions == nullptr) return std::nullopt;
  for (const SessionStatistics& one : statistics_hooks().sessions()) {
    if (one.process_id == process_id) return one.role;
  }
  return std::nullopt;
}

bool signal_here(std::int32_t process_id, bool ends_session, const EvaluationContext& context) {
  const ConnectionHooks& server = connection_hooks();
  if (server.signal == nullptr) throw not_supported("a function about connections outside of a server's session");
  const bool is_own = process_id == context.backend_pid;
  const std::optional<Oid> role = role_of_session(process_id);
  if (role && !is_own) check_may_signal(context, *role, ends_session);
  const RoleDef* const current = known_roles()->find(context.user);
  if (!role && (current == nullptr || !current->superuser)) return false;  // a session has no role before its login
  if (is_own && !ends_session) throw SqlError(sqlstate::kQueryCanceled, "canceling statement due to user request");
  const bool is_there = server.signal(process_id, ends_session);
  if (is_own) throw SqlError(sqlstate::kAdminShutdown, "terminating connection due to administrator command");
  return is_there;
}

/// The session is not waited for, whatever the timeout: it ends as soon as its statement does.
template <bool ends_session>
ColumnPtr signal_sessions(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  SessionSignals elsewhere{{}, ends_session};
  std::vector<bool> is_given(rows, true), is_elsewhere(rows, false);
  for (std::size_t i = 0; i < rows; ++i) {
    for (const ColumnPtr& argument : arguments) is_given[i] = is_given[i] && !argument->is_null(i);
    if (!is_given[i]) continue;
    if (arguments.size() > 1 && arguments[1]->get<std::int64_t>(i) < 0) {
      throw SqlError(sqlstate::kNumericValueOutOfRange, "\"timeout\" must not be negative");
    }
    const auto process_id = arguments[0]->get<std::int32_t>(i);
    is_elsewhere[i] = process_id > 0 && process_id / kSessionsOfProcess != context.backend_pid / kSessionsOfProcess;
    if (is_elsewhere[i]) elsewhere.process_ids.push_back(process_id);
  }
  SessionSignals::Answer answer;
  if (!elsewhere.process_ids.empty()) answer = ask_evaluator(std::move(elsewhere));
  auto column = std::make_shared<Column>(result);
  std::size_t next = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (!is_given[i]) column->append_null();
    else if (is_elsewhere[i]) column->append(bool{answer[next++]});
    else column->append(signal_here(arguments[0]->get<std::int32_t>(i), ends_session, context));
  }
  return column;
}

}  // namespace

void check_may_signal(const EvaluationContext& context, Oid role, bool ends_session) {
  const RoleSet& roles = *known_roles();
  const RoleDef* const current = roles.find(context.user);
  if (current != nullptr && current->superuser) return;
  if (roles.is_superuser(role)) {
    throw SqlError(sqlstate::kInsufficientPrivilege,
                   ends_session ? "must be a superuser to terminate superuser process" : "must be a superuser to cancel superuser query");
  }
  const bool may = current != nullptr && (roles.has_privileges_of(current->oid, role, context.database) ||
                                          roles.has_privileges_of(current->oid, kSignalBackend, context.database));
  if (may) return;
  throw SqlError(sqlstate::kInsufficientPrivilege,
                 fmt::format("must be a member of the role whose {} or member of pg_signal_backend",
                             ends_session ? "process is being terminated" : "query is being canceled"));
}

bool is_signal_function(const ScalarFunction& function) {
  return function.kernel == static_cast<Kernel>(signal_sessions<false>) || function.kernel == static_cast<Kernel>(signal_sessions<true>);
}

std::vector<ScalarFunction> signal_functions() {
  constexpr Volatility kVolatile = Volatility::kVolatile;
  return {
      column_function("pg_cancel_backend", {kInt4}, kBool, signal_sessions<false>, kVolatile, true),
      column_function("pg_terminate_backend", {kInt4}, kBool, signal_sessions<true>, kVolatile, true),
      column_function("pg_terminate_backend", {kInt4, kInt8}, kBool, signal_sessions<true>, kVolatile, true),
  };
}

}  // namespace redquel::sql
