#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
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
  /// `before`: the roles as they are, with what the transaction has changed already.
  RoleDraft(RoleChange before, const SessionState& session) : change_(std::move(before)), roles(*change_.roles), session_(session) {}

 private:
  RoleChange change_;

 public:
  sql::RoleSet roles;  // with this draft's changes

  const SessionState& session() const { return session_; }
  /// Without this draft's changes.
  const sql::RoleSet& base() const { return *change_.roles; }
  sql::Oid current_role() const { return executor::current_role(base(), session_); }
  bool is_superuser() const { return base().is_superuser(current_role()); }
  /// Superusers, and roles with CREATEROLE.
  bool may_create_roles() const;

  sql::Oid new_oid() { return roles.next_oid++; }
  void set_verifier(sql::Oid role, std::string verifier) { change_.verifiers.insert_or_assign(role, std::move(verifier)); }
  void drop_verifier(sql::Oid role) { change_.verifiers.insert_or_assign(role, ""); }
  /// The change fails if definitions of this logical database move meanwhile.
  void require_unchanged(int database, std::string version) { change_.unchanged_databases.insert_or_assign(database, std::move(version)); }
  /// Sent to the client once the change is committed.
  void notice(std::string_view severity, sql::SqlError notice) { notices_.emplace_back(severity, std::move(notice)); }
  const std::vector<std::pair<std::string, sql::SqlError>>& notices() const { return notices_; }
  RoleChange take_change();

 private:
  const SessionState& session_;
  std::vector<std::pair<std::string, sql::SqlError>> notices_;
};

/// Reads the roles, drafts, commits, until no other process is faster. `make` may be called several times. Within a transaction the change
/// becomes the transaction's.
using MakeRoles = std::function<void(RoleDraft&)>;
asio::awaitable<void> change_roles(DdlContext& context, MakeRoles make);
/// Makes one attempt of change_roles(). Returns false, and nothing has changed, if another process was faster.
asio::awaitable<bool> try_change_roles(DdlContext& context, MakeRoles make);

/// The verifiers of all roles, with what the transaction has changed.
asio::awaitable<std::map<sql::Oid, std::string>> load_verifiers(DdlContext& context);

/// The role that a statement names; CURRENT_ROLE and its kin are the session's. 42704.
const sql::RoleDef& require_role(const sql::RoleSet& roles, const SessionState& session, const std::string& name);
/// 42939 for a name that begins with pg_.
void check_role_name(const std::string& name, std::string_view detail);
/// GRANT and REVOKE of one role.
void add_members(RoleDraft& draft, const sql::RoleDef& role, const std::vector<sql::Oid>& members, sql::Oid grantor, bool admin);
void remove_members(RoleDraft& draft, const sql::RoleDef& role, const std::vector<sql::Oid>& members, bool admin_only);

}  // namespace redquel::executor
