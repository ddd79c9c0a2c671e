#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "sql/counts.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// The work of statements on one table, for pg_stat_user_tables. Rows count when they are read, before conditions that Redis cannot check;
/// written rows also count if their transaction is rolled back.
struct TableCounts {
  Count whole_scans, rows_of_whole_scans, index_scans, rows_of_index_scans, inserted, updated, deleted;
};
/// The work of statements on one index, for pg_stat_user_indexes.
struct IndexCounts {
  Count scans, rows;
};

/// The counts of all tables and indexes of one database that one thread has. The thread finds and adds without a lock; others visit.
class RelationCounts {
 public:
  // For the owner. The counts stay at their place.
  TableCounts& table(Oid oid) { return find_or_make(tables_, oid); }
  IndexCounts& index(Oid oid) { return find_or_make(indexes_, oid); }

  // From any thread: calls `visit` with each oid and its counts.
  template <class Visit>
  void visit_tables(const Visit& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [oid, counts] : tables_) visit(oid, *counts);
  }
  template <class Visit>
  void visit_indexes(const Visit& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [oid, counts] : indexes_) visit(oid, *counts);
  }

 private:
  template <class Counts>
  Counts& find_or_make(std::unordered_map<Oid, std::unique_ptr<Counts>>& map, Oid oid) {
    const auto found = map.find(oid);
    if (found != map.end()) return *found->second;
    const std::lock_guard lock(mutex_);
    return *map.emplace(oid, std::make_unique<Counts>()).first->second;
  }

  mutable std::mutex mutex_;  // held by the owner while it adds to a map, by others while they read
  std::unordered_map<Oid, std::unique_ptr<TableCounts>> tables_;
  std::unordered_map<Oid, std::unique_ptr<IndexCounts>> indexes_;
};

}  // namespace redquel::sql
