#include "executor/context/thread_safety.h"

#include <algorithm>

#include "sql/functions/function.h"

namespace redquel::executor {

namespace {

constexpr sql::Oid kFirstOfUsers = 16384;

template <class Row>
bool is_immutable_row(const Row* row, std::span<const Row> table) {
  return row == nullptr || (row >= table.data() && row < table.data() + table.size() && row->volatility == sql::Volatility::kImmutable);
}

}  // namespace

bool is_thread_safe(const sql::Expression& expression) {
  if (expression.type.oid >= kFirstOfUsers || std::holds_alternative<sql::DomainTest>(expression.node)) return false;
  if (const auto* call = std::get_if<sql::FunctionCall>(&expression.node); call != nullptr && !is_immutable_row(call->function, sql::all_functions())) return false;
  if (const auto* cast = std::get_if<sql::CastCall>(&expression.node)) {
    if (cast->method == sql::CastCall::Method::kInputOutput || !is_immutable_row(cast->function, sql::all_casts())) return false;
  }
  bool is_safe = true;
  sql::for_each_child(expression, [&](const sql::ExpressionPtr& child) { is_safe = is_safe && is_thread_safe(*child); });
  return is_safe;
}

bool are_thread_safe(std::span<const sql::ExpressionPtr> expressions) {
  return std::ranges::all_of(expressions, [](const sql::ExpressionPtr& expression) { return !expression || is_thread_safe(*expression); });
}

}  // namespace redquel::executor
