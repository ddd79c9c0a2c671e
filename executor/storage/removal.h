#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Keys of a dropped table or index that are still to be deleted: an entry of the hash `redquel:removals`. It is written by the
/// script that drops the definition, and goes when nothing is left, so that a killed proxy's work is finished by another. Other
/// programs may have keys under the same prefix, so the entry names what is the table's: rows are those that its zset names.
struct Removal {
  std::string id;      // random; field of the hash
  std::string prefix;  // of the table
  bool whole = false;  // rows and counters too; the prefix is free again afterwards
  struct Part {
    sql::Structure::Kind kind;
    std::vector<std::string> fields;  // the columns' segments, as ColumnDef::field
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts;  // structures of indexes
  /// Process (see locks.h) whose open transaction has the prefix: no key may be deleted while it lives. Empty: no owner.
  std::string owner = {};
  bool composite_key = false;              // of a whole table: true if row keys consist of several columns
  std::vector<std::string> counters = {};  // of a whole table: keys of its counters
  /// Written by an older build, which deleted every key under the prefix: the parts are to be found by the form of their names.
  bool names_nothing = false;
};

/// Names everything that the table keeps, but for counters of sequences.
Removal removal_of_table(const sql::TableDef& table);
Removal removal_of_structures(const sql::TableDef& table, const std::vector<sql::Structure>& structures);
/// Adds what `other` names and `removal` does not. Returns false if there is nothing to add.
bool add_parts(Removal& removal, const Removal& other);

std::string encode_removal(const Removal&);
/// Throws SqlError XX001.
Removal decode_removal(std::string_view id, std::string_view json);

/// Returns true if the process of the prefix's transaction still lives.
asio::awaitable<bool> has_living_owner(RedisClient& client, const Removal& removal);

/// Deletes the keys in bounded steps and then the entry. Harmless when another process does the same, or has done.
asio::awaitable<void> run_removal(RedisClient& client, Removal removal);

}  // namespace redquel::executor
