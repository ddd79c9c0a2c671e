#pragma once

#include <boost/asio/awaitable.hpp>
#include <span>
#include <vector>

#include "executor/context/execution_context.h"
#include "sql/column.h"
#include "sql/expressions/expression.h"

namespace redquel::executor {

/// Returns true if one of them calls nextval() or a relative of it. Null pointers are allowed.
bool calls_sequences(std::span<const sql::ExpressionPtr> expressions);

/// The next values of a sequence whose counter `client` reaches, by its definition of now: StaleCatalog where the run has another one.
boost::asio::awaitable<std::vector<std::int64_t>> next_values(RedisClient& client, const sql::SequenceDef& sequence, std::size_t count,
                                                              ExecutionContext& context, ExecutionCounters* counters);

/// Evaluates the expressions like `sql::evaluate`, including sequence functions, which ask Redis. Several calls are made row by row, as in
/// PostgreSQL; a single one is made for all rows at once.
boost::asio::awaitable<std::vector<sql::ColumnPtr>> evaluate_with_sequences(std::span<const sql::ExpressionPtr> expressions,
                                                                            const sql::Batch& batch, ExecutionContext& context);

}  // namespace redquel::executor
