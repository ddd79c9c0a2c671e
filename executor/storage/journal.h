#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/placed_table.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The undo of one change: the row that it left is replaced by the row that it found.
struct JournalRecord {
  sql::Oid table = 0;
  std::optional<std::string> member;  // of the row that is there since; nullopt: deleted
  /// Stored texts of the row before, parallel to the table's columns and the hidden key; nullopt: there was none.
  std::optional<std::vector<std::optional<std::string>>> before;
};

/// Appends a record. A `member` or text without data is absent.
void append_journal_record(std::string& out, sql::Oid table, std::string_view member,
                           std::optional<std::span<const std::string_view>> before);
/// Throws XX001 for what is no list of records.
std::vector<JournalRecord> decode_journal_records(std::string_view text);

/// Undoes a unit chunk after chunk, the last one first. `table`: one of the unit's. False: the tables are not this owner's any more.
asio::awaitable<bool> undo_journal(RedisClient& client, PlacedTable table, const std::string& unit, const std::string& owner);

}  // namespace redquel::executor
