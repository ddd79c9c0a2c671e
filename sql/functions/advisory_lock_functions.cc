// Advisory lock functions (manual 9.27.10). The evaluator takes the locks.

#include <string_view>

#include "sql/functions/lift.h"
#include "sql/functions/deferred_calls.h"

namespace redquel::sql {
namespace {

using Action = AdvisoryRequest::Action;

template <Action action, bool shared, bool transaction>
ColumnPtr call_advisory(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const AskedRows asked(arguments, rows);
  AdvisoryCall call{{action, shared, transaction, arguments.size() == 2}, {}};
  asked.for_each([&](std::size_t row) {
    std::int64_t key = 0;
    if (arguments.size() == 1) key = arguments[0]->get<std::int64_t>(row);
    if (arguments.size() == 2) {
      const auto high = static_cast<std::uint32_t>(arguments[0]->get<std::int32_t>(row));
      key = static_cast<std::int64_t>((std::uint64_t{high} << 32) | static_cast<std::uint32_t>(arguments[1]->get<std::int32_t>(row)));
    }
    call.keys.push_back(key);
  });
  return asked.column(result, asked.ask(std::move(call)), [&](Column& column, bool answer) {
    if (result.oid == oid::kBool) {
      column.append(answer);
    } else {
      column.append(std::string_view());
    }
  });
}

template <Action action, bool shared, bool transaction>
void add(std::vector<ScalarFunction>& functions, std::string_view name, Type result) {
  constexpr auto kKernel = call_advisory<action, shared, transaction>;
  functions.push_back(column_function(name, {kInt8}, result, kKernel, Volatility::kVolatile, true));
  functions.push_back(column_function(name, {kInt4, kInt4}, result, kKernel, Volatility::kVolatile, true));
}

}  // namespace

bool is_advisory_lock_function(const ScalarFunction& function) {
  return function.name.starts_with("pg_advisory_") || function.name.starts_with("pg_try_advisory_");
}

std::vector<ScalarFunction> advisory_lock_functions() {
  std::vector<ScalarFunction> functions;
  add<Action::kLock, false, false>(functions, "pg_advisory_lock", kVoid);
  add<Action::kLock, true, false>(functions, "pg_advisory_lock_shared", kVoid);
  add<Action::kLock, false, true>(functions, "pg_advisory_xact_lock", kVoid);
  add<Action::kLock, true, true>(functions, "pg_advisory_xact_lock_shared", kVoid);
  add<Action::kTry, false, false>(functions, "pg_try_advisory_lock", kBool);
  add<Action::kTry, true, false>(functions, "pg_try_advisory_lock_shared", kBool);
  add<Action::kTry, false, true>(functions, "pg_try_advisory_xact_lock", kBool);
  add<Action::kTry, true, true>(functions, "pg_try_advisory_xact_lock_shared", kBool);
  add<Action::kUnlock, false, false>(functions, "pg_advisory_unlock", kBool);
  add<Action::kUnlock, true, false>(functions, "pg_advisory_unlock_shared", kBool);
  functions.push_back(column_function("pg_advisory_unlock_all", {}, kVoid, call_advisory<Action::kUnlockAll, false, false>,
                                      Volatility::kVolatile, true));
  return functions;
}

}  // namespace redquel::sql
