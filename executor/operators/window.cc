#include <algorithm>
#include <deque>

#include "executor/context/memory_limit.h"
#include "executor/operators/column_types.h"
#include "executor/operators/expression_list.h"
#include "executor/operators/key_view.h"
#include "executor/operators/operators.h"
#include "executor/operators/window_call.h"

namespace redquel::executor {

namespace {

std::vector<sql::ExpressionPtr> keys_of(const planner::PhysicalWindow& plan) {
  std::vector<sql::ExpressionPtr> keys = plan.partition_by;
  for (const planner::SortKey& key : plan.order_by) keys.push_back(key.expression);
  return keys;
}

/// Collects whole partitions of the sorted input, about a batch at least, and computes the functions slice by slice.
class WindowOperator final : public Operator {
 public:
  WindowOperator(const planner::PhysicalNode& node, const planner::PhysicalWindow& plan, ExecutionContext& context)
      : node_(node),
        plan_(plan),
        keys_(keys_of(plan)),
        input_(context.make_operator(*plan.input)),
        context_(context),
        store_(column_types(*plan.input)),
        limit_(context, "window") {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!started_) {
      started_ = true;
      for (const planner::WindowCall& call : plan_.functions)
        offsets_.push_back(evaluate_offsets(call.frame, context_.evaluation()));
    }
    if (given_ == section_.rows.rows) {
      co_await collect();
      if (section_.rows.rows == 0) co_return std::nullopt;
    }
    const std::size_t count = std::min(sql::kBatchRows, section_.rows.rows - given_);
    const std::vector<RowNumber> rows = row_range(given_, count);
    sql::Batch batch = count == section_.rows.rows ? section_.rows : section_.rows.gather(rows);
    for (const std::unique_ptr<WindowCallRun>& run : runs_) {
      sql::ColumnPtr values = co_await run->next(count, turn_);
      batch.columns.push_back(std::move(values));
    }
    given_ += count;
    if (turn_.is_over()) co_await turn_.yield();
    co_return batch;
  }

 private:
  /// Reads until a partition ends after enough rows; what belongs to the next one stays for the next call.
  asio::awaitable<void> collect() {
    runs_.clear();
    section_ = {};
    given_ = 0;
    partitions_.clear();
    peers_.clear();
    if (pending_) {
      sql::Batch rest = *std::move(pending_);
      pending_.reset();
      if (add(rest, pending_from_)) co_return finish();
    }
    while (input_) {
      std::optional<sql::Batch> batch = co_await input_->next();
      if (!batch) {
        input_.reset();
        break;
      }
      if (add(*batch, 0)) break;
      limit_.check(store_.memory());
      if (turn_.is_over()) co_await turn_.yield();
    }
    finish();
  }

  /// Takes the batch's rows from `from` on. True: the section is complete.
  bool add(const sql::Batch& batch, std::size_t from) {
    std::vector<sql::ColumnPtr> keys = keys_.evaluate(batch, context_.evaluation());
    const KeyViews views = views_of(keys);
    const std::size_t partition_keys = plan_.partition_by.size();
    std::size_t end = batch.rows;
    for (std::size_t row = from; row < batch.rows; ++row) {
      const auto number = static_cast<RowNumber>(store_.rows() + row - from);
      const std::size_t equal = number == 0 ? 0 : equal_keys(keys, views, row);
      if (number == 0 || equal < partition_keys) {
        if (number >= sql::kBatchRows) {
          end = row;
          break;
        }
        partitions_.push_back(number);
        peers_.push_back(number);
      } else if (equal < views.size()) {
        peers_.push_back(number);
      }
    }
    const std::vector<RowNumber> rows = row_range(from, end - from);
    store_.append(batch.columns, rows);
    if (end > 0) last_row_ = end - 1;
    last_keys_ = std::move(keys);
    if (end == batch.rows) return false;
    pending_ = batch;
    pending_from_ = end;
    return true;
  }

  /// Returns how many leading keys equal those of the row before.
  std::size_t equal_keys(const std::vector<sql::ColumnPtr>& keys, const KeyViews& views, std::size_t row) const {
    if (row == 0) return count_equal(views_of(last_keys_), last_row_, views_of(keys), 0);
    return count_equal(views, row - 1, views, row);
  }
  static std::size_t count_equal(const KeyViews& a, std::size_t row_a, const KeyViews& b, std::size_t row_b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool null_a = a[i].is_null(row_a), null_b = b[i].is_null(row_b);
      if (null_a || null_b ? null_a != null_b : !equal_values(a[i], row_a, b[i], row_b)) return i;
    }
    return a.size();
  }

  void finish() {
    section_.rows = store_.take();
    const auto count = static_cast<RowNumber>(section_.rows.rows);
    if (count == 0) return;
    partitions_.push_back(count);
    peers_.push_back(count);
    section_.partitions = std::move(partitions_);
    section_.peers = std::move(peers_);
    const std::size_t first = node_.columns.size() - plan_.functions.size();
    for (std::size_t i = 0; i < plan_.functions.size(); ++i) {
      const WindowCallContext call = {plan_.functions[i], node_.columns[first + i].type, offsets_[i],
                                      plan_.order_by.empty() ? nullptr : &plan_.order_by[0], context_.evaluation()};
      runs_.push_back(call.call.function != nullptr ? make_window_function(call, section_)
                                                    : make_window_aggregate(call, section_));
    }
  }

  const planner::PhysicalNode& node_;
  const planner::PhysicalWindow& plan_;
  ExpressionList keys_;  // of the partitions, then of the order
  OperatorPtr input_;    // null when it has been read
  ExecutionContext& context_;
  bool started_ = false;
  std::vector<FrameOffsets> offsets_;  // parallel to the functions

  RowStore store_;  // rows of the section that is being collected, and where its partitions and peers begin
  std::vector<RowNumber> partitions_, peers_;
  std::vector<sql::ColumnPtr> last_keys_;  // of the batch read last, whose row last_row_ is the newest in the store
  std::size_t last_row_ = 0;
  std::optional<sql::Batch> pending_;  // its rows from pending_from_ on begin the next section
  std::size_t pending_from_ = 0;

  WindowSection section_;
  std::vector<std::unique_ptr<WindowCallRun>> runs_;
  std::size_t given_ = 0;  // rows of the section
  MemoryLimit limit_;
  EventLoopTurn turn_;
};

}  // namespace

OperatorPtr make_window(const planner::PhysicalNode& node, const planner::PhysicalWindow& plan, ExecutionContext& context) {
  return std::make_unique<WindowOperator>(node, plan, context);
}

}  // namespace redquel::executor
