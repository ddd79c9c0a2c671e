#pragma once

#include <deque>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/context/memory_limit.h"
#include "executor/context/operator.h"
#include "executor/operators/column_types.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/runtime/row_store.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

struct JoinInputs {
  planner::JoinKind kind;
  OperatorPtr left, right;
  std::vector<sql::Type> left_types, right_types;
  sql::ExpressionPtr condition;  // over left then right columns; null: every pair matches
  const char* name;              // for messages: "hash join"
};
/// Of a HashJoin or a NestedLoopJoin.
template <class Plan>
JoinInputs open_join(const Plan& plan, sql::ExpressionPtr condition, const char* name, ExecutionContext& context) {
  return {plan.kind,
          context.make_operator(*plan.left),
          context.make_operator(*plan.right),
          column_types(*plan.left),
          column_types(*plan.right),
          std::move(condition),
          name};
}

/// What all joins in the proxy share: the right input is read and kept, then for each batch of the left one the derived
/// class names pairs of rows that may match. Here the condition is computed over the pairs, matches are noted, and rows
/// that an outer, semi or anti join gives for having (no) match are added. The order of the left rows stays where there
/// is no condition.
class JoinOperator : public Operator {
 public:
  asio::awaitable<std::optional<sql::Batch>> next() final;

 protected:
  JoinOperator(JoinInputs inputs, ExecutionContext& context);

  /// Parallel row numbers, of the left batch and of `right_rows()`.
  struct Pairs {
    std::vector<RowNumber> left, right;
    void add(std::size_t left_row, std::size_t right_row) {
      left.push_back(static_cast<RowNumber>(left_row));
      right.push_back(static_cast<RowNumber>(right_row));
    }
    bool is_full() const { return left.size() >= sql::kBatchRows; }
    void clear() {
      left.clear();
      right.clear();
    }
  };

  /// Takes a batch of the right input; calls `keep_right` for what is needed of it.
  virtual void add_right(const sql::Batch& batch) = 0;
  /// After the last batch of the right input.
  virtual void finish_right() {}
  /// Nothing on the right can match: inner and semi joins end without reading the left input.
  virtual bool right_is_empty() const = 0;
  virtual void start_left(const sql::Batch& batch) = 0;
  /// Adds pairs until they are full. False: the left batch has no more.
  virtual bool add_pairs(Pairs& pairs) = 0;
  virtual std::size_t memory() const { return right_rows_.memory(); }

  void keep_right(const sql::Batch& batch, std::span<const RowNumber> rows);
  const RowStore& right_rows() const { return right_rows_; }
  planner::JoinKind kind() const { return kind_; }
  bool keeps_left() const { return kind_ == planner::JoinKind::kLeft || kind_ == planner::JoinKind::kFull; }
  bool keeps_right() const { return kind_ == planner::JoinKind::kRight || kind_ == planner::JoinKind::kFull; }
  /// Only whether there is a match matters, not which.
  bool asks_existence() const { return kind_ == planner::JoinKind::kSemi || kind_ == planner::JoinKind::kAnti; }
  bool has_condition() const { return condition_ != nullptr; }
  /// The pair of a left row with this right row is the left row with NULLs. Only where `keeps_left()`, and in place of
  /// a match.
  RowNumber null_row() const { return null_row_; }
  bool is_matched(std::size_t left_row) const { return matched_left_[left_row] != 0; }
  ExecutionContext& context() { return context_; }

 private:
  asio::awaitable<void> build();
  void take_left(sql::Batch batch);
  void join_pairs();
  void apply_condition();
  void finish_left();
  std::optional<sql::Batch> unmatched_right();
  void give(std::span<const RowNumber> left_rows, sql::Batch right);

  planner::JoinKind kind_;
  OperatorPtr left_, right_;
  std::vector<sql::Type> left_types_;
  sql::ExpressionPtr condition_;
  std::vector<std::uint32_t> condition_left_, condition_right_;  // columns that the condition reads
  ExecutionContext& context_;
  MemoryLimit limit_;
  EventLoopTurn turn_;

  bool built_ = false, at_end_of_left_ = false;
  RowStore right_rows_;
  RowNumber null_row_ = kNoRow;
  std::vector<std::uint8_t> matched_right_;
  std::size_t next_unmatched_ = 0;

  std::optional<sql::Batch> left_batch_;
  std::vector<sql::ColumnPtr> decoded_left_;  // parallel to the batch's columns; those the condition reads are decoded
  std::vector<std::uint8_t> matched_left_;
  Pairs pairs_;
  std::deque<sql::Batch> ready_;
};

}  // namespace redquel::executor
