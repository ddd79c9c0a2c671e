// Advisory lock functions (manual 9.27.10). The evaluator takes the locks.

#include <string_view>

#include "sql/functions/lift.h"
#include "sql/functions/sequence_calls.h"

namespace redquel::sql {
namespace {

using Advisory = SequenceCall::Advisory;
using Action = Advisory::Action;

template <Action action, bool shared, bool transaction>
ColumnPtr call_advisory(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  SequenceCall call{.kind = SequenceCall::Kind::kAdvisory, .rows = {}, .advisory = {action, shared, transaction, arguments.size() == 2}};
  std::vector<bool> asked(rows, true);
  for (std::size_t i = 0; i < rows; ++i) {
    for (const ColumnPtr& argument : arguments) asked[i] = asked[i] && !argument->is_null(i);
    if (!asked[i]) continue;
    SequenceCall::Row row;
    if (arguments.size() == 1) row.value = arguments[0]->get<std::int64_t>(i);
    if (arguments.size() == 2) {
      const auto high = static_cast<std::uint32_t>(arguments[0]->get<std::int32_t>(i));
      row.value = static_cast<std::int64_t>((std::uint64_t{high} << 32) | static_cast<std::uint32_t>(arguments[1]->get<std::int32_t>(i)));
    }
    call.rows.push_back(row);
  }
  SequenceCalls::Answer answer;
  if (!call.rows.empty()) answer = ask_evaluator(std::move(call), context);
  auto column = std::make_shared<Column>(result);
  std::size_t next = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    if (!asked[i]) {
      column->append_null();
    } else if (result.oid == oid::kBool) {
      column->append(answer[next++] == std::int64_t{1});
    } else {
      column->append(std::string_view());
      ++next;
    }
  }
  return column;
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
