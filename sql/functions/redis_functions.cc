// redis.call(command, VARIADIC arguments): any command of Redis, its reply as jsonb. The evaluator sends the command
// (executor/tables/redis_call.h).

#include "sql/functions/lift.h"
#include "sql/functions/deferred_calls.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// NULL where a word is NULL.
ColumnPtr call_redis(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  const AskedRows asked(arguments, rows);
  RedisCommands call;
  asked.for_each([&](std::size_t row) {
    std::vector<std::string>& words = call.commands.emplace_back();
    for (const ColumnPtr& argument : arguments) words.emplace_back(argument->get<std::string_view>(row));
  });
  return asked.column(result, asked.ask(std::move(call)), [](Column& column, const std::optional<std::string>& document) {
    if (document) {
      column.append(std::string_view(*document));
    } else {
      column.append_null();
    }
  });
}

}  // namespace

bool is_redis_function(const ScalarFunction& function) { return function.name == "redis.call"; }

std::vector<ScalarFunction> redis_functions() {
  return {
      column_function("redis.call", {kText}, kJsonb, call_redis, Volatility::kVolatile, true, false),
      column_function("redis.call", {kText, kText}, kJsonb, call_redis, Volatility::kVolatile, true, true),
  };
}

}  // namespace redquel::sql
