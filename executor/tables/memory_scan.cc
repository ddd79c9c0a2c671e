#include "executor/tables/memory_scan.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "executor/context/morsels.h"
#include "executor/context/setting.h"
#include "executor/context/thread_safety.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/tables/changed_rows.h"
#include "executor/tables/chunk_reader.h"
#include "executor/tables/memory_run.h"

namespace redquel::executor {

namespace {

/// A scan of a copy by several threads: each takes the next chunk that no other one has taken.
class ScanMorsels final : public Morsels {
 public:
  /// `version` outlives the morsels. One reader for each worker.
  ScanMorsels(const TableVersion& version, std::vector<ChunkReader> readers) : version_(version), readers_(std::move(readers)) {}

  std::optional<sql::Batch> next(std::size_t worker) override {
    ChunkReader& reader = readers_[worker];
    if (!reader.has_more()) {
      const std::size_t slot = next_slot_++;
      if (slot >= version_.slices.size()) return std::nullopt;
      reader.begin(version_.slices[slot]);
    }
    std::optional<sql::Batch> batch = reader.read();
    return batch ? std::move(batch) : sql::Batch();
  }

 private:
  const TableVersion& version_;
  std::vector<ChunkReader> readers_;
  std::atomic<std::size_t> next_slot_ = 0;
};

/// A copy with fewer rows is read by one thread.
constexpr std::size_t kSharedRows = 100'000;

class MemoryScanOperator final : public Operator, public SharedOperator {
 public:
  MemoryScanOperator(const planner::PhysicalNode& node, const planner::MemoryScan& scan, ExecutionContext& context)
      : node_(node), scan_(scan), context_(context) {
    source_.changes = context.changes(scan.read.table->oid);
  }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!is_started_) co_await start();
    if (otherwise_) {
      std::optional<sql::Batch> batch = co_await otherwise_->next();
      if (notes_part_ && batch) context_.memory->note_part(scan_.read.table->oid, batch->rows);
      co_return batch;
    }
    for (;;) {
      if (turn_.is_over()) co_await turn_.yield();
      if (reader_->has_more()) {
        if (std::optional<sql::Batch> batch = reader_->read()) co_return batch;
        continue;
      }
      if (slot_ == source_.version->slices.size()) break;
      const std::size_t before = reader_->rows_seen();
      reader_->begin(source_.version->slices[slot_++]);
      counters_->add_rows(reader_->rows_seen() - before);
    }
    note_pruned();
    if (changed_) co_return co_await changed_->next();
    co_return std::nullopt;
  }

  void leave_out(std::size_t column, const KeyFilterPtr& filter) override {
    key_filters_.emplace_back(scan_.read.numbers[column], filter);
    if (reader_) reader_->leave_out(key_filters_.back());
  }

  asio::awaitable<std::unique_ptr<Morsels>> share(std::size_t workers) override {
    if (!is_started_) co_await start();
    const bool is_shared = source_.version && source_.version->rows >= kSharedRows && !changed_ && !scan_.first && slot_ == 0 &&
                           (!scan_.read.condition || is_thread_safe(*scan_.read.condition));
    if (!is_shared) co_return nullptr;
    std::vector<ChunkReader> readers;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      readers.emplace_back(scan_, source_, context_.evaluation());
      for (const ScanKeyFilter& keys : key_filters_) readers.back().leave_out(keys);
    }
    counters_->add_rows(source_.version->rows);
    note("Workers", std::to_string(workers));
    co_return std::make_unique<ScanMorsels>(*source_.version, std::move(readers));
  }

 private:
  asio::awaitable<void> start() {
    is_started_ = true;
    std::string reason = "the statement reads no copies";
    MemoryRun* const memory = context_.memory.get();
    const bool is_allowed = is_on(context_, "redquel.cache") && (!scans_keyspace() || is_on(context_, "redquel.allow_keyspace_scan"));
    if (memory != nullptr && is_allowed) reason = memory->part_refusal(scan_.read.table->oid, context_);
    if (memory != nullptr && is_allowed && reason.empty()) {
      // The connections of the keys that the plan reads detect changed definitions; the fence's does not.
      co_await context_.confirm_catalog(nullptr);
      const MemoryRun::Table& state = *co_await memory->state_of(scan_.read.table->oid, context_);
      source_.version = state.version;
      source_.milliseconds = state.milliseconds;
      reason = state.reason;
      if (source_.version) note_run(state);
    }
    if (source_.version) {
      counters_.emplace(node_, context_);
      context_.note_read(*scan_.read.table);
      if (!scan_.read.table->is_mapped()) context_.note_turns(*scan_.read.table);
      changed_ = with_changed_rows(nullptr, scan_.read, context_);
      reader_.emplace(scan_, source_, context_.evaluation());
      for (const ScanKeyFilter& keys : key_filters_) reader_->leave_out(keys);
      if (scan_.first) reader_->set_first(BestRows::of(scan_, context_.evaluation()));
      co_return;
    }
    note("Reads Redis", reason);
    notes_part_ = memory != nullptr && scan_.is_part;
    otherwise_ = context_.make_operator(*scan_.otherwise);
  }

  /// Returns true if filling the copy scans the keyspace, which a session may forbid.
  bool scans_keyspace() const { return scan_.read.table->is_mapped() && scan_.read.table->mapping().key.has_slots(); }

  void note_run(const MemoryRun::Table& state) {
    std::size_t chunks = 0;
    for (const TableVersion::Slice& slice : source_.version->slices) chunks += slice.chunk ? 1 : 0;
    note("Chunks", std::to_string(chunks));
    if (state.is_filled_now) note("Filled", "by this statement");
    if (state.rows_read_again > 0) {
      note("Rows read again", std::to_string(state.rows_read_again) + " in " + std::to_string(state.rounds) + (state.rounds == 1 ? " round" : " rounds"));
    }
  }

  void note_pruned() {
    if (reader_->pruned() > 0) note("Chunks Pruned", std::to_string(reader_->pruned()));
  }

  void note(std::string name, std::string value) {
    if (context_.statistics == nullptr) return;
    auto& notes = (*context_.statistics)[&node_].notes;
    const auto known = std::ranges::find(notes, name, [](const auto& line) { return line.first; });
    if (known != notes.end()) known->second = std::move(value);
    else notes.emplace_back(std::move(name), std::move(value));
  }

  const planner::PhysicalNode& node_;
  const planner::MemoryScan& scan_;
  ExecutionContext& context_;
  std::optional<NodeCounters> counters_;  // none: the other way counts the scan
  bool is_started_ = false, notes_part_ = false;
  OperatorPtr otherwise_;
  OperatorPtr changed_;  // the transaction's own rows, behind the others; null: none
  ReadVersion source_;
  std::optional<ChunkReader> reader_;
  std::vector<ScanKeyFilter> key_filters_;
  std::size_t slot_ = 0;  // of the next chunk
  EventLoopTurn turn_;
};

}  // namespace

OperatorPtr make_memory_scan(const planner::PhysicalNode& node, const planner::MemoryScan& scan, ExecutionContext& context) {
  return std::make_unique<MemoryScanOperator>(node, scan, context);
}

}  // namespace redquel::executor
