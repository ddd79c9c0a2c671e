#pragma once

#include <span>

#include "sql/expressions/expression.h"

namespace redquel::executor {

/// Returns true if any thread may compute the expression: it calls immutable built-in functions only, and its types are built in. Others may ask
/// the session, or what belongs to the session's thread.
bool is_thread_safe(const sql::Expression& expression);
/// Null pointers are allowed.
bool are_thread_safe(std::span<const sql::ExpressionPtr> expressions);

}  // namespace redquel::executor
