#include "executor/tables/memory_scan.h"

#include <algorithm>

#include "executor/context/setting.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/storage/row_buffer.h"
#include "executor/tables/changed_rows.h"
#include "executor/tables/memory_run.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

class MemoryScanOperator final : public Operator {
 public:
  MemoryScanOperator(const planner::PhysicalNode& node, const planner::MemoryScan& scan, ExecutionContext& context)
      : node_(node), scan_(scan), context_(context), changes_(context.changes(scan.read.table->oid)), counters_(node, context) {
    if (!scan.read.condition) return;
    std::vector<std::uint32_t> used;
    sql::collect_columns(*scan.read.condition, used);
    std::ranges::sort(used);
    const auto repeated = std::ranges::unique(used);
    used.erase(repeated.begin(), repeated.end());
    condition_columns_ = std::move(used);
  }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!is_started_) co_await start();
    if (otherwise_) co_return co_await otherwise_->next();
    while (slot_ < version_->slices.size()) {
      sql::Batch batch = read_rows();
      if (turn_.is_over()) co_await turn_.yield();
      if (batch.rows > 0) co_return batch;
    }
    if (changed_) co_return co_await changed_->next();
    co_return std::nullopt;
  }

 private:
  asio::awaitable<void> start() {
    is_started_ = true;
    std::string reason = "the statement reads no copies";
    MemoryRun* const memory = context_.memory.get();
    if (memory != nullptr && is_on(context_, "redquel.cache") && (!scans_keyspace() || is_on(context_, "redquel.allow_keyspace_scan"))) {
      // The connections of the keys that the plan reads tell whether its definitions hold; the fence's does not.
      co_await context_.confirm_catalog(counters_.get());
      const MemoryRun::Table& state = *co_await memory->state_of(scan_.read.table->oid, context_);
      version_ = state.version;
      milliseconds_ = state.milliseconds;
      reason = state.reason;
      if (version_) note_run(state);
    }
    if (version_) {
      context_.note_read(*scan_.read.table);
      if (!scan_.read.table->mapping) context_.note_turns(*scan_.read.table);
      changed_ = with_changed_rows(nullptr, scan_.read, context_);
      co_return;
    }
    note("Reads Redis", reason);
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

  void note(std::string name, std::string value) {
    if (context_.statistics == nullptr) return;
    auto& notes = (*context_.statistics)[&node_].notes;
    const auto known = std::ranges::find(notes, name, [](const auto& line) { return line.first; });
    if (known != notes.end()) known->second = std::move(value);
    else notes.emplace_back(std::move(name), std::move(value));
  }

  /// The next rows of the chunk that satisfy the condition; may be none.
  sql::Batch read_rows() {
    const TableVersion::Slice& slice = version_->slices[slot_];
    if (!slice.chunk || row_ >= slice.chunk->rows) {
      ++slot_;
      row_ = 0;
      return {};
    }
    const Chunk& chunk = *slice.chunk;
    std::vector<std::uint32_t> rows;
    rows.reserve(sql::kBatchRows);
    const std::size_t end = std::min(chunk.rows, row_ + sql::kBatchRows);
    for (; row_ < end; ++row_) {
      if (slice.is_gone(row_)) continue;
      // A row lives to the end of its millisecond, as Redis has it.
      if (!chunk.expiries.empty() && chunk.expiries[row_] != 0 && chunk.expiries[row_] < milliseconds_) continue;
      if (changes_ && changes_->contains(*chunk.members->text(row_))) continue;
      rows.push_back(static_cast<std::uint32_t>(row_));
    }
    if (rows.empty()) return {};
    counters_.add_rows(rows.size());
    const auto read = [&](std::size_t position) {
      const std::int16_t number = scan_.read.numbers[position];
      return chunk.columns.at(number)->read(rows, slice.chunk);
    };
    sql::Batch batch;
    batch.columns.resize(scan_.read.numbers.size());
    batch.rows = rows.size();
    if (scan_.read.condition) {
      for (const std::uint32_t position : condition_columns_) batch.columns[position] = read(position);
      std::vector<std::uint32_t> selected = sql::select_rows(*scan_.read.condition, batch, context_.evaluation());
      if (selected.empty()) return {};
      if (selected.size() < rows.size()) {
        for (const std::uint32_t position : condition_columns_) {
          batch.columns[position] = std::make_shared<const sql::Column>(batch.columns[position]->gather(selected));
        }
        for (std::uint32_t& row : selected) row = rows[row];
        rows = std::move(selected);
        batch.rows = rows.size();
      }
    }
    for (std::size_t position = 0; position < batch.columns.size(); ++position) {
      if (!batch.columns[position]) batch.columns[position] = read(position);
    }
    return batch;
  }

  const planner::PhysicalNode& node_;
  const planner::MemoryScan& scan_;
  ExecutionContext& context_;
  TableChangesPtr changes_;
  NodeCounters counters_;
  std::vector<std::uint32_t> condition_columns_;
  bool is_started_ = false;
  OperatorPtr otherwise_;
  OperatorPtr changed_;  // the transaction's own rows, behind the others; null: none
  TableVersionPtr version_;
  std::int64_t milliseconds_ = 0;
  std::size_t slot_ = 0, row_ = 0;
  EventLoopTurn turn_;
};

}  // namespace

OperatorPtr make_memory_scan(const planner::PhysicalNode& node, const planner::MemoryScan& scan, ExecutionContext& context) {
  return std::make_unique<MemoryScanOperator>(node, scan, context);
}

}  // namespace redquel::executor
