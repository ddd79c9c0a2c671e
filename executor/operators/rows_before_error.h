#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <span>

#include "executor/runtime/row_store.h"
#include "sql/error.h"
#include "sql/expressions/expression.h"

namespace redquel::executor {

/// Evaluates batches as if row by row: where a row fails, those before it come first, and the error after them.
class RowsBeforeError {
 public:
  /// Expressions that must not be evaluated twice fail as a whole batch.
  explicit RowsBeforeError(std::span<const sql::ExpressionPtr> expressions) {
    for (const sql::ExpressionPtr& expression : expressions) is_repeatable_ = is_repeatable_ && !sql::is_volatile(*expression);
  }

  bool is_pending() const { return pending_.has_value(); }
  /// Throws the error of a row whose predecessors have been given.
  void throw_pending() const {
    if (pending_) throw *pending_;
  }

  /// Returns what `evaluate` makes of the batch, or of its rows before the first that fails. Throws if that is the first row.
  template <std::invocable<const sql::Batch&> Evaluate>
  auto operator()(const sql::Batch& batch, const Evaluate& evaluate) {
    try {
      return evaluate(batch);
    } catch (const sql::SqlError& error) {
      if (!is_repeatable_ || batch.rows <= 1 || !is_of_row(error)) throw;
    }
    std::size_t good = 0, bad = batch.rows;  // the first `good` rows are known to succeed, the first `bad` rows to fail
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      (fails(batch.gather(row_range(good, middle - good)), evaluate) ? bad : good) = middle;
    }
    if (good == 0) evaluate(batch.gather(row_range(0, 1)));
    fails(batch.gather(row_range(good, 1)), evaluate);
    return evaluate(batch.gather(row_range(0, good)));
  }

 private:
  /// Returns false for a statement that was cancelled, or has no memory left.
  static bool is_of_row(const sql::SqlError& error) { return !error.sqlstate().starts_with("53") && !error.sqlstate().starts_with("57"); }

  template <class Evaluate>
  bool fails(const sql::Batch& rows, const Evaluate& evaluate) {
    try {
      evaluate(rows);
    } catch (const sql::SqlError& error) {
      if (!is_of_row(error)) throw;
      pending_ = error;
      return true;
    }
    return false;
  }

  bool is_repeatable_ = true;
  std::optional<sql::SqlError> pending_;
};

}  // namespace redquel::executor
