#include <algorithm>
#include <deque>
#include <unordered_set>

#include "executor/scripts/scripts.h"
#include "executor/tables/key_values.h"
#include "executor/tables/score_range.h"
#include "executor/tables/set_program.h"
#include "executor/tables/small_sets.h"
#include "executor/tables/source_operator.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using Kind = planner::SetExpression::Kind;

/// Rows of a set expression. Small results come from one script; a set that would hold Redis too long is walked by SSCAN, the
/// other sets asked about its members, a thousand at a time.
class SetScanOperator final : public SourceOperator {
 public:
  SetScanOperator(const planner::PhysicalNode& node, const planner::SetScan& scan, ExecutionContext& context)
      : SourceOperator(node, scan.read, context), node_(node), scan_(scan), whole_{.read = scan.read} {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!started_) {
      started_ = true;
      sets_ = evaluate_sets(scan_.sets, reader_.table(), context_.evaluation());
      if (!sets_) co_return std::nullopt;
      if (may_be_small()) {
        std::optional<sql::Batch> batch = co_await read_small();
        if (batch && batch->rows > 0) co_return batch;
        if (batch) co_return std::nullopt;
      }
      if (scan_.first) {
        std::optional<sql::Batch> batch = co_await read_first();
        if (batch && batch->rows > 0) co_return batch;
        if (batch) co_return std::nullopt;
      }
      sql::Batch batch = co_await run_script(true);
      if (batch.rows > 0) co_return batch;
    }
    if (walk_) co_return co_await walk_->next();
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
  /// Returns true if two plain commands may be cheaper than a script: they are the same for each of many runs and leave together, or the script looks
  /// for first rows. A set that was large a moment ago is not counted first.
  bool may_be_small() const {
    if (!sets_->is_leaf() || sets_->kind != Kind::kSet || !may_sort_sets(reader_)) return false;
    return context_.runs_together || (scan_.first && !context_.is_known_cheap(&scan_.first));
  }

  /// All rows of the set; nullopt: it is not small, or the login has no right to SORT … GET.
  asio::awaitable<std::optional<sql::Batch>> read_small() {
    context_.note_read(reader_.table());
    CommandBatch size;
    size.add("SCARD", sets_->key);
    const RepliesPtr counted = co_await context_.ask(std::move(size), counters());
    if (counted->integer(0) > kSmallSet) {
      if (!context_.runs_together) context_.remember_cheap(&scan_.first);
      co_return std::nullopt;
    }
    if (counted->integer(0) == 0) co_return sql::Batch{};
    CommandBatch batch;
    append_sorted_set(batch, reader_, sets_->key, sets_->ends);
    const RepliesPtr replies = co_await context_.ask_unchecked(std::move(batch), false, counters());
    if (!add_sorted_set(reader_, replies, 0, sets_->ends)) co_return std::nullopt;
    reader_.keep_alive(replies);
    co_return take();
  }

  /// The rows that come first in an index's order; nullopt: not known, or some of them did not satisfy the condition.
  asio::awaitable<std::optional<sql::Batch>> read_first() {
    const auto wanted = evaluate_goal(scan_.goal.limit, scan_.goal.offset, context_.evaluation()).wanted();
    if (!wanted || *wanted == 0 || *wanted > context_.limits.script_rows / 2) co_return std::nullopt;
    const planner::SetScan::First& first = *scan_.first;
    const planner::OrderedSource source = *planner::ordered_source(reader_.table(), first.column);
    std::optional<ZsetRange> range = evaluate_range(*scan_.read.table, source, first.column, first.lower, first.upper, context_.evaluation());
    if (!range) co_return sql::Batch{};
    const bool is_bounded = first.lower || first.upper;
    FirstRows rows{source.key, std::move(*range), source.encoding == planner::OrderedSource::Encoding::kMember, 0, first.ties, {}, false};
    rows.range.descending = first.descending;
    // At the end of a range there may be rows that a stricter condition leaves out.
    rows.wanted = *wanted + (is_bounded ? 20 : 0);
    if (first.nulls != planner::SetScan::First::Nulls::kNone) rows.null_set = reader_.keys().null_set(first.column);
    rows.nulls_first = first.nulls == planner::SetScan::First::Nulls::kFirst;

    context_.note_read(reader_.table());
    CommandBatch batch;
    append_first_rows_of_sets(batch, to_program(*sets_), rows, row_arguments(reader_), context_.limits.set_members,
                              context_.limits.script_rows);
    RepliesPtr replies = co_await context_.ask_script(kFirstRowsOfSetsScript, std::move(batch), counters());
    const std::optional<FirstRowsOfSets> found = decode_first_rows_of_sets((*replies)[0], reader_.fields().size());
    if (!found && context_.runs_together) throw AskAlone{};
    if (!found) co_return std::nullopt;
    add_rows(found->rows);
    reader_.keep_alive(replies);
    sql::Batch satisfying = take();
    const bool are_all = found->found < rows.wanted;
    if (satisfying.rows < *wanted && !are_all) co_return std::nullopt;
    co_return satisfying;
  }

  void add_rows(const FlatRows& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) reader_.add(rows.member(i), rows.fields(i));
  }

  /// `apart`: rows may be read by commands of their own, if nothing changes before they are.
  asio::awaitable<sql::Batch> run_script(bool apart) {
    context_.note_read(reader_.table());
    std::size_t rows = context_.limits.script_rows;
    auto wanted = evaluate_goal(scan_.goal.limit, scan_.goal.offset, context_.evaluation()).wanted();
    if (wanted) rows = std::clamp<std::size_t>(*wanted + *wanted / 8, 1, rows);
    CommandBatch batch;
    SetProgram program = to_program(*sets_);
    ApartRows apart_rows;
    if (apart) apart_rows.counter = reader_.keys().changes();
    append_rows_of_sets(batch, program, row_arguments(reader_), context_.limits.set_members, rows, apart_rows);
    RepliesPtr replies = co_await context_.ask_script(kRowsOfSetsScript, std::move(batch), counters());
    const std::optional<RowsOfSets> found = decode_rows_of_sets((*replies)[0], reader_.fields().size());
    if (found && found->changes) {
      std::optional<sql::Batch> batch = co_await fetch_unchanged(found->members, std::string(*found->changes));
      if (batch) co_return std::move(*batch);
      co_return co_await run_script(false);
    }
    if (!found && context_.runs_together) throw AskAlone{};
    if (!found) {
      context_.note_turns(reader_.table());
      // So many members of ranges are read fastest by a scan of all rows.
      if (!choose_drivers(*sets_)) walk_ = make_full_scan(node_, whole_, context_);
      co_return sql::Batch{};
    }
    add_rows(found->rows);
    for (const Reply& member : found->members) waiting_.emplace_back(member.text);
    reader_.keep_alive(replies);
    co_return take();
  }

  /// The rows of the members in one snapshot, if the table's change counter is what it was; else nullopt.
  asio::awaitable<std::optional<sql::Batch>> fetch_unchanged(std::span<const Reply> found, std::string counter) {
    auto members = std::make_shared<std::vector<std::string>>();
    for (const Reply& member : found) members->emplace_back(member.text);
    CommandBatch batch;
    for (const std::string& member : *members) reader_.append_fetch(batch, member);
    batch.add("GET", reader_.keys().changes());
    RepliesPtr replies = co_await context_.ask_atomic(std::move(batch), counters());
    if (replies->text(members->size()).value_or("") != counter) co_return std::nullopt;
    for (std::size_t i = 0; i < members->size(); ++i) reader_.add((*members)[i], (*replies)[i].children());
    reader_.keep_alive(members);
    reader_.keep_alive(replies);
    co_return take();
  }

  /// Leaf sets that together hold every member of the result. Of an intersection any operand would do. False: a range is one of them.
  bool choose_drivers(const EvaluatedSets& sets) {
    if (sets.is_leaf()) {
      drivers_.push_back(&sets);
      return sets.kind != Kind::kRange;
    }
    if (sets.kind == Kind::kUnion) {
      return std::ranges::all_of(sets.operands, [&](const EvaluatedSets& operand) { return choose_drivers(operand); });
    }
    if (sets.kind == Kind::kDifference) return choose_drivers(sets.operands[0]);
    for (const EvaluatedSets& operand : sets.operands) {
      const std::size_t known = drivers_.size();
      if (choose_drivers(operand)) return true;
      drivers_.resize(known);
    }
    return false;
  }

  /// One step of SSCAN; members that the other sets rule out are left out.
  asio::awaitable<void> scan_driver() {
    if (cursor_ == "0" && !scanning_ && driver_ == 0) co_await order_operands();
    scanning_ = true;
    CommandBatch batch;
    batch.add("SSCAN", drivers_[driver_]->key, cursor_, "COUNT", context_.limits.chunk_rows);
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    auto parts = replies->array(0);
    if (parts.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of SSCAN");
    cursor_ = std::string(parts[0].text);
    std::vector<std::string> members;
    for (const Reply& member : parts[1].children()) {
      std::string whole = drivers_[driver_]->ends.whole(member.text);
      if (seen_.insert(whole).second) members.push_back(std::move(whole));
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
      if (!sets_->operands[i].is_leaf() || sets_->operands[i].kind == Kind::kRange) continue;
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
    CommandBatch batch;
    append_looks(sets, members, batch);
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    std::size_t next = 0;
    co_return combine(sets, *replies, next, members.size());
  }

  /// One command for each leaf. A member that no short one can be is asked for as it is: no short one is equal to it.
  static void append_looks(const EvaluatedSets& sets, const std::vector<std::string>& members, CommandBatch& batch) {
    for (const EvaluatedSets& operand : sets.operands) append_looks(operand, members, batch);
    if (!sets.is_leaf()) return;
    if (!sets.ends.any()) {
      batch.add(sets.kind == Kind::kRange ? "ZMSCORE" : "SMISMEMBER", sets.key, members);
      return;
    }
    std::vector<std::string_view> names;
    for (const std::string& member : members) names.push_back(sets.ends.name_of(member));
    batch.add("SMISMEMBER", sets.key, names);
  }

  static std::vector<char> combine(const EvaluatedSets& sets, const Replies& replies, std::size_t& next, std::size_t count) {
    std::vector<char> result(count);
    if (sets.is_leaf()) {
      auto flags = replies.array(next++);
      const bool is_range = sets.kind == Kind::kRange;
      for (std::size_t i = 0; i < count && i < flags.size(); ++i) {
        result[i] = is_range ? flags[i].is_text() && is_between(flags[i].text, sets.low, sets.high) : flags[i].integer != 0;
      }
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

  const planner::PhysicalNode& node_;
  const planner::SetScan& scan_;
  planner::FullScan whole_;
  OperatorPtr walk_;  // over all rows
  bool started_ = false;
  std::optional<EvaluatedSets> sets_;
  std::deque<std::string> waiting_;  // members whose rows are still to be fetched
  std::vector<const EvaluatedSets*> drivers_;  // in `sets_`
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
