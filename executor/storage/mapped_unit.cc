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

MappedUnit::MappedUnit(std::shared_ptr<const sql::TableDef> table) : table_(std::move(table)) {}
MappedUnit::~MappedUnit() = default;

bool MappedUnit::add(MappedChange change) {
  if (change.before && !changed_.insert(identity_of(*table_, *change.before)).second) return false;
  if (changes_.size() >= kMaxRows) {
    throw sql::SqlError("54000", fmt::format("statement changes more than {} rows of a foreign table", kMaxRows)).hint("A statement is one atomic unit in Redis. Split it.");
  }
  changes_.push_back(std::move(change));
  return true;
}

bool MappedUnit::meets(const MappedUnit& other) const {
  return table_->oid == other.table_->oid &&
         std::any_of(inserted_.begin(), inserted_.end(), [&](const std::string& identity) { return other.inserted_.contains(identity); });
}

asio::awaitable<bool> MappedUnit::read(RedisClient& redis, bool bad_values_are_null, ExecutionCounters* counters) {
  CommandBatch reads;
  for (const MappedChange& change : changes_) {
    rows_.push_back(std::make_unique<MappedRow>(*table_, change));
    rows_.back()->append_reads(reads);
    const bool is_new = change.after && !change.before && !table_->primary_key.empty();
    const bool may_repeat = table_->mapping->layout == sql::Mapping::Layout::kList || table_->mapping->layout == sql::Mapping::Layout::kStream;
    if (is_new && !may_repeat && !inserted_.insert(identity_of(*table_, *change.after)).second) {
      throw sql::SqlError("23505", fmt::format("duplicate key value violates unique constraint \"{}_key\"", table_->name))
          .detail("Two new rows have the same key.");
    }
  }
  RepliesPtr replies = co_await redis.execute(std::move(reads), counters);
  std::size_t first = 0;
  for (const std::unique_ptr<MappedRow>& row : rows_) {
    const bool is_as_read = row->take_reads(replies->all().subspan(first, row->read_count()), bad_values_are_null);
    if (!is_as_read) co_return false;
    first += row->read_count();
  }
  co_return true;
}

asio::awaitable<WriteStatus> MappedUnit::write(RedisClient& redis, std::vector<std::shared_ptr<MappedUnit>> units, std::string catalog_version,
                                               ExecutionCounters* counters) {
  MappedWriteCall call(std::move(catalog_version));
  bool is_empty = true;
  for (const std::shared_ptr<MappedUnit>& unit : units) {
    for (const std::unique_ptr<MappedRow>& row : unit->rows_) row->append_writes(call);
    is_empty = is_empty && unit->rows_.empty();
  }
  if (is_empty) co_return WriteStatus::kApplied;
  const std::vector<std::string> no_keys, arguments = call.arguments();
  RepliesPtr written = co_await run_script(redis, mapped_write_script(), no_keys, arguments, counters);
  const std::optional<std::string_view> answer = written->text(0);
  if (answer == "applied") co_return WriteStatus::kApplied;
  if (answer == "stale") co_return WriteStatus::kStale;
  if (answer && answer->starts_with("type ")) {
    throw sql::SqlError("XX001", fmt::format("key \"{}\" is of another Redis type than its foreign table needs", answer->substr(5)))
        .hint("Nothing was written.");
  }
  co_return WriteStatus::kConflict;
}

}  // namespace redquel::executor
