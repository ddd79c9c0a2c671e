// redis.call(command, VARIADIC arguments): any command of Redis, its reply as jsonb. The evaluator sends the command
// (executor/tables/redis_call.h).

#include "sql/functions/lift.h"
#include "sql/functions/sequence_calls.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// NULL where a word is NULL.
ColumnPtr call_redis(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, const EvaluationContext&) {
  SequenceCall call{.kind = SequenceCall::Kind::kRedis, .rows = {}};
  std::vector<bool> asked(rows, true);
  for (std::size_t i = 0; i < rows; ++i) {
    for (const ColumnPtr& argument : arguments) asked[i] = asked[i] && !argument->is_null(i);
    if (!asked[i]) continue;
    std::vector<std::string> words;
    for (const ColumnPtr& argument : arguments) words.emplace_back(argument->get<std::string_view>(i));
    call.commands.push_back(std::move(words));
  }
  SequenceCalls::Documents documents;
  if (!call.commands.empty()) documents = ask_evaluator_for_documents(std::move(call));
  auto column = std::make_shared<Column>(result);
  std::size_t next = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::optional<std::string> document = asked[i] ? documents.at(next++) : std::nullopt;
    if (document) {
      column->append(std::string_view(*document));
    } else {
      column->append_null();
    }
  }
  return column;
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
