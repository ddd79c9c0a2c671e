#pragma once

#include <optional>
#include <vector>

#include "executor/operators/expression_list.h"
#include "executor/operators/key_table.h"
#include "planner/tree/physical_plan.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// The three-valued result of op ANY or op ALL while the subquery's rows pass by.
class QuantifiedTest {
 public:
  explicit QuantifiedTest(bool all) : all_(all) {}

  /// A column of comparisons.
  void add(const sql::Column& comparisons);
  /// Further rows change nothing.
  bool is_decided() const { return decided_; }
  /// monostate: NULL.
  sql::Datum result() const {
    if (decided_) return !all_;
    return seen_null_ ? sql::Datum() : sql::Datum(all_);
  }

 private:
  bool all_;
  bool decided_ = false, seen_null_ = false;
};

/// The rows of a subquery as a hash table, for tests by equality: (a, b) IN (…), a <> ALL (…).
class SubquerySet {
 public:
  /// Matches a comparison over input then subquery columns; nullopt unless it consists of equalities between the two.
  static std::optional<SubquerySet> match(const planner::PhysicalApply& plan, const sql::EvaluationContext& context);

  /// Takes a batch of the subquery.
  void add(const sql::Batch& batch, const sql::EvaluationContext& context);
  /// One boolean per row of the input.
  sql::ColumnPtr test(const sql::Batch& input, const sql::EvaluationContext& context);
  std::size_t memory() const { return table_.memory() + with_nulls_.memory(); }

 private:
  SubquerySet(std::vector<sql::ExpressionPtr> input, std::vector<sql::ExpressionPtr> subquery, bool negated);
  /// Returns true if a row without an equal one may, for its NULLs or those of the subquery's rows, equal one.
  bool may_equal(const KeyViews& keys, std::size_t row) const;

  ExpressionList input_keys_, subquery_keys_;
  bool negated_;
  KeyTable table_;       // rows without NULL
  KeyTable with_nulls_;  // the others
  std::vector<RowNumber> numbers_;
};

}  // namespace redquel::executor
