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

class ReadMoment;

/// The reads of REPEATABLE READ and SERIALIZABLE: rows found by key with their values, other reads by the table's counter of changes.
/// While these hold in Redis, every statement sees one snapshot.
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

  /// Returns true if the tables have these counters, by key.
  bool agree_with(const std::map<std::string, std::string>& counters) const;

  /// Before a statement reads the table. `whole`: not only by key.
  void add_table(const sql::TableDef& table, bool whole);
  /// A row as it was read; all values nil: there is none. Without effect for tables that were not added.
  void add_row(sql::Oid table, std::string key, const std::vector<std::string>& fields, const Reply& values);
  /// The counters of now, for tables that were just added. Where no moment is known yet, and what the transaction has read `earlier` is
  /// still so, it is now.
  asio::awaitable<void> take_counters(RedisClient& redis, const sql::CatalogSnapshot& catalog, const ReadChecks& earlier, ReadMoment& moment);
  /// Checks that all of this holds now; then that is the moment.
  asio::awaitable<void> take_moment(RedisClient& redis, const sql::CatalogSnapshot& catalog, ReadMoment& moment) const;
  void merge(ReadChecks other);
  /// Returns the reads in one bucket of a cluster.
  ReadChecks of_bucket(int bucket) const;

  /// The answer for both lists at one moment; counters move on if only other rows changed.
  struct Answer {
    bool first = true, second = true;
  };
  static asio::awaitable<Answer> hold(RedisClient& redis, ReadChecks& first, ReadChecks& second);

 private:
  std::map<sql::Oid, Table> tables_;
};

/// A moment at which all reads of a transaction held: the change counters of all tables then. A table that has not changed since can be
/// read as of that moment, regardless of the others.
class ReadMoment {
 public:
  bool is_known() const { return !counters_.empty(); }
  /// By counter's key.
  void set(std::map<std::string, std::string> counters) { counters_ = std::move(counters); }
  void forget() { counters_.clear(); }
  /// Returns true if the tables of these reads had not changed since.
  bool covers(const ReadChecks& reads) const;

  /// Something that was read has changed since: what follows is read as of the moment, and nothing can be written.
  bool is_past() const { return is_past_; }
  void become_past() { is_past_ = true; }

 private:
  std::map<std::string, std::string> counters_;
  bool is_past_ = false;
};

}  // namespace redquel::executor
