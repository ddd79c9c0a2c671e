#include "executor/tables/memory_run.h"

#include <algorithm>

#include "executor/context/setting.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/memory_fill.h"
#include "executor/tables/memory_filter.h"
#include "planner/tree/plan_walk.h"

namespace redquel::executor {

namespace {

/// Times that changed rows are read again before the statement reads Redis.
constexpr int kMostRounds = 8;

/// Returns false if another statement has filled the copy anew, without columns that this one reads.
bool has_columns(const TableVersion& version, const std::vector<std::int16_t>& numbers) {
  const auto slice = std::ranges::find_if(version.slices, [](const TableVersion::Slice& one) { return one.chunk != nullptr; });
  return slice == version.slices.end() || std::ranges::all_of(numbers, [&](std::int16_t number) { return slice->chunk->columns.contains(number); });
}

}  // namespace

const planner::MemoryScan* memory_scan_of(const planner::PhysicalNode& plan) {
  return std::get_if<planner::MemoryScan>(&planner::below_row_wise(plan).node);
}

bool scans_memory(const planner::PhysicalNode& plan) {
  return !planner::all_nodes(
      plan, [](const planner::PhysicalNode& node) { return !std::holds_alternative<planner::MemoryScan>(node.node); });
}

void MemoryRun::note_scans(const planner::PhysicalNode& plan) {
  planner::all_nodes(plan, [this](const planner::PhysicalNode& node) {
    if (const auto* scan = std::get_if<planner::MemoryScan>(&node.node)) note_scan(*scan);
    return true;
  });
}

void MemoryRun::note_scan(const planner::MemoryScan& scan) {
  Read& read = reads_[scan.read.table->oid];
  read.table = scan.read.table;
  if (!scan.is_part) read.is_part = false;
  else read.parts.push_back(&scan);
  for (const std::int16_t number : scan.read.numbers) {
    const auto place = std::ranges::lower_bound(read.numbers, number);
    if (place == read.numbers.end() || *place != number) read.numbers.insert(place, number);
  }
}

asio::awaitable<const MemoryRun::Table*> MemoryRun::state_of(sql::Oid table, ExecutionContext& context) {
  if (!is_prepared_) co_await prepare(context);
  co_return &reads_.at(table).state;
}

void MemoryRun::note_part(sql::Oid table, std::size_t rows) {
  if (const TableCopyPtr& copy = reads_.at(table).copy) copy->note_part(rows);
}

asio::awaitable<void> MemoryRun::prepare(ExecutionContext& context) {
  const std::shared_ptr<Keeper> keeper = memory_.keeper(database_);
  is_prepared_ = !keeper;
  if (!keeper) {
    for (auto& [oid, read] : reads_) read.state.reason = "there is no tracking connection";
    co_return;
  }
  for (auto& [oid, read] : reads_) co_await provide(read, *keeper, context);
  is_prepared_ = true;
  co_await pass_fence(*keeper, context);
  for (auto& [oid, read] : reads_) {
    if (read.state.version) read.copy->count_hit();
    else if (!read.is_part) read.copy->count_miss();
  }
}

asio::awaitable<std::string> MemoryRun::foreign_refusal(const Read& read, ExecutionContext& context) const {
  std::string reason;
  const RedisUserPtr user = co_await redis_user_of(*read.table, context);
  if (user) reason = "the role reads Redis as a user of its own";
  else if (database_of(read.table->mapping(), context) != database_) reason = "its keys are in another logical database";
  else if (context.changes(read.table->oid)) reason = "the transaction has changed it";
  co_return reason;
}

std::string MemoryRun::part_refusal(sql::Oid table, ExecutionContext& context) {
  Read& read = reads_.at(table);
  if (!read.is_part || is_prepared_) return read.state.reason;
  // Microseconds, and of Redis's and redquel's work together.
  constexpr double kRedis = 60, kRedisRow = 2.8, kMemory = 90, kChangedRow = 2.6, kComparedRow = 0.0005, kFoundRow = 0.005;
  read.copy = memory_.copy(database_, read.table);
  const TableVersionPtr version = read.copy->seen().version;
  if (!version || !has_columns(*version, read.numbers)) {
    // Parts that have cost as much as the whole table are worth a fill.
    constexpr std::size_t kLeastRows = 20'000;
    read.is_part = read.copy->part_rows() < std::max(kLeastRows, memory_.options().first_scan * read.copy->known_rows());
    return read.is_part ? read.state.reason = "the table is not in memory" : "";
  }
  double found = 0;
  for (const planner::MemoryScan* scan : read.parts) {
    const MemoryFilter filter(scan->read, context.evaluation());
    for (const TableVersion::Slice& slice : version->slices) {
      if (slice.chunk) found += filter.share(*slice.chunk) * static_cast<double>(slice.chunk->rows);
    }
  }
  const double changes = static_cast<double>(read.copy->statistics().changes), rows = static_cast<double>(version->rows);
  const double in_memory = kMemory + kChangedRow * changes + kComparedRow * rows * static_cast<double>(read.numbers.size()) + kFoundRow * found;
  if (in_memory >= kRedis + kRedisRow * found) read.state.reason = "Redis reads so few rows faster";
  return read.state.reason;
}

std::optional<MemoryRun::Known> MemoryRun::known(const planner::MemoryScan& scan, ExecutionContext& context) const {
  const auto found = reads_.find(scan.read.table->oid);
  if (found == reads_.end() || scan.read.table->is_mapped() || !is_on(context, "redquel.cache")) return {};
  const Read& read = found->second;
  const TableVersionPtr version = is_prepared_ ? read.state.version : memory_.copy(database_, read.table)->seen().version;
  if (!version || !has_columns(*version, read.numbers)) return {};
  Known known{static_cast<double>(version->rows), 0};
  const MemoryFilter filter(scan.read, context.evaluation());
  for (const TableVersion::Slice& slice : version->slices) {
    if (slice.chunk) known.wanted += filter.share(*slice.chunk) * static_cast<double>(slice.chunk->rows);
  }
  return known;
}

asio::awaitable<void> MemoryRun::provide(Read& read, Keeper& keeper, ExecutionContext& context) {
  if (read.is_part) {
    read.state.reason = part_refusal(read.table->oid, context);
    if (read.is_part) co_return;  // else parts have been read so often that the copy is filled now
  }
  read.copy = memory_.copy(database_, read.table);
  if (read.table->is_mapped()) read.state.reason = co_await foreign_refusal(read, context);
  if (!read.state.reason.empty()) co_return;
  TableCopy& copy = *read.copy;
  const std::size_t scans = copy.note_scan(static_cast<double>(copy.known_rows()));
  read.state.reason = copy.refusal();
  if (!read.state.reason.empty() || copy.missing(read.numbers).empty()) co_return;
  const bool is_asked = read.table->cache == "on" || copy.part_rows() > 0;
  if (!copy.is_filled() && !is_asked && scans < memory_.options().first_scan) {
    read.state.reason = "the table is seldom read";
    co_return;
  }
  const auto lock = co_await copy.lock();
  const std::vector<std::int16_t> missing = copy.missing(read.numbers);
  if (missing.empty()) co_return;
  if (!copy.is_observed()) {
    copy.set_observed();
    read.state.reason = co_await keeper.observe(copy.prefix(), read.copy);
    if (!read.state.reason.empty()) {
      copy.drop(read.state.reason, std::chrono::seconds(10));
      copy.lost(read.state.reason);
      co_return;
    }
  }
  if (copy.is_filled() && !read.table->is_mapped()) {
    read.state.reason = co_await fill_columns(read.copy, missing, memory_, keeper, context);
    co_return;
  }
  memory_.forget_dropped(database_, *context.catalog());
  std::vector<std::int16_t> numbers = read.numbers;
  const std::vector<std::int16_t> before = copy.columns();
  numbers.insert(numbers.end(), before.begin(), before.end());
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  read.state.reason = co_await fill_copy(read.copy, std::move(numbers), memory_, keeper, context);
  read.state.is_filled_now = read.state.reason.empty();
}

asio::awaitable<void> MemoryRun::pass_fence(Keeper& keeper, ExecutionContext& context) {
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<Read*> waiting;
    std::vector<TableCopy::Seen> seen;
    std::vector<FencedTable> tables;
    for (auto& [oid, read] : reads_) {
      if (!read.state.reason.empty()) continue;
      if (read.copy->has_changes()) {
        const auto lock = co_await read.copy->lock();
        if (read.copy->has_changes()) {
          read.state.reason = co_await read_changes(read.copy, keeper, context, read.state.rows_read_again);
          ++read.state.rounds;
        }
      }
      if (read.state.reason.empty() && !read.copy->is_filled()) read.state.reason = read.copy->statistics().state;
      if (!read.state.reason.empty()) continue;
      waiting.push_back(&read);
      seen.push_back(read.copy->seen());
      tables.push_back(read.copy->fenced());
    }
    if (waiting.empty()) co_return;
    const Fence fence = co_await keeper.fence(std::move(tables));
    bool is_clean = fence.passed;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      MemoryRun::Table& state = waiting[i]->state;
      if (!fence.passed) {
        state.reason = fence.reason;
      } else if (fence.tables.at(i).version != waiting[i]->table->version) {
        state.reason = "its definition changes";
      } else {
        state.version = waiting[i]->copy->judge(fence.tables[i], seen[i]);
        if (state.version && !has_columns(*state.version, waiting[i]->numbers)) state.version = nullptr;
        state.milliseconds = fence.milliseconds;
        is_clean = is_clean && state.version;
      }
    }
    if (is_clean || !fence.passed) co_return;
    for (Read* read : waiting) read->state.version = nullptr;  // all tables are of one fence
  }
  for (auto& [oid, read] : reads_) {
    if (read.state.reason.empty()) read.state.reason = "its rows change too often";
  }
}

}  // namespace redquel::executor
