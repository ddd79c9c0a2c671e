#include "executor/storage/journal.h"

#include <charconv>
#include <set>

#include "executor/redis/executor_counts.h"
#include "executor/runtime/known_types_executor.h"
#include "executor/storage/catalog_store.h"
#include "executor/storage/exclusive_tables.h"
#include "executor/storage/stored_row.h"
#include "executor/storage/stored_text.h"
#include "executor/storage/write_unit.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

// A record is a list of words, each "<length>:<bytes>" or "-" for an absent one: table, member, number of texts or "-", texts.

void append_word(std::string& out, std::string_view word) {
  if (is_null(word)) {
    out.push_back('-');
    return;
  }
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, word.size()).ptr;
  out.append(digits, end);
  out.push_back(':');
  out.append(word);
}

void append_number(std::string& out, std::size_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  append_word(out, std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

sql::SqlError damaged() { return sql::SqlError(sqlstate::kDataCorrupted, "the journal of an unfinished statement is damaged"); }

std::optional<std::string> take_word(std::string_view& text) {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
    return std::nullopt;
  }
  std::size_t length = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), length);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (failure != std::errc() || digits == text.size() || *end != ':' || length > text.size() - digits - 1) throw damaged();
  std::string word(text.substr(digits + 1, length));
  text.remove_prefix(digits + 1 + length);
  return word;
}

std::size_t take_number(std::string_view& text) {
  const std::optional<std::string> word = take_word(text);
  std::size_t number = 0;
  if (!word || std::from_chars(word->data(), word->data() + word->size(), number).ec != std::errc()) throw damaged();
  return number;
}

using Row = std::vector<sql::Datum>;

std::optional<Row> row_before(const JournalRecord& record, const sql::TableDef& table) {
  if (!record.before) return std::nullopt;
  Row row;
  for (std::size_t i = 0; i < record.before->size(); ++i) {
    const std::optional<std::string>& text = (*record.before)[i];
    const sql::Type type = i < table.columns.size() ? table.columns[i].type : sql::kInt8;
    row.push_back(text ? parse_stored_text(type, *text) : sql::Datum());
  }
  return row;
}

/// Other Redis clients may change the rows meanwhile: then they are read again.
constexpr int kUndoAttempts = 100;

class Undo {
 public:
  Undo(RedisClient& client, sql::CatalogPtr catalog, JournalStep step) : client_(client), catalog_(std::move(catalog)), step_(std::move(step)) {}

  /// Undoes one chunk. False: another owner has the tables.
  asio::awaitable<bool> run(const std::vector<JournalRecord>& records) {
    for (int attempt = 0; attempt < kUndoAttempts; ++attempt) {
      WriteOptions options;
      options.journal = step_;
      WriteUnit unit(options);
      co_await collect(records, unit);
      if (unit.empty()) co_return co_await drop(records);
      const WriteStatus status = co_await unit.execute(client_);
      switch (status) {
        case WriteStatus::kApplied:
          co_return true;
        case WriteStatus::kStale:
          co_return false;
        case WriteStatus::kConflict:
        case WriteStatus::kLocked:
        case WriteStatus::kLostLock:
        case WriteStatus::kFenced:
          break;
      }
    }
    throw sql::SqlError(sqlstate::kSerializationFailure, "could not undo an unfinished statement: its rows are changed by others");
  }

 private:
  asio::awaitable<void> collect(const std::vector<JournalRecord>& records, WriteUnit& unit) {
    CommandBatch batch;
    for (const JournalRecord& record : records) {
      if (record.member) StoredRows(table(record)).append_fetch(batch, *record.member);
    }
    RepliesPtr replies = co_await client_.execute(std::move(batch));
    std::size_t next = 0;
    for (const JournalRecord& record : records) {
      const auto definition = table(record);
      std::optional<Row> now;
      if (record.member) now = StoredRows(definition).decode(*record.member, replies->array(next++));
      const std::optional<Row> before = row_before(record, *definition);
      if (now && before) {
        unit.update_row(definition, *now, *before);
      } else if (now) {
        unit.delete_row(definition, *now);
      } else if (before && !(record.member && definition->rows_expire())) {  // a changed row that is gone has expired
        unit.insert_row(definition, *before);
      }
    }
  }

  std::shared_ptr<const sql::TableDef> table(const JournalRecord& record) const {
    auto found = catalog_->find_table(record.table);
    if (!found) throw damaged();
    return found;
  }

  asio::awaitable<bool> drop(const std::vector<JournalRecord>& records) {
    const std::string unit(sql::without_tag(step_.key).substr(sql::kJournalPrefix.size()));
    co_return co_await drop_last_chunk(client_, unit, step_.owner, *table(records.front()));
  }

  RedisClient& client_;
  sql::CatalogPtr catalog_;
  JournalStep step_;
};

}  // namespace

void append_journal_record(std::string& out, sql::Oid table, std::string_view member,
                           std::optional<std::span<const std::string_view>> before) {
  append_number(out, table);
  append_word(out, member);
  if (!before) return append_word(out, {});
  append_number(out, before->size());
  for (const std::string_view text : *before) append_word(out, text);
}

std::vector<JournalRecord> decode_journal_records(std::string_view text) {
  std::vector<JournalRecord> records;
  while (!text.empty()) {
    JournalRecord record;
    record.table = static_cast<sql::Oid>(take_number(text));
    record.member = take_word(text);
    if (text.starts_with('-')) {
      text.remove_prefix(1);
    } else {
      const std::size_t count = take_number(text);
      if (count > text.size()) throw damaged();
      record.before.emplace();
      for (std::size_t i = 0; i < count; ++i) record.before->push_back(take_word(text));
    }
    records.push_back(std::move(record));
  }
  return records;
}

namespace {

asio::awaitable<bool> undo_chunks(RedisClient& client, sql::CatalogPtr catalog, PlacedTable table, const std::string& unit, const std::string& owner) {
  const std::string key = journal_key(table.tag(), unit);
  Undo undo(client, std::move(catalog), JournalStep{JournalStep::Kind::kUndo, owner, key});
  while (true) {
    CommandBatch batch;
    batch.add("LINDEX", key, "-1");
    RepliesPtr replies = co_await client.execute(std::move(batch));
    const std::optional<std::string_view> last = replies->text(0);
    if (!last) {
      counts_of_thread().undone_units.add();
      co_return true;
    }
    const std::vector<JournalRecord> records = decode_journal_records(*last);
    if (records.empty()) throw damaged();
    if (!co_await undo.run(records)) co_return false;
    // The tables stay exclusive while this goes on, however long it takes.
    if (!co_await extend_lease(client, unit, owner, table)) co_return false;
  }
}

}  // namespace

asio::awaitable<bool> undo_journal(RedisClient& client, PlacedTable table, const std::string& unit, const std::string& owner) {
  const LoadedCatalog loaded = co_await load_catalog(client);
  auto known = std::make_shared<const sql::KnownTypes>(loaded.snapshot->user_types);
  auto undo = undo_chunks(client, loaded.snapshot, std::move(table), unit, owner);
  co_return co_await with_known_types(std::move(known), std::move(undo));
}

}  // namespace redquel::executor
