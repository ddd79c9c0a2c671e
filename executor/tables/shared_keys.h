#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "executor/context/execution_context.h"
#include "executor/redis/keyspace_passes.h"
#include "planner/tree/physical_plan.h"

namespace redquel::executor {

/// One scan of the keyspace for several foreign tables of a statement. Each table takes the keys of its own form and type, as one scan of its
/// own would find them.
class SharedKeys {
 public:
  /// Returns null unless the plan scans the keyspace for several tables.
  static std::shared_ptr<SharedKeys> of_plan(const planner::PhysicalNode& plan);

  /// Returns true for the first scan of a table. Another one must scan for itself.
  bool join(const sql::TableDef& table);
  /// Returns true if no scan step has been made yet.
  bool is_new() const { return !walk_; }
  /// Returns the next keys of a table, which may be none; makes a step of the scan if none is kept.
  asio::awaitable<std::vector<std::string>> next(const sql::TableDef& table, ExecutionContext& context, ExecutionCounters* counters);
  /// Returns true if the table has no more keys.
  bool is_over(const sql::TableDef& table) const;

 private:
  struct Taker {
    std::shared_ptr<const sql::TableDef> table;
    std::deque<std::string> keys;
    bool has_joined = false;
  };
  /// Keeps these keys of the takers whose type is that of their tables. Tables with very many keys that have not begun must scan for themselves.
  asio::awaitable<void> keep(std::vector<std::pair<Taker*, std::string>> found, const sql::TableDef& table, ExecutionContext& context, ExecutionCounters* counters);

  std::map<sql::Oid, Taker> takers_;
  std::string pattern_;
  std::unique_ptr<KeyspacePasses::Walk> walk_;  // null: no step has been made
  std::unordered_set<std::string> seen_;  // SCAN may give a key twice
  std::size_t bytes_ = 0;                 // of keys that were kept for others
};

}  // namespace redquel::executor
