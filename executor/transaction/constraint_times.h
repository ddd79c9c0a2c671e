#pragma once

#include <map>
#include <optional>

#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// When a transaction checks its deferrable constraints: as they were made, or as SET CONSTRAINTS has said.
class ConstraintTimes {
 public:
  void set_all(bool deferred) {
    all_ = deferred;
    single_.clear();
  }
  void set(sql::Oid constraint, bool deferred) { single_[constraint] = deferred; }

  bool is_deferred(const sql::ForeignKeyDef& key) const {
    if (!key.deferrable) return false;
    if (const auto said = single_.find(key.oid); said != single_.end()) return said->second;
    return all_.value_or(key.initially_deferred);
  }

 private:
  std::optional<bool> all_;
  std::map<sql::Oid, bool> single_;
};

}  // namespace redquel::executor
