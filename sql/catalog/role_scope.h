#pragma once

#include "sql/catalog/role_set.h"

namespace redquel::sql {

/// While it lives, known_roles() of this thread are these: the roles as an open transaction has made them.
class RoleScope {
 public:
  explicit RoleScope(const RoleSetPtr& roles);
  ~RoleScope();
  RoleScope(const RoleScope&) = delete;
  RoleScope& operator=(const RoleScope&) = delete;

 private:
  const RoleSetPtr* const outer_;
};

/// The roles that set_known_roles() was called with last, also within a RoleScope.
const RoleSetPtr& committed_roles();

}  // namespace redquel::sql
