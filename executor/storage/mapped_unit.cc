#include "executor/storage/mapped_unit.h"

#include <fmt/format.h>

#include <deque>

#include "executor/redis/script.h"
#include "executor/storage/mapped_row.h"
#include "executor/storage/mapped_script.h"
#include "sql/error.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace {

/// One script holds Redis while it runs: about a tenth of a second.
constexpr std::size_t kMaxRows = 10'000;

std::string identity_of(const sql::TableDef& table, std::span<const sql::Datum> row) {
  std::string identity;
  for (const std::int16_t column : table.primary_key) {
    const std::size_t position = table.position(column);
    const std::string text = sql::is_null(row[position]) ? "" : sql::format_value(table.columns[position].type, row[position]);
    identity += fmt::format("{}:{}", text.size(), text);
  }
  return identity;
}

}  // namespace

bool MappedUnit::add(MappedChange change) {
  if (change.before && !changed_.insert(identity_of(*table_, *change.before)).second) return false;
  if (changes_.size() >= kMaxRows) {
    throw sql::SqlError("54000", fmt::format("statement changes more than {} rows of a foreign table", kMaxRows)).hint("A statement is one atomic unit in Redis. Split it.");
  }
  changes_.push_back(std::move(change));
  return true;
}

asio::awaitable<WriteStatus> MappedUnit::execute(RedisClient& redis, std::string catalog_version, bool bad_values_are_null,
                                                 ExecutionCounters* counters) {
  if (changes_.empty()) co_return WriteStatus::kApplied;
  std::deque<MappedRow> rows;
  CommandBatch reads;
  std::set<std::string> inserted;
  for (const MappedChange& change : changes_) {
    rows.emplace_back(*table_, change).append_reads(reads);
    const bool is_new = change.after && !change.before && !table_->primary_key.empty();
    const bool may_repeat = table_->mapping->layout == sql::Mapping::Layout::kList || table_->mapping->layout == sql::Mapping::Layout::kStream;
    if (is_new && !may_repeat && !inserted.insert(identity_of(*table_, *change.after)).second) {
      throw sql::SqlError("23505", fmt::format("duplicate key value violates unique constraint \"{}_key\"", table_->name))
          .detail("Two new rows have the same key.");
    }
  }
  RepliesPtr replies = co_await redis.execute(std::move(reads), counters);
  std::size_t first = 0;
  for (MappedRow& row : rows) {
    const bool is_as_read = row.take_reads(replies->all().subspan(first, row.read_count()), bad_values_are_null);
    if (!is_as_read) co_return WriteStatus::kConflict;
    first += row.read_count();
  }
  MappedWriteCall call(std::move(catalog_version));
  for (MappedRow& row : rows) row.append_writes(call);
  const std::vector<std::string> no_keys, arguments = call.arguments();
  RepliesPtr written = co_await run_script(redis, mapped_write_script(), no_keys, arguments, counters);
  const std::optional<std::string_view> answer = written->text(0);
  if (answer == "applied") co_return WriteStatus::kApplied;
  if (answer == "stale") co_return WriteStatus::kStale;
  if (answer && answer->starts_with("type ")) {
    throw sql::SqlError("XX001", fmt::format("key \"{}\" is of another Redis type than foreign table \"{}\" needs", answer->substr(5), table_->name))
        .hint("Nothing was written.");
  }
  co_return WriteStatus::kConflict;
}

}  // namespace redquel::executor
