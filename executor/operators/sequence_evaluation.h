#pragma once

#include <boost/asio/awaitable.hpp>
#include <span>
#include <vector>

#include "executor/execution_context.h"
#include "sql/column.h"
#include "sql/expressions/expression.h"

namespace redquel::executor {

/// Is there a call of nextval() or its like in one of them? Null pointers are allowed.
bool calls_sequences(std::span<const sql::ExpressionPtr> expressions);

/// What `sql::evaluate` gives for each expression, sequence functions included: they ask Redis. Several calls are made row by
/// row, as PostgreSQL does; a single one is made for all rows at once.
boost::asio::awaitable<std::vector<sql::ColumnPtr>> evaluate_with_sequences(std::span<const sql::ExpressionPtr> expressions,
                                                                            const sql::Batch& batch, ExecutionContext& context);

}  // namespace redquel::executor
