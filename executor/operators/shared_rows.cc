#include "executor/operators/shared_rows.h"

#include <algorithm>

#include "executor/context/trigger_call.h"
#include "executor/operators/column_types.h"
#include "executor/operators/operators.h"
#include "executor/runtime/kept_rows.h"
#include "planner/tree/kept_rows.h"
#include "sql/name_errors.h"

namespace redquel::executor {

SharedRows::SharedRows(const planner::PhysicalNode* source, ExecutionContext& context, std::string_view what)
    : source_(source), plan_(source), context_(context), limit_(context, what) {}

OperatorPtr SharedRows::take_run() { return run_ ? std::move(run_) : context_.make_operator(*plan_); }

asio::awaitable<std::optional<sql::Batch>> SharedRows::batch(std::size_t index) {
  while (index >= batches_.size()) {
    if (source_ == nullptr) co_return std::nullopt;
    if (!run_) run_ = context_.make_operator(*source_);
    const std::uint64_t affected = context_.affected_rows;
    std::optional<sql::Batch> next = co_await run_->next();
    context_.affected_rows = affected;  // what a WITH query writes does not count
    if (!next) {
      run_.reset();
      source_ = nullptr;
      co_return std::nullopt;
    }
    if (may_recompute_ && bytes_ + next->memory() > limit_.bytes() / 4) {
      // The scan that asked reads the rest of this run alone.
      is_recomputed_ = true;
      batches_.clear();
      limit_.release();
      co_return next;
    }
    add(*next, column_types(*source_));
  }
  co_return batches_[index];
}

asio::awaitable<void> SharedRows::finish() {
  while (source_ != nullptr) co_await batch(batches_.size());
}

void SharedRows::add(const sql::Batch& batch, const std::vector<sql::Type>& types) {
  const auto has_texts = [](const sql::ColumnPtr& column) {
    return !is_borrowed(*column) && (sql::storage_of(column->type()) == sql::Storage::kText || column->is_encoded());
  };
  if (std::ranges::none_of(batch.columns, has_texts)) {  // nothing else is kept alive by it
    bytes_ += batch.memory();
    limit_.check(bytes_);
    batches_.push_back(batch);
    return;
  }
  RowStore copy(types);
  copy.append_all(batch);
  bytes_ += copy.memory();
  limit_.check(bytes_);
  sql::Batch rows = copy.take();
  rows.rows = batch.rows;
  batches_.push_back(std::move(rows));
}

void SharedRows::take(SharedRows& other) {
  batches_ = std::exchange(other.batches_, {});
  bytes_ = std::exchange(other.bytes_, 0);
  limit_.take_charge(other.limit_);
}

SharedRowsScope::SharedRowsScope(ExecutionContext& context, std::uint32_t number, SharedRows& rows)
    : context_(context), number_(number), previous_(std::exchange(context.shared_rows[number], &rows)) {}

SharedRowsScope::~SharedRowsScope() { context_.shared_rows[number_] = previous_; }

namespace {

/// Offers its source to the scans in its input.
class ShareOperator final : public Operator {
 public:
  ShareOperator(const planner::PhysicalShare& plan, ExecutionContext& context)
      : writes_(planner::main_write(*plan.source) != nullptr),
        rows_(plan.source.get(), context, "WITH query"),
        scope_(context, plan.number, rows_),
        input_(context.make_operator(*plan.input)) {
    if (plan.number >= planner::kFirstKeptRows) rows_.allow_recomputation();
  }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    std::optional<sql::Batch> batch = co_await input_->next();
    // A writing query runs to its end, whether its rows are read or not.
    if (!batch && writes_) co_await rows_.finish();
    co_return batch;
  }

 private:
  const bool writes_;
  SharedRows rows_;
  SharedRowsScope scope_;
  OperatorPtr input_;
};

/// Returns the columns at these positions.
sql::Batch picked(const sql::Batch& batch, const std::vector<std::size_t>& positions) {
  sql::Batch result;
  result.rows = batch.rows;
  result.columns.reserve(positions.size());
  for (const std::size_t position : positions) result.columns.push_back(batch.columns[position]);
  return result;
}

class SharedScanOperator final : public Operator {
 public:
  SharedScanOperator(const planner::PhysicalSharedScan& plan, ExecutionContext& context)
      : plan_(plan), rows_(*context.shared_rows.at(plan.number)) {}

  /// Asked again after the end it begins anew, with the rows that are there then.
  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (const sql::Batch* kept = rows_.kept(next_)) {
      ++next_;
      co_return picked(*kept, plan_.positions);
    }
    const std::optional<sql::Batch> batch = co_await next_of_source();
    if (!batch) {
      run_.reset();
      next_ = 0;
      co_return std::nullopt;
    }
    co_return picked(*batch, plan_.positions);
  }

 private:
  asio::awaitable<std::optional<sql::Batch>> next_of_source() {
    if (!run_ && rows_.is_recomputed()) run_ = rows_.take_run();
    if (run_) co_return co_await run_->next();
    co_return co_await rows_.batch(next_++);
  }

  const planner::PhysicalSharedScan& plan_;
  SharedRows& rows_;
  std::size_t next_ = 0;  // batch
  OperatorPtr run_;       // of the scan's own, where rows are not kept
};

/// Gives the rows of a transition table. Asked again after the end it begins anew.
class TransitionScanOperator final : public Operator {
 public:
  TransitionScanOperator(const planner::PhysicalSharedScan& plan, const ExecutionContext& context) : plan_(plan), tables_(context.transition_tables) {
    if (!tables_) throw sql::undefined_relation(plan.name);
  }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const std::vector<sql::Batch>& batches = plan_.number == planner::kOldTableRows ? tables_->old_rows : tables_->new_rows;
    if (next_ == batches.size()) {
      next_ = 0;
      co_return std::nullopt;
    }
    co_return picked(batches[next_++], plan_.positions);
  }

 private:
  const planner::PhysicalSharedScan& plan_;
  const std::shared_ptr<const TransitionTables> tables_;
  std::size_t next_ = 0;  // batch
};

}  // namespace

OperatorPtr make_share(const planner::PhysicalNode&, const planner::PhysicalShare& plan, ExecutionContext& context) {
  return std::make_unique<ShareOperator>(plan, context);
}

OperatorPtr make_shared_scan(const planner::PhysicalNode&, const planner::PhysicalSharedScan& plan, ExecutionContext& context) {
  if (planner::is_transition_table(plan.number)) return std::make_unique<TransitionScanOperator>(plan, context);
  return std::make_unique<SharedScanOperator>(plan, context);
}

}  // namespace redquel::executor
