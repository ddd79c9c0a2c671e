#pragma once

#include <string>

#include "executor/runtime/session_state.h"
#include "sql/catalog/role_set.h"

namespace redquel::executor {

/// While it lives, the session runs with the rights of another role: the owner of a SECURITY DEFINER function or of a materialized view.
class ActingRole {
 public:
  ActingRole(SessionState& session, sql::Oid role) : session_(session), user_(session.user), role_(session.role) {
    ++session_.definer_depth;
    session_.role = role;
    session_.user = sql::known_roles()->name_of(role);
  }
  ~ActingRole() {
    --session_.definer_depth;
    session_.role = role_;
    session_.user = std::move(user_);
  }
  ActingRole(const ActingRole&) = delete;
  ActingRole& operator=(const ActingRole&) = delete;

 private:
  SessionState& session_;
  std::string user_;
  const sql::Oid role_;
};

}  // namespace redquel::executor
