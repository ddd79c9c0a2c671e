#include "executor/storage/mapped_unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/redis/script.h"
#include "executor/storage/mapped_row.h"
#include "executor/storage/mapped_script.h"
#include "sql/error.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace {

/// One script holds Redis while it runs: about a tenth of a second.
constexpr std::size_t kMaxRows = 10'000;

bool may_repeat(const sql::TableDef& table) {
  const sql::Mapping::Layout layout = table.mapping->layout;
  return layout == sql::Mapping::Layout::kList || layout == sql::Mapping::Layout::kStream;
}

}  // namespace

std::string mapped_identity(const sql::TableDef& table, std::span<const sql::Datum> row) {
  std::string identity;
  for (const std::int16_t column : table.primary_key) {
    const std::size_t position = table.position(column);
    const std::string text = sql::is_null(row[position]) ? "" : sql::format_value(table.columns[position].type, row[position]);
    identity += fmt::format("{}:{}", text.size(), text);
  }
  return identity;
}

MappedUnit::MappedUnit(std::shared_ptr<const sql::TableDef> table) : table_(std::move(table)) {}
MappedUnit::~MappedUnit() = default;

bool MappedUnit::add(MappedChange change) {
  if (change.before && !changed_.insert(mapped_identity(*table_, *change.before)).second) return false;
  if (changes_.size() >= kMaxRows) {
    throw sql::SqlError("54000", fmt::format("statement changes more than {} rows of a foreign table", kMaxRows)).hint("A statement is one atomic unit in Redis. Split it.");
  }
  changes_.push_back(std::move(change));
  return true;
}

asio::awaitable<bool> MappedUnit::read(RedisClient& redis, bool bad_values_are_null, ExecutionCounters* counters, const MappedLookups& before) {
  CommandBatch reads;
  std::set<std::string> inserted;
  MappedLookups lookups = before;
  rows_.clear();
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const MappedChange& change = changes_[i];
    rows_.push_back(nullptr);
    if (skipped_.contains(i)) continue;
    const bool is_new = change.after && !change.before && !table_->primary_key.empty() && !may_repeat(*table_);
    if (is_new && !inserted.insert(mapped_identity(*table_, *change.after)).second) {
      if (!change.conflict.skip) {
        throw sql::SqlError("23505", fmt::format("duplicate key value violates unique constraint \"{}_key\"", table_->name))
            .detail("Two new rows have the same key.");
      }
      skipped_.insert(i);
      continue;
    }
    rows_.back() = std::make_unique<MappedRow>(*table_, change);
    rows_.back()->append_reads(reads);
    rows_.back()->add_released(lookups);
  }
  RepliesPtr replies = co_await redis.execute(std::move(reads), counters);
  std::size_t first = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i]) continue;
    const std::span<const Reply> own = replies->all().subspan(first, rows_[i]->read_count());
    first += own.size();
    switch (rows_[i]->take_reads(own, bad_values_are_null, lookups)) {
      case MappedRow::Found::kAsRead: break;
      case MappedRow::Found::kChanged: co_return false;
      case MappedRow::Found::kTaken: {
        const InsertConflict& conflict = changes_[i].conflict;
        const bool is_expected = !conflict.columns || rows_[i]->violates_key();
        if (conflict.run_again && is_expected) co_return false;
        if (!conflict.skip || !is_expected) throw rows_[i]->violation();
        skipped_.insert(i);
        rows_[i] = nullptr;
        break;
      }
    }
  }
  co_return true;
}

void MappedUnit::append_writes(MappedWriteCall& call, int database) const {
  call.select(database);
  for (const std::unique_ptr<MappedRow>& row : rows_) {
    if (row) row->append_writes(call);
  }
}

asio::awaitable<WriteStatus> write_mapped(RedisClient& redis, MappedWriteCall call, ExecutionCounters* counters) {
  if (call.empty()) co_return WriteStatus::kApplied;
  const std::vector<std::string> no_keys, arguments = call.arguments();
  RepliesPtr written = co_await run_script(redis, mapped_write_script(), no_keys, arguments, counters);
  const std::optional<std::string_view> answer = written->text(0);
  if (answer == "applied") co_return WriteStatus::kApplied;
  co_return refused_mapped_write(answer.value_or(""));
}

WriteStatus refused_mapped_write(std::string_view answer) {
  if (answer == "stale") return WriteStatus::kStale;
  if (answer.starts_with("type ")) {
    throw sql::SqlError("XX001", fmt::format("key \"{}\" is of another Redis type than its foreign table needs", answer.substr(5)))
        .hint("Nothing was written.");
  }
  return WriteStatus::kConflict;
}

}  // namespace redquel::executor
