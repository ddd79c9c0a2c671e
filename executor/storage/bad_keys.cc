#include "executor/storage/bad_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "executor/storage/row_image.h"
#include "executor/storage/sequences.h"
#include "executor/storage/table_counters.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"
#include "sql/functions/quote.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

constexpr std::size_t kKeysTogether = 1000;
constexpr std::size_t kMostPages = 20;            // of the rows, and of the values of an index
constexpr std::size_t kMostSearchedTables = 100;  // whose rows and values are looked at

enum class KeyPart { kStructure, kRow, kCounter, kSequence };

/// A key, and whose it is.
struct ExpectedKey {
  std::string key, type;
  KeyPart part;
  const sql::TableDef* table;
  const sql::SequenceDef* sequence = nullptr;
};

std::string quoted_relation(const std::string& schema, const std::string& name) {
  return schema == "public" ? sql::quote_identifier(name)
                            : sql::quote_identifier(schema) + "." + sql::quote_identifier(name);
}

std::string hint_of(const ExpectedKey& key) {
  if (key.part == KeyPart::kSequence) {
    return fmt::format("SELECT setval('{}', …) writes the counter anew.",
                       quoted_relation(key.sequence->schema, key.sequence->name));
  }
  const std::string table = quoted_relation(key.table->schema, key.table->name);
  switch (key.part) {
    case KeyPart::kRow:
      return fmt::format(
          "Another program has overwritten the row. REINDEX TABLE {} takes it out of the table and leaves the key as "
          "it is.",
          table);
    case KeyPart::kCounter:
      return fmt::format("REINDEX TABLE {} writes the counter anew.", table);
    default:
      return fmt::format("REINDEX TABLE {} deletes the key and makes it anew from the rows.", table);
  }
}

SqlError wrong_type(const ExpectedKey& key, std::string_view type) {
  const std::string owner = key.table != nullptr ? fmt::format("table \"{}\"", key.table->name)
                                                 : fmt::format("sequence \"{}\"", key.sequence->name);
  return SqlError(sqlstate::kDataCorrupted,
                  fmt::format("key \"{}\" is a Redis {}, but {} needs a {} there", key.key, type, owner, key.type))
      .hint(hint_of(key));
}

/// Returns true if a counter may hold the text.
bool may_hold(const ExpectedKey& key, std::string_view text) {
  if (key.part == KeyPart::kCounter) return is_count(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return key.part != KeyPart::kSequence || (error == std::errc() && end == text.data() + text.size());
}

/// Returns the error of the first key that is of another type, or that is a counter without a number.
asio::awaitable<std::optional<SqlError>> first_bad(RedisClient& client, std::vector<ExpectedKey> keys) {
  for (std::size_t first = 0; first < keys.size(); first += kKeysTogether) {
    const std::size_t end = std::min(first + kKeysTogether, keys.size());
    CommandBatch batch;
    for (std::size_t i = first; i < end; ++i) {
      batch.add("TYPE", keys[i].key);
      if (keys[i].type == "string") batch.add("GET", keys[i].key);
    }
    const RepliesPtr replies = co_await client.execute(std::move(batch));
    std::size_t reply = 0;
    for (std::size_t i = first; i < end; ++i) {
      const ExpectedKey& key = keys[i];
      const std::string_view type = replies->text(reply++).value_or("none");
      if (type != "none" && type != key.type) co_return wrong_type(key, type);
      if (key.type != "string") continue;
      const Reply& value = (*replies)[reply++];
      if (!value.is_text() || may_hold(key, value.text)) continue;
      if (key.part == KeyPart::kSequence) co_return damaged_counter(*key.sequence);
      co_return SqlError(
          sqlstate::kDataCorrupted,
          fmt::format("key \"{}\" in Redis does not hold a counter of table \"{}\"", key.key, key.table->name))
          .hint(hint_of(key));
    }
  }
  co_return std::nullopt;
}

class KeySearch {
 public:
  KeySearch(RedisClient& client, std::shared_ptr<const sql::TableDef> table)
      : client_(client), table_(std::move(table)), encoder_(table_) {}

  std::vector<ExpectedKey> structure_keys() const {
    std::vector<ExpectedKey> keys{{encoder_.all_rows(), "zset", KeyPart::kStructure, table_.get()}};
    for (const RowEncoder::StructureKeys& structure : encoder_.structures()) {
      keys.push_back({structure.key, std::string(structure.kind->form().type), KeyPart::kStructure, table_.get()});
    }
    if (table_->rows_expire()) {
      keys.push_back({encoder_.keys().expiries(), "zset", KeyPart::kStructure, table_.get()});
      keys.push_back({encoder_.keys().entries(), "hash", KeyPart::kStructure, table_.get()});
    }
    keys.push_back({encoder_.counter(), "string", KeyPart::kCounter, table_.get()});
    if (table_->has_hidden_key())
      keys.push_back({encoder_.keys().row_counter(), "string", KeyPart::kCounter, table_.get()});
    return keys;
  }

  /// Looks at the sets of values, and at the rows.
  asio::awaitable<std::optional<SqlError>> run() {
    std::optional<SqlError> error;
    for (const RowEncoder::StructureKeys& structure : encoder_.structures()) {
      if (!structure.kind->lists_values()) continue;
      error = co_await wrong_set(structure);
      if (error) co_return error;
    }
    co_return co_await wrong_row();
  }

 private:
  /// Looks at the sets of an index's values.
  asio::awaitable<std::optional<SqlError>> wrong_set(const RowEncoder::StructureKeys& structure) {
    std::string cursor = "0";
    for (std::size_t page = 0; page < kMostPages; ++page) {
      CommandBatch batch;
      batch.add("SSCAN", structure.key, cursor, "COUNT", kKeysTogether);
      RepliesPtr replies = co_await client_.execute(std::move(batch));
      const std::span<const Reply> parts = replies->array(0);
      if (parts.size() != 2) break;
      std::vector<ExpectedKey> keys;
      for (const Reply& entry : parts[1].children()) {
        try {
          keys.push_back({structure.kind->value_key(encoder_.keys(), structure.structure.columns, entry.text),
                          std::string(structure.kind->entry_form().type), KeyPart::kStructure, table_.get()});
        } catch (const SqlError&) {  // no value of these columns
        }
      }
      cursor = std::string(parts[0].text);
      std::optional<SqlError> error = co_await first_bad(client_, std::move(keys));
      if (error || cursor == "0") co_return error;
    }
    co_return std::nullopt;
  }

  asio::awaitable<std::optional<SqlError>> wrong_row() {
    for (std::size_t page = 0; page < kMostPages; ++page) {
      CommandBatch batch;
      batch.add("ZRANGE", encoder_.all_rows(), page * kKeysTogether, page * kKeysTogether + kKeysTogether - 1);
      RepliesPtr replies = co_await client_.execute(std::move(batch));
      const std::span<const Reply> members = replies->array(0);
      std::vector<ExpectedKey> keys;
      for (const Reply& member : members) {
        std::optional<std::string> key = row_key(member.text);
        if (key) keys.push_back({*std::move(key), "hash", KeyPart::kRow, table_.get()});
      }
      const bool is_last = members.size() < kKeysTogether;
      std::optional<SqlError> error = co_await first_bad(client_, std::move(keys));
      if (error || is_last) co_return error;
    }
    co_return std::nullopt;
  }

  /// nullopt: another program has written the member, which no row can have.
  std::optional<std::string> row_key(std::string_view member) const {
    try {
      return encoder_.keys().row_of_member(member);
    } catch (const SqlError&) {
      return std::nullopt;
    }
  }

  RedisClient& client_;
  std::shared_ptr<const sql::TableDef> table_;
  RowEncoder encoder_;
};

}  // namespace

asio::awaitable<std::optional<SqlError>> named_bad_key(RedisClient& client, sql::CatalogPtr catalog,
                                                       std::vector<std::shared_ptr<const sql::TableDef>> tables) {
  std::vector<ExpectedKey> keys;
  std::vector<std::shared_ptr<const sql::TableDef>> stored;
  for (const auto& table : tables) {
    if (table->is_mapped()) continue;  // their errors name the key
    for (const auto& part : sql::stored_tables(table)) stored.push_back(part);
  }
  for (const auto& table : stored) {
    KeySearch search(client, table);
    std::ranges::move(search.structure_keys(), std::back_inserter(keys));
  }
  for (const auto& [oid, sequence] : catalog->sequences) {
    if (!sequence.foreign) keys.push_back({sequence.key, "string", KeyPart::kSequence, nullptr, &sequence});
  }
  std::optional<SqlError> error = co_await first_bad(client, std::move(keys));
  if (error) co_return error;
  if (stored.size() > kMostSearchedTables) stored.resize(kMostSearchedTables);
  for (const auto& table : stored) {
    KeySearch search(client, table);
    error = co_await search.run();
    if (error) co_return error;
  }
  co_return std::nullopt;
}

}  // namespace redquel::executor
