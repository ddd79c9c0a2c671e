#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/index_checker.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Declared structures of a foreign table that are compared with its rows.
struct StructureCheck {
  RedisClient& redis;  // of the session's logical database, where the catalog lies
  RedisAccess& access;
  int database;
  sql::CatalogPtr catalog;
  std::shared_ptr<const sql::TableDef> table;
  std::set<sql::Oid> indexes;
  /// Looks for entries that stand for no row, too.
  bool strays = false;
  /// Values of the session's parameters that bound scans (tables/scan_budget.h); nullopt: there is no such parameter.
  std::function<std::optional<std::string>(const std::string& name)> show = {};
};

struct StructureReport {
  std::vector<IndexDifference> differences;  // at most kMost; an entry of a row is named by what stands for the row
  std::map<sql::Oid, std::size_t> missing;   // by index: rows without their entry
  std::set<sql::Oid> absent;                 // of these: structures of which no key exists

  static constexpr std::size_t kMost = 1000;
};

/// Compares the structures with all rows, in bounded steps. A row and its entries are read at one moment before they are reported, so concurrent
/// writes of redquel cause no false differences. Values that cannot be read count as NULL. Throws SqlError, StaleCatalog.
asio::awaitable<StructureReport> compare_structures(StructureCheck check);

/// Adds the entries that rows lack and, with `strays`, removes those that stand for no row: each by a script that looks at its row again.
/// Gives what it could not mend: rows that a list lacks. Throws 23505 where two rows have one value of a lookup, XX001, 40001 where rows change
/// all the time, StaleCatalog.
asio::awaitable<StructureReport> mend_structures(StructureCheck check);

}  // namespace redquel::executor
