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
/// script that drops the definition, and goes when nothing is left, so that a killed proxy's work is finished by another.
struct Removal {
  std::string id;      // random; field of the hash
  std::string prefix;  // of the table
  bool whole = false;  // everything under the prefix, which is free again afterwards
  struct Part {
    sql::Structure::Kind kind;
    std::vector<std::string> fields;  // the columns' segments, as ColumnDef::field
  };
  std::vector<Part> parts;  // otherwise: structures of dropped indexes
  /// Process (see locks.h) whose open transaction has the prefix: nothing is to be deleted while it lives. Empty: nobody has it.
  std::string owner = {};
};

Removal removal_of_table(const sql::TableDef& table);
Removal removal_of_structures(const sql::TableDef& table, const std::vector<sql::Structure>& structures);

std::string encode_removal(const Removal&);
/// Throws SqlError XX001.
Removal decode_removal(std::string_view id, std::string_view json);

/// Does the transaction that has the prefix still have its process?
asio::awaitable<bool> has_living_owner(RedisClient& client, const Removal& removal);

/// Deletes the keys in bounded steps and then the entry. Harmless when another process does the same, or has done.
asio::awaitable<void> run_removal(RedisClient& client, Removal removal);

}  // namespace redquel::executor
