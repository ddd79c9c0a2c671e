#include "executor/context/memory_limit.h"
#include "executor/operators/column_types.h"
#include "executor/operators/key_table.h"
#include "executor/operators/operators.h"
#include "executor/operators/spill_file.h"
#include "executor/runtime/event_loop_turn.h"

namespace redquel::executor {

namespace {

using SetKind = planner::LogicalSetOperation::Kind;

/// The left rows, then the right ones.
class AppendOperator final : public Operator {
 public:
  AppendOperator(const planner::PhysicalSetOperation& plan, ExecutionContext& context)
      : plan_(plan), input_(context.make_operator(*plan.left)), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    while (true) {
      std::optional<sql::Batch> batch = co_await input_->next();
      if (batch || on_the_right_) co_return batch;
      on_the_right_ = true;
      input_ = context_.make_operator(*plan_.right);
    }
  }

 private:
  const planner::PhysicalSetOperation& plan_;
  OperatorPtr input_;
  ExecutionContext& context_;
  bool on_the_right_ = false;
};

/// INTERSECT and EXCEPT [ALL], and EXCEPT whose left rows still come more than once: the right rows are counted, then
/// the left ones are given or not. When the right rows have no room, both inputs are divided by hash.
class CountingOperator final : public Operator {
 public:
  struct Options {
    bool intersects, all;
    std::vector<sql::Type> types;
    unsigned level = 0;  // of division
  };

  CountingOperator(Options options, OperatorPtr left, OperatorPtr right, ExecutionContext& context)
      : options_(std::move(options)),
        left_(std::move(left)),
        right_(std::move(right)),
        context_(context),
        keys_(options_.types, KeyTable::Nulls::kEqual),
        limit_(context, options_.intersects ? "INTERSECT" : "EXCEPT") {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (right_) co_await count_right();
    if (left_parts_) co_return co_await next_of_parts();
    if (options_.intersects && keys_.size() == 0) co_return std::nullopt;
    while (true) {
      if (turn_.is_over()) co_await turn_.yield();
      std::optional<sql::Batch> batch = co_await left_->next();
      if (!batch) co_return std::nullopt;
      const std::vector<RowNumber> rows = select(*batch);
      if (rows.size() == batch->rows) co_return batch;
      if (rows.empty()) continue;
      co_return batch->gather(rows);
    }
  }

 private:
  asio::awaitable<void> count_right() {
    while (true) {
      std::optional<sql::Batch> batch = co_await right_->next();
      if (!batch) break;
      const std::vector<sql::ColumnPtr> keys = decoded(batch->columns);
      if (right_parts_) {
        right_parts_->add_all(keys, *batch);
      } else {
        count(keys, batch->rows);
        if (limit_.is_exceeded(memory())) divide_counted();
      }
      if (turn_.is_over()) co_await turn_.yield();
    }
    right_.reset();
    if (!right_parts_) co_return;
    left_parts_.emplace(options_.types, options_.level, limit_.temporary_space());
    while (true) {
      std::optional<sql::Batch> batch = co_await left_->next();
      if (!batch) break;
      left_parts_->add_all(decoded(batch->columns), *batch);
      if (turn_.is_over()) co_await turn_.yield();
    }
    left_.reset();
  }

  void count(std::span<const sql::ColumnPtr> keys, std::size_t rows) {
    keys_.find_or_add(keys, rows, numbers_);
    counts_.resize(keys_.size());
    for (const RowNumber number : numbers_) ++counts_[number];
  }

  /// Converts counted rows to rows.
  void divide_counted() {
    limit_.check_bound(memory());
    if (options_.level == RowPartitions::kMostLevels) return;
    right_parts_.emplace(options_.types, options_.level, limit_.temporary_space());
    std::vector<RowNumber> rows;
    const auto move_rows = [&] {
      const sql::Batch batch = keys_.keys().gather(rows);
      right_parts_->add_all(batch.columns, batch);
      rows.clear();
    };
    for (std::size_t key = 0; key < counts_.size(); ++key) {
      // Without ALL it only matters whether there is one.
      const std::uint64_t times = options_.all ? counts_[key] : 1;
      for (std::uint64_t i = 0; i < times; ++i) {
        rows.push_back(static_cast<RowNumber>(key));
        if (rows.size() == sql::kBatchRows) move_rows();
      }
    }
    move_rows();
    keys_.clear();
    counts_ = {};
    limit_.release();
  }

  asio::awaitable<std::optional<sql::Batch>> next_of_parts() {
    while (true) {
      if (part_run_) {
        std::optional<sql::Batch> batch = co_await part_run_->next();
        if (batch) co_return batch;
        part_run_.reset();
      }
      if (part_ == RowPartitions::kCount) co_return std::nullopt;
      Options options = options_;
      ++options.level;
      OperatorPtr left = left_parts_->take(part_), right = right_parts_->take(part_);
      ++part_;
      part_run_ = std::make_unique<CountingOperator>(std::move(options), std::move(left), std::move(right), context_);
    }
  }

  std::vector<RowNumber> select(const sql::Batch& batch) {
    keys_.find(decoded(batch.columns), batch.rows, numbers_);
    std::vector<RowNumber> rows;
    for (std::size_t row = 0; row < batch.rows; ++row) {
      if (gives(numbers_[row])) rows.push_back(static_cast<RowNumber>(row));
    }
    return rows;
  }

  bool gives(RowNumber number) {
    if (number == kNoRow) return !options_.intersects;
    std::uint64_t& count = counts_[number];
    if (options_.intersects) {
      if (count == 0) return false;
      count = options_.all ? count - 1 : 0;
      return true;
    }
    if (!options_.all) return false;
    if (count == 0) return true;
    --count;
    return false;
  }

  std::size_t memory() const { return keys_.memory() + counts_.capacity() * sizeof(counts_[0]); }

  Options options_;
  OperatorPtr left_, right_;  // right: null when it has been counted
  ExecutionContext& context_;
  KeyTable keys_;
  std::vector<std::uint64_t> counts_;  // of right rows by key that no left row has used up
  MemoryLimit limit_;
  EventLoopTurn turn_;
  std::vector<RowNumber> numbers_;

  std::optional<RowPartitions> left_parts_, right_parts_;
  std::size_t part_ = 0;
  OperatorPtr part_run_;
};

}  // namespace

OperatorPtr make_set_operation(const planner::PhysicalNode& node, const planner::PhysicalSetOperation& plan,
                               ExecutionContext& context) {
  const std::vector<sql::Type> types = column_types(node);
  if (plan.kind == SetKind::kUnion) {
    OperatorPtr rows = std::make_unique<AppendOperator>(plan, context);
    return plan.all ? std::move(rows) : make_distinct_rows(std::move(rows), types, "UNION", context);
  }
  CountingOperator::Options options{plan.kind == SetKind::kIntersect, plan.all, types};
  OperatorPtr left = context.make_operator(*plan.left), right = context.make_operator(*plan.right);
  OperatorPtr rows =
      std::make_unique<CountingOperator>(std::move(options), std::move(left), std::move(right), context);
  // The result of EXCEPT must be made unique; INTERSECT uses up the right rows.
  if (plan.kind == SetKind::kIntersect || plan.all) return rows;
  return make_distinct_rows(std::move(rows), types, "EXCEPT", context);
}

}  // namespace redquel::executor
