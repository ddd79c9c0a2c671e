#include "executor/storage/wrong_types.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "executor/storage/row_image.h"
#include "sql/catalog/table_keys.h"
#include "sql/functions/quote.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

constexpr std::size_t kKeysTogether = 1000;
constexpr std::size_t kMostPages = 20;  // of the rows, and of the values of an index

enum class KeyPart { kStructure, kRow, kCounter };

struct ExpectedKey {
  std::string key, type;
  KeyPart part = KeyPart::kStructure;
  const sql::SequenceDef* sequence = nullptr;
};

std::string quoted_relation(const std::string& schema, const std::string& name) {
  return schema == "public" ? sql::quote_identifier(name) : sql::quote_identifier(schema) + "." + sql::quote_identifier(name);
}

class TypeSearch {
 public:
  TypeSearch(RedisClient& client, sql::CatalogPtr catalog, std::shared_ptr<const sql::TableDef> table)
      : client_(client), catalog_(std::move(catalog)), table_(std::move(table)), encoder_(table_) {}

  asio::awaitable<std::optional<SqlError>> run() {
    std::vector<ExpectedKey> keys = structure_keys();
    std::optional<SqlError> error = co_await first_wrong(std::move(keys));
    if (error) co_return error;
    for (const RowEncoder::StructureKeys& structure : encoder_.structures()) {
      if (!structure.kind->lists_values()) continue;
      error = co_await wrong_set(structure);
      if (error) co_return error;
    }
    co_return co_await wrong_row();
  }

 private:
  std::vector<ExpectedKey> structure_keys() const {
    std::vector<ExpectedKey> keys{{encoder_.all_rows(), "zset"}};
    for (const RowEncoder::StructureKeys& structure : encoder_.structures()) {
      keys.push_back({structure.key, std::string(structure.kind->form().type)});
    }
    if (table_->rows_expire()) {
      keys.push_back({encoder_.keys().expiries(), "zset"});
      keys.push_back({encoder_.keys().entries(), "hash"});
    }
    keys.push_back({encoder_.counter(), "string"});
    if (table_->has_hidden_key()) keys.push_back({encoder_.keys().row_counter(), "string"});
    for (const auto& [oid, sequence] : catalog_->sequences) {
      if (sequence.owner_table == table_->oid) keys.push_back({sequence.key, "string", KeyPart::kCounter, &sequence});
    }
    return keys;
  }

  asio::awaitable<std::optional<SqlError>> first_wrong(std::vector<ExpectedKey> keys) {
    if (keys.empty()) co_return std::nullopt;
    CommandBatch batch;
    for (const ExpectedKey& key : keys) batch.add("TYPE", key.key);
    RepliesPtr replies = co_await client_.execute(std::move(batch));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::string type(replies->text(i).value_or("none"));
      if (type != "none" && type != keys[i].type) co_return error_of(keys[i], type);
    }
    co_return std::nullopt;
  }

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
        keys.push_back({encoder_.keys().value_set_of_entry(structure.structure.columns, entry.text), "set"});
      }
      cursor = std::string(parts[0].text);
      std::optional<SqlError> error = co_await first_wrong(std::move(keys));
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
        if (key) keys.push_back({*std::move(key), "hash", KeyPart::kRow});
      }
      const bool is_last = members.size() < kKeysTogether;
      std::optional<SqlError> error = co_await first_wrong(std::move(keys));
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

  SqlError error_of(const ExpectedKey& key, const std::string& type) const {
    return SqlError(sqlstate::kDataCorrupted,
                    fmt::format("key \"{}\" is a Redis {}, but table \"{}\" needs a {} there", key.key, type, table_->name, key.type))
        .hint(hint_of(key));
  }

  std::string hint_of(const ExpectedKey& key) const {
    const std::string table = quoted_relation(table_->schema, table_->name);
    switch (key.part) {
      case KeyPart::kCounter:
        return fmt::format("SELECT setval('{}', …) writes the counter anew.", quoted_relation(key.sequence->schema, key.sequence->name));
      case KeyPart::kRow:
        return fmt::format("Another program has overwritten the row. REINDEX TABLE {} takes it out of the table and leaves the key as it is.", table);
      case KeyPart::kStructure:
        break;
    }
    return fmt::format("REINDEX TABLE {} deletes the key and makes it anew from the rows.", table);
  }

  RedisClient& client_;
  sql::CatalogPtr catalog_;
  std::shared_ptr<const sql::TableDef> table_;
  RowEncoder encoder_;
};

}  // namespace

asio::awaitable<SqlError> named_wrong_type(RedisClient& client, sql::CatalogPtr catalog, std::vector<std::shared_ptr<const sql::TableDef>> tables,
                                           SqlError error) {
  for (const std::shared_ptr<const sql::TableDef>& table : tables) {
    if (table->is_mapped()) continue;  // their errors name the key
    TypeSearch search(client, catalog, table);
    std::optional<SqlError> named = co_await search.run();
    if (named) co_return *std::move(named);
  }
  co_return error;
}

}  // namespace redquel::executor
