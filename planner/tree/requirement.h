#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "sql/privileges/acl.h"
#include "sql/types/type.h"

namespace redquel::planner {

/// Rights that a statement needs on one object, as an entry of PostgreSQL's range table has them. The binder collects them, the executor
/// checks them (executor/roles/access.h).
struct Requirement {
  /// kTable: any relation. kSequence: values are drawn from it, for which one of the rights suffices. kFunction, kSchema.
  sql::AclKind kind = sql::AclKind::kTable;
  sql::Oid object = 0;
  sql::Rights rights = 0;
  /// Numbers of the columns that are read, inserted and updated; 0: the whole row; negative: a system column. Where a right is needed and
  /// its set is empty, the right on any column suffices.
  std::set<std::int16_t> selected, inserted, updated;
  /// The role whose rights count: the owner of the view that names the relation. None: the role that runs the statement.
  std::optional<sql::Oid> checked_as;
  /// Queries around it. Those of outer queries are checked first.
  std::size_t depth = 0;
};

/// The rights that a statement needs of roles.
struct StatementRights {
  std::vector<Requirement> requirements;  // in the order in which they are checked
  bool depends_on_role = false;           // for another role the plan might be another one
};

}  // namespace redquel::planner
