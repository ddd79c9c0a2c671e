#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <vector>

#include "executor/ddl/ddl.h"
#include "executor/roles/access.h"
#include "executor/storage/role_store.h"
#include "sql/catalog/role_set.h"
#include "sql/error.h"

namespace redquel::executor {

/// The roles as a statement is about to make them.
class RoleDraft {
 public:
  RoleDraft(sql::RoleSetPtr base, const SessionState& session) : base_(std::move(base)), roles(*base_), session_(session) {}

 private:
  sql::RoleSetPtr base_;

 public:
  sql::RoleSet roles;  // with this draft's changes

  const SessionState& session() const { return session_; }
  const sql::RoleSet& base() const { return *base_; }
  sql::Oid current_role() const { return executor::current_role(*base_, session_); }
  bool is_superuser() const { return base_->is_superuser(current_role()); }
  /// Superusers, and roles with CREATEROLE.
  bool may_create_roles() const;

  sql::Oid new_oid() { return roles.next_oid++; }
  void set_verifier(sql::Oid role, std::string verifier);
  void drop_verifier(sql::Oid role);
  /// The change fails if definitions of this logical database move meanwhile.
  void require_unchanged(int database, std::string version) { unchanged_databases_.emplace_back(database, std::move(version)); }
  /// Sent to the client once the change is committed.
  void notice(std::string_view severity, sql::SqlError notice) { notices_.emplace_back(severity, std::move(notice)); }
  const std::vector<std::pair<std::string, sql::SqlError>>& notices() const { return notices_; }
  RoleChange take_change();

 private:
  const SessionState& session_;
  std::vector<std::pair<sql::Oid, std::string>> verifiers_;
  std::vector<sql::Oid> dropped_verifiers_;
  std::vector<std::pair<int, std::string>> unchanged_databases_;
  std::vector<std::pair<std::string, sql::SqlError>> notices_;
};

/// Reads the roles, drafts, commits, until no other process is faster. `make` may be called several times.
using MakeRoles = std::function<void(RoleDraft&)>;
asio::awaitable<void> change_roles(DdlContext& context, MakeRoles make);
/// The same, once: false if another process was faster.
asio::awaitable<bool> try_change_roles(DdlContext& context, MakeRoles make);

/// The role that a statement names; CURRENT_ROLE and its kin are the session's. 42704.
const sql::RoleDef& require_role(const sql::RoleSet& roles, const SessionState& session, const std::string& name);
/// 42939 for a name that begins with pg_.
void check_role_name(const std::string& name, std::string_view detail);
/// GRANT and REVOKE of one role.
void add_members(RoleDraft& draft, const sql::RoleDef& role, const std::vector<sql::Oid>& members, sql::Oid grantor, bool admin);
void remove_members(RoleDraft& draft, const sql::RoleDef& role, const std::vector<sql::Oid>& members, bool admin_only);

}  // namespace redquel::executor
