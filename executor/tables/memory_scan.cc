#include "executor/tables/memory_scan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>

#include "executor/context/setting.h"
#include "executor/memory/protocol_part.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/storage/row_buffer.h"
#include "executor/tables/changed_rows.h"
#include "executor/tables/key_values.h"
#include "executor/tables/memory_filter.h"
#include "executor/tables/memory_key_filter.h"
#include "executor/tables/memory_run.h"

namespace redquel::executor {

namespace {

/// The first rows of a scan in the order of a column of integers: those that cannot be among them are left out.
class BestRows {
 public:
  /// None: all rows are wanted.
  static std::optional<BestRows> of(const planner::MemoryScan& scan, const sql::EvaluationContext& evaluation) {
    const auto wanted = evaluate_goal(scan.first->goal.limit, scan.first->goal.offset, evaluation).wanted();
    constexpr std::uint64_t kMost = 10'000;
    if (!wanted || *wanted == 0 || *wanted > kMost) return std::nullopt;
    return BestRows(*scan.first, scan.read.numbers[scan.first->position], *wanted);
  }

  bool may_have(const Chunk& chunk) const {
    const PackedColumn& column = *chunk.columns.at(number_);
    const auto range = column.range();
    if (best_.size() < wanted_ || !range || column.has_nulls()) return true;
    return key(first_.descending ? range->second : range->first) <= best_.top();
  }
  /// Leaves out rows behind the last wanted one so far.
  void prune(const Chunk& chunk, std::vector<std::uint32_t>& rows) const {
    const PackedColumn& column = *chunk.columns.at(number_);
    if (best_.size() < wanted_ || !column.range()) return;
    const std::int64_t last = best_.top();
    std::erase_if(rows, [&](std::uint32_t row) { return key_of(column, row) > last; });
  }
  /// Notes rows that are wanted, and leaves out others that they displace.
  void take(const Chunk& chunk, std::vector<std::uint32_t>& rows) {
    const PackedColumn& column = *chunk.columns.at(number_);
    if (!column.range()) return;
    std::erase_if(rows, [&](std::uint32_t row) {
      const std::int64_t value = key_of(column, row);
      if (best_.size() < wanted_) {
        best_.push(value);
        return false;
      }
      if (value > best_.top()) return true;
      best_.pop();
      best_.push(value);
      return false;
    });
  }

 private:
  BestRows(const planner::MemoryScan::First& first, std::int16_t number, std::uint64_t wanted) : first_(first), number_(number), wanted_(wanted) {}

  /// Returns what orders the rows: smaller ones come first.
  std::int64_t key(std::int64_t value) const { return first_.descending ? ~value : value; }
  std::int64_t key_of(const PackedColumn& column, std::uint32_t row) const {
    using Limits = std::numeric_limits<std::int64_t>;
    if (column.is_null(row)) return first_.nulls_first ? Limits::min() : Limits::max();
    return key(std::get<PackedColumn::Integers>(column.values()).value(row));
  }

  planner::MemoryScan::First first_;
  std::int16_t number_;
  std::uint64_t wanted_;
  std::priority_queue<std::int64_t> best_;  // keys of the first rows so far, the last one on top
};

class MemoryScanOperator final : public Operator {
 public:
  MemoryScanOperator(const planner::PhysicalNode& node, const planner::MemoryScan& scan, ExecutionContext& context)
      : node_(node), scan_(scan), context_(context), changes_(context.changes(scan.read.table->oid)) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!is_started_) co_await start();
    if (otherwise_) {
      std::optional<sql::Batch> batch = co_await otherwise_->next();
      if (notes_part_ && batch) context_.memory->note_part(scan_.read.table->oid, batch->rows);
      co_return batch;
    }
    for (;;) {
      if (turn_.is_over()) co_await turn_.yield();
      if (row_ < rows_.size()) co_return read_rows();
      if (next_unchecked_ < unchecked_.size()) {
        check_rows();
        continue;
      }
      if (slot_ == version_->slices.size()) break;
      select_rows();
    }
    note_pruned();
    if (changed_) co_return co_await changed_->next();
    co_return std::nullopt;
  }

  void leave_out(std::size_t column, const KeyFilterPtr& filter) override {
    key_filters_.emplace_back(scan_.read.numbers[column], filter);
    if (!chunk_) return;
    for (const auto& [rows, next] : {std::pair(&rows_, &row_), std::pair(&unchecked_, &next_unchecked_)}) {
      rows->erase(rows->begin(), rows->begin() + static_cast<std::ptrdiff_t>(std::min(*next, rows->size())));
      *next = 0;
      key_filters_.back().apply(*chunk_, *rows);
    }
  }

 private:
  asio::awaitable<void> start() {
    is_started_ = true;
    std::string reason = "the statement reads no copies";
    MemoryRun* const memory = context_.memory.get();
    const bool is_allowed = is_on(context_, "redquel.cache") && (!scans_keyspace() || is_on(context_, "redquel.allow_keyspace_scan"));
    if (memory != nullptr && is_allowed) reason = memory->part_refusal(scan_.read.table->oid, context_);
    if (memory != nullptr && is_allowed && reason.empty()) {
      // The connections of the keys that the plan reads tell whether its definitions hold; the fence's does not.
      co_await context_.confirm_catalog(nullptr);
      const MemoryRun::Table& state = *co_await memory->state_of(scan_.read.table->oid, context_);
      version_ = state.version;
      milliseconds_ = state.milliseconds;
      reason = state.reason;
      if (version_) note_run(state);
    }
    if (version_) {
      counters_.emplace(node_, context_);
      context_.note_read(*scan_.read.table);
      if (!scan_.read.table->mapping) context_.note_turns(*scan_.read.table);
      changed_ = with_changed_rows(nullptr, scan_.read, context_);
      filter_.emplace(scan_.read, context_.evaluation());
      if (scan_.first) first_ = BestRows::of(scan_, context_.evaluation());
      co_return;
    }
    note("Reads Redis", reason);
    notes_part_ = memory != nullptr && scan_.is_part;
    otherwise_ = context_.make_operator(*scan_.otherwise);
  }

  /// Returns true if filling the copy scans the keyspace, which a session may forbid.
  bool scans_keyspace() const { return scan_.read.table->mapping && scan_.read.table->mapping->key.has_slots(); }

  void note_run(const MemoryRun::Table& state) {
    std::size_t chunks = 0;
    for (const TableVersion::Slice& slice : version_->slices) chunks += slice.chunk ? 1 : 0;
    note("Chunks", std::to_string(chunks));
    if (state.is_filled_now) note("Filled", "by this statement");
    if (state.rows_read_again > 0) {
      note("Rows read again", std::to_string(state.rows_read_again) + " in " + std::to_string(state.rounds) + (state.rounds == 1 ? " round" : " rounds"));
    }
  }

  void note_pruned() {
    if (pruned_ > 0) note("Chunks Pruned", std::to_string(std::exchange(pruned_, 0)));
  }

  void note(std::string name, std::string value) {
    if (context_.statistics == nullptr) return;
    auto& notes = (*context_.statistics)[&node_].notes;
    const auto known = std::ranges::find(notes, name, [](const auto& line) { return line.first; });
    if (known != notes.end()) known->second = std::move(value);
    else notes.emplace_back(std::move(name), std::move(value));
  }

  /// Looks at the next chunk: `rows_` are those of its rows that are wanted.
  void select_rows() {
    const TableVersion::Slice& slice = version_->slices[slot_++];
    rows_.clear();
    unchecked_.clear();
    row_ = next_unchecked_ = 0;
    if (!slice.chunk || slice.chunk->rows == 0) return;
    chunk_ = slice.chunk;
    const auto may_have_keys = [&](const ScanKeyFilter& keys) { return keys.may_match(*chunk_); };
    if (!filter_->may_match(*chunk_) || (first_ && !first_->may_have(*chunk_)) || !std::ranges::all_of(key_filters_, may_have_keys)) {
      ++pruned_;
      return;
    }
    rows_.resize(chunk_->rows);
    std::iota(rows_.begin(), rows_.end(), 0);
    // A row lives to the end of its millisecond, as Redis has it.
    const auto has_expired = [&](std::uint32_t row) { return chunk_->expiries[row] != 0 && chunk_->expiries[row] < milliseconds_; };
    if (slice.gone) std::erase_if(rows_, [&](std::uint32_t row) { return slice.is_gone(row); });
    if (!chunk_->expiries.empty() && !is_left_out("expiry")) std::erase_if(rows_, has_expired);
    if (changes_) std::erase_if(rows_, [&](std::uint32_t row) { return changes_->contains(*chunk_->members->text(row)); });
    counters_->add_rows(rows_.size());
    const bool is_checked = filter_->filter(chunk_, rows_);
    for (ScanKeyFilter& keys : key_filters_) keys.apply(*chunk_, rows_);
    if (first_) first_->prune(*chunk_, rows_);
    if (!is_checked) std::swap(rows_, unchecked_);
    else if (first_) first_->take(*chunk_, rows_);
  }

  /// Checks the next rows whose packed values do not show whether they satisfy the condition.
  void check_rows() {
    constexpr std::size_t kCheckedRows = 4 * sql::kBatchRows;
    const auto first = unchecked_.begin() + static_cast<std::ptrdiff_t>(next_unchecked_);
    const std::size_t count = std::min(kCheckedRows, unchecked_.size() - next_unchecked_);
    next_unchecked_ += count;
    rows_ = filter_->evaluate(chunk_, {first, count});
    row_ = 0;
    if (first_) first_->take(*chunk_, rows_);
  }

  /// The values of the next selected rows.
  sql::Batch read_rows() {
    const std::size_t count = std::min(sql::kBatchRows, rows_.size() - row_);
    const std::span<const std::uint32_t> rows = std::span(rows_).subspan(row_, count);
    row_ += count;
    sql::Batch batch;
    batch.rows = count;
    for (const std::int16_t number : scan_.read.numbers) batch.columns.push_back(chunk_->columns.at(number)->read(rows, chunk_));
    return batch;
  }

  const planner::PhysicalNode& node_;
  const planner::MemoryScan& scan_;
  ExecutionContext& context_;
  TableChangesPtr changes_;
  std::optional<NodeCounters> counters_;  // none: the other way counts the scan
  bool is_started_ = false, notes_part_ = false;
  OperatorPtr otherwise_;
  OperatorPtr changed_;  // the transaction's own rows, behind the others; null: none
  TableVersionPtr version_;
  std::int64_t milliseconds_ = 0;
  std::optional<MemoryFilter> filter_;
  std::optional<BestRows> first_;
  std::vector<ScanKeyFilter> key_filters_;
  std::size_t slot_ = 0;                // of the next chunk
  ChunkPtr chunk_;
  std::vector<std::uint32_t> rows_;     // of `chunk_`, that are wanted
  std::size_t row_ = 0;                 // in `rows_`, the next one
  std::vector<std::uint32_t> unchecked_;  // of `chunk_`: the condition is still to be evaluated
  std::size_t next_unchecked_ = 0;
  std::size_t pruned_ = 0;              // chunks without a row that is wanted
  EventLoopTurn turn_;
};

}  // namespace

OperatorPtr make_memory_scan(const planner::PhysicalNode& node, const planner::MemoryScan& scan, ExecutionContext& context) {
  return std::make_unique<MemoryScanOperator>(node, scan, context);
}

}  // namespace redquel::executor
