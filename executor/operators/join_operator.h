#pragma once

#include <deque>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/context/memory_limit.h"
#include "executor/context/morsels.h"
#include "executor/context/operator.h"
#include "executor/operators/column_types.h"
#include "executor/operators/key_table.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/runtime/kept_rows.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

struct JoinInputs {
  planner::JoinKind kind;
  OperatorPtr left, right;
  std::vector<sql::Type> left_types, right_types;
  sql::ExpressionPtr condition;  // over left then right columns; null: every pair matches
  const char* name;              // for messages: "hash join"
  /// `left` and `right` are the plan's right and left input, and `kind` and `condition` are the plan's: the plan's left input is kept.
  bool is_flipped = false;
};
/// Opens the inputs of a HashJoin or a NestedLoopJoin.
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

/// The part that all joins share. The right input is read and kept. For each batch of the left input the derived class names pairs of rows
/// that may match. This class evaluates the condition over the pairs, marks matches, and adds rows that an outer, semi or anti join gives
/// for (missing) matches. Without a condition the order of the left rows is kept.
class JoinOperator : public Operator, public SharedOperator {
 public:
  asio::awaitable<std::optional<sql::Batch>> next() final;
  asio::awaitable<std::unique_ptr<Morsels>> share(std::size_t workers) final;
  void leave_out(std::size_t column, const KeyFilterPtr& filter) final;

 protected:
  JoinOperator(JoinInputs inputs, ExecutionContext& context);

  /// Parallel row numbers, of the left batch and of the right rows.
  struct Pairs {
    std::vector<RowNumber> left, right;
    void add(std::size_t left_row, std::size_t right_row) {
      left.push_back(static_cast<RowNumber>(left_row));
      right.push_back(static_cast<RowNumber>(right_row));
    }
    /// Adds a pair for each left row that has a right one. The pairs are empty before.
    void add_matches(std::span<const RowNumber> right_rows) {
      left.resize(right_rows.size());
      right.resize(right_rows.size());
      std::size_t count = 0;
      for (std::size_t row = 0; row < right_rows.size(); ++row) {  // without a branch, because nothing predicts which rows match
        left[count] = static_cast<RowNumber>(row);
        right[count] = right_rows[row];
        count += right_rows[row] != kNoRow ? 1 : 0;
      }
      left.resize(count);
      right.resize(count);
    }
    bool is_full() const { return left.size() >= sql::kBatchRows; }
    void clear() {
      left.clear();
      right.clear();
    }
  };

  /// A batch of the left input that is being joined. Each thread has one of its own.
  struct LeftRows {
    std::optional<sql::Batch> batch;
    std::vector<sql::ColumnPtr> decoded;  // parallel to the batch's columns; those the condition reads are decoded
    std::vector<std::uint8_t> matched;    // by row
    std::size_t row = 0, match = 0;       // the next pair: a row, and which of its right rows
    std::vector<RowNumber> numbers;       // of the rows' keys
    KeyTable::Search search;
    Pairs pairs;
    std::deque<sql::Batch> ready;
  };

  /// Takes a batch of the right input; calls `keep_right` for what is needed of it.
  virtual void add_right(const sql::Batch& batch) = 0;
  /// After the last batch of the right input.
  virtual void finish_right() {}
  /// Names rows of the left input that match nothing, where the join gives none of them.
  virtual void narrow_left(Operator&) {}
  /// Nothing on the right can match: inner and semi joins end without reading the left input.
  virtual bool right_is_empty() const = 0;
  /// Begins with a left batch at its first row. Called by several threads, as add_pairs() is.
  virtual void start_left(LeftRows&) const {}
  /// Adds pairs until they are full. False: the left batch has no more.
  virtual bool add_pairs(LeftRows& left) const = 0;
  /// Returns true if any thread may find the right rows of left ones.
  virtual bool is_thread_safe() const { return true; }
  virtual std::size_t memory() const { return right_rows_.memory(); }

  void keep_right(const sql::Batch& batch, std::span<const RowNumber> rows);
  bool is_flipped() const { return is_flipped_; }
  bool keeps_left() const { return kind_ == planner::JoinKind::kLeft || kind_ == planner::JoinKind::kFull; }
  bool keeps_right() const { return kind_ == planner::JoinKind::kRight || kind_ == planner::JoinKind::kFull; }
  /// Only whether a left row has a match matters, not which.
  bool asks_existence() const { return !is_flipped_ && is_semi_or_anti(); }
  /// The right rows that have a match, or those that have none, are what the join gives.
  bool gives_right() const { return is_flipped_ && is_semi_or_anti(); }
  bool has_condition() const { return condition_ != nullptr; }
  /// The pair of a left row with this right row is the left row with NULLs. Only where `keeps_left()`, and in place of
  /// a match.
  RowNumber null_row() const { return null_row_; }
  ExecutionContext& context() const { return context_; }

 private:
  bool is_semi_or_anti() const { return kind_ == planner::JoinKind::kSemi || kind_ == planner::JoinKind::kAnti; }
  /// Left rows without a match are not in the output.
  bool drops_left() const { return kind_ == planner::JoinKind::kInner || kind_ == planner::JoinKind::kSemi || kind_ == planner::JoinKind::kRight || gives_right(); }
  /// A batch in the order of the plan's columns.
  sql::Batch in_order(sql::Batch left, const sql::Batch& right) const;
  asio::awaitable<void> build();
  void take_left(LeftRows& left, sql::Batch batch) const;
  /// Joins the next pairs of the left batch, and leaves it with its last ones.
  void advance(LeftRows& left);
  void join_pairs(LeftRows& left);
  void apply_condition(LeftRows& left) const;
  void finish_left(LeftRows& left) const;
  std::optional<sql::Batch> rest_of_right();
  void give(LeftRows& left, std::span<const RowNumber> rows, sql::Batch right) const;

  class SharedJoin;

  planner::JoinKind kind_;  // with the inputs as they are here
  bool is_flipped_;
  OperatorPtr left_, right_;
  std::vector<sql::Type> left_types_;
  sql::ExpressionPtr condition_;
  std::vector<std::uint32_t> condition_left_, condition_right_;  // columns that the condition reads
  ExecutionContext& context_;
  MemoryLimit limit_;
  EventLoopTurn turn_;

  bool built_ = false, at_end_of_left_ = false;
  KeptRows right_rows_;
  RowNumber null_row_ = kNoRow;
  std::vector<std::uint8_t> matched_right_;
  std::size_t next_of_rest_ = 0;

  LeftRows left_rows_;
};

}  // namespace redquel::executor
