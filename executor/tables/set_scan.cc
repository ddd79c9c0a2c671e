#include <algorithm>
#include <deque>
#include <unordered_set>

#include "executor/tables/key_values.h"
#include "executor/tables/set_program.h"
#include "executor/tables/source_operator.h"

namespace redquel::executor {

namespace {

using Kind = planner::SetExpression::Kind;

/// Rows of a set expression. Small results come from one script; a set that would hold Redis too long is walked by SSCAN, the
/// other sets asked about its members, a thousand at a time.
class SetScanOperator final : public SourceOperator {
 public:
  SetScanOperator(const planner::PhysicalNode& node, const planner::SetScan& scan, ExecutionContext& context)
      : SourceOperator(node, scan.read, context), scan_(scan) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!started_) {
      started_ = true;
      sets_ = evaluate_sets(scan_.sets, reader_.table(), context_.evaluation());
      if (!sets_) co_return std::nullopt;
      sql::Batch batch = co_await run_script();
      if (batch.rows > 0) co_return batch;
    }
    while (true) {
      if (!waiting_.empty()) {
        std::size_t count = std::min(waiting_.size(), context_.limits.chunk_rows);
        auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
        std::vector<std::string> members(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
        waiting_.erase(waiting_.begin(), end);
        sql::Batch batch = co_await fetch(std::move(members));
        if (batch.rows > 0) co_return batch;
      } else if (driver_ < drivers_.size()) {
        co_await scan_driver();
      } else {
        co_return std::nullopt;
      }
    }
  }

 private:
  asio::awaitable<sql::Batch> run_script() {
    context_.note_read(reader_.table());
    std::size_t rows = context_.limits.script_rows;
    auto wanted = evaluate_goal(scan_.goal.limit, scan_.goal.offset, context_.evaluation()).wanted();
    if (wanted) rows = std::clamp<std::size_t>(*wanted + *wanted / 8, 1, rows);
    CommandBatch batch;
    SetProgram program = to_program(*sets_);
    append_rows_of_sets(batch, program, row_arguments(reader_), context_.limits.set_members, rows);
    RepliesPtr replies = co_await context_.ask_script(ReadScripts::rows_of_sets(), std::move(batch), counters());
    auto parts = (*replies)[0].children();
    if (parts.size() != 3) {
      choose_drivers(*sets_);
      context_.note_turns(reader_.table());
      co_return sql::Batch{};
    }
    auto values = parts[1].children();
    std::size_t width = 1 + reader_.fields().size();
    for (std::size_t i = 0; i + width <= values.size(); i += width) reader_.add(values[i].text, values.subspan(i + 1, width - 1));
    for (const Reply& member : parts[2].children()) waiting_.emplace_back(member.text);
    reader_.keep_alive(replies);
    co_return take();
  }

  /// Leaf sets that together hold every member of the result. Of an intersection any operand would do.
  void choose_drivers(const EvaluatedSets& sets) {
    if (sets.is_leaf()) {
      drivers_.push_back(sets.key);
    } else if (sets.kind == Kind::kUnion) {
      for (const EvaluatedSets& operand : sets.operands) choose_drivers(operand);
    } else {
      choose_drivers(sets.operands[0]);
    }
  }

  /// One step of SSCAN; members that the other sets rule out are left out.
  asio::awaitable<void> scan_driver() {
    if (cursor_ == "0" && !scanning_ && driver_ == 0) co_await order_operands();
    scanning_ = true;
    CommandBatch batch;
    batch.add("SSCAN", drivers_[driver_], cursor_, "COUNT", context_.limits.chunk_rows);
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    auto parts = replies->array(0);
    if (parts.size() != 2) throw sql::SqlError("XX000", "unexpected reply of SSCAN");
    cursor_ = std::string(parts[0].text);
    std::vector<std::string> members;
    for (const Reply& member : parts[1].children()) {
      if (seen_.emplace(member.text).second) members.emplace_back(member.text);
    }
    if (cursor_ == "0") {
      ++driver_;
      scanning_ = false;
    }
    if (members.empty()) co_return;
    std::vector<char> inside = co_await contains(*sets_, members);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (inside[i]) waiting_.push_back(std::move(members[i]));
    }
  }

  /// Puts the smallest operand of an intersection first, where SSCAN will walk it.
  asio::awaitable<void> order_operands() {
    if (sets_->kind != Kind::kIntersection || sets_->is_leaf()) co_return;
    CommandBatch batch;
    std::vector<std::size_t> leaf_operands;
    for (std::size_t i = 0; i < sets_->operands.size(); ++i) {
      if (!sets_->operands[i].is_leaf()) continue;
      leaf_operands.push_back(i);
      batch.add("SCARD", sets_->operands[i].key);
    }
    if (leaf_operands.empty()) co_return;
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    std::size_t smallest = 0;
    for (std::size_t i = 1; i < leaf_operands.size(); ++i) {
      if (replies->integer(i) < replies->integer(smallest)) smallest = i;
    }
    std::swap(sets_->operands[0], sets_->operands[leaf_operands[smallest]]);
    drivers_.clear();
    choose_drivers(*sets_);
  }

  asio::awaitable<std::vector<char>> contains(const EvaluatedSets& sets, const std::vector<std::string>& members) {
    SetProgram program = to_program(sets);
    CommandBatch batch;
    for (const std::string& key : program.keys) batch.add("SMISMEMBER", key, members);
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    std::size_t next = 0;
    co_return combine(sets, *replies, next, members.size());
  }

  static std::vector<char> combine(const EvaluatedSets& sets, const Replies& replies, std::size_t& next, std::size_t count) {
    std::vector<char> result(count);
    if (sets.is_leaf()) {
      auto flags = replies.array(next++);
      for (std::size_t i = 0; i < count && i < flags.size(); ++i) result[i] = flags[i].integer != 0;
      return result;
    }
    result = combine(sets.operands[0], replies, next, count);
    for (std::size_t j = 1; j < sets.operands.size(); ++j) {
      std::vector<char> other = combine(sets.operands[j], replies, next, count);
      for (std::size_t i = 0; i < count; ++i) {
        if (sets.kind == Kind::kUnion) result[i] |= other[i];
        else if (sets.kind == Kind::kIntersection) result[i] &= other[i];
        else if (other[i]) result[i] = 0;
      }
    }
    return result;
  }

  const planner::SetScan& scan_;
  bool started_ = false;
  std::optional<EvaluatedSets> sets_;
  std::deque<std::string> waiting_;  // members whose rows are still to be fetched
  std::vector<std::string> drivers_;
  std::size_t driver_ = 0;
  std::string cursor_ = "0";
  bool scanning_ = false;
  std::unordered_set<std::string> seen_;  // SSCAN may repeat members; unions do
};

}  // namespace

OperatorPtr make_set_scan(const planner::PhysicalNode& node, const planner::SetScan& scan, ExecutionContext& context) {
  return std::make_unique<SetScanOperator>(node, scan, context);
}

}  // namespace redquel::executor
