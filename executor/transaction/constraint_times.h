#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

/// When a transaction checks its deferrable constraints: as they were made, or as SET CONSTRAINTS has said.
class ConstraintTimes {
 public:
  void set_all(bool deferred) {
    all_ = deferred;
    single_.clear();
  }
  void set(sql::Oid constraint, bool deferred) { single_[constraint] = deferred; }

  bool is_deferred(const sql::ForeignKeyDef& key) const { return key.deferrable && is_deferred(key.oid, key.initially_deferred); }
  /// Returns true if every constraint that makes values of these columns unique is checked at commit.
  bool is_deferred(const sql::TableDef& table, std::span<const std::int16_t> columns) const {
    const std::vector<const sql::IndexDef*> indexes = sql::unique_indexes_over(table, columns);
    return !indexes.empty() && std::ranges::all_of(indexes, [&](const sql::IndexDef* index) {
      return index->is_deferrable() && is_deferred(index->oid, index->is_initially_deferred());
    });
  }

 private:
  bool is_deferred(sql::Oid constraint, bool initially) const {
    if (const auto said = single_.find(constraint); said != single_.end()) return said->second;
    return all_.value_or(initially);
  }

  std::optional<bool> all_;
  std::map<sql::Oid, bool> single_;
};

}  // namespace redquel::executor
