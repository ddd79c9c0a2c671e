#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/redis/reply.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// What REPEATABLE READ and SERIALIZABLE have read: rows found by key with their values, anything else by the table's counter of
/// changes. As long as it is still so in Redis, every statement sees what one snapshot would have shown.
class ReadChecks {
 public:
  struct Row {
    std::string key;
    std::vector<std::string> fields;
    std::vector<std::optional<std::string>> values;
  };
  struct Table {
    std::string counter_key, counter;  // when the rows were last known to be so
    bool whole = false;                // more than the rows listed
    std::vector<Row> rows;
  };

  bool empty() const { return tables_.empty(); }
  const std::map<sql::Oid, Table>& tables() const { return tables_; }

  /// Before a statement reads the table. `whole`: not only by key.
  void add_table(const sql::TableDef& table, bool whole);
  /// A row as it was read; all values nil: there is none. Without effect for tables that were not added.
  void add_row(sql::Oid table, std::string key, const std::vector<std::string>& fields, const Reply& values);
  /// The counters of now, for tables that were just added.
  asio::awaitable<void> take_counters(RedisClient& redis);
  void merge(ReadChecks other);

  /// Are both lists still so? One moment for both; counters move on where only other rows changed.
  struct Answer {
    bool first = true, second = true;
  };
  static asio::awaitable<Answer> hold(RedisClient& redis, ReadChecks& first, ReadChecks& second);

 private:
  std::map<sql::Oid, Table> tables_;
};

}  // namespace redquel::executor
