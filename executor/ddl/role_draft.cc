#include "executor/ddl/role_draft.h"

#include <fmt/format.h>

#include "executor/ddl/object_lookup.h"
#include "executor/ddl/role_statements.h"
#include "parser/role_name.h"
#include "sql/catalog/role_json.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// Other processes may be faster so often; then something is wrong.
constexpr int kRoleCommitAttempts = 100;

/// Adds what differs between two maps to the change, as fields.
template <typename Map, typename Name>
void add_differences(const Map& before, const Map& after, Name name, RoleChange& change) {
  for (const auto& [key, value] : after) {
    const auto found = before.find(key);
    if (found == before.end() || !(found->second == value)) change.set_fields.emplace_back(name(key), sql::encode(value));
  }
  for (const auto& [key, value] : before) {
    if (!after.contains(key)) change.deleted_fields.push_back(name(key));
  }
}

}  // namespace

bool RoleDraft::may_create_roles() const {
  const sql::RoleDef* role = base_->find(current_role());
  return role != nullptr && (role->superuser || role->create_role);
}

void RoleDraft::set_verifier(sql::Oid role, std::string verifier) { verifiers_.emplace_back(role, std::move(verifier)); }
void RoleDraft::drop_verifier(sql::Oid role) { dropped_verifiers_.push_back(role); }

RoleChange RoleDraft::take_change() {
  RoleChange change;
  add_differences(base_->roles(), roles.roles(), [](sql::Oid oid) { return sql::role_field(oid); }, change);
  add_differences(base_->memberships(), roles.memberships(), [](const auto& key) { return sql::membership_field(key.first, key.second); }, change);
  add_differences(base_->settings(), roles.settings(), [](const auto& key) { return sql::setting_field(key.first, key.second); }, change);
  add_differences(base_->databases(), roles.databases(), [](const std::string& name) { return sql::database_field(name); }, change);
  if (roles.next_oid != base_->next_oid) change.set_fields.emplace_back(sql::kNextRoleField, std::to_string(roles.next_oid));
  change.verifiers = std::move(verifiers_);
  change.dropped_verifiers = std::move(dropped_verifiers_);
  change.unchanged_databases = std::move(unchanged_databases_);
  return change;
}

asio::awaitable<bool> try_change_roles(DdlContext& context, MakeRoles make) {
  const sql::RoleSetPtr base = co_await load_roles(context.home);
  if (!base->is_stored) {  // a Redis that was emptied under its sessions
    co_await create_first_role(context.home);
    co_return false;
  }
  RoleDraft draft(base, context.session);
  make(draft);
  RoleChange change = draft.take_change();
  if (!change.empty()) {
    const bool is_done = co_await commit_roles(context.home, *base, std::move(change));
    if (!is_done) co_return false;
  }
  if (context.session.notice) {
    for (const auto& [severity, notice] : draft.notices()) context.session.notice(severity, notice);
  }
  co_return true;
}

asio::awaitable<void> change_roles(DdlContext& context, MakeRoles make) {
  for (int attempt = 0; attempt < kRoleCommitAttempts; ++attempt) {
    const bool is_done = co_await try_change_roles(context, make);
    if (is_done) co_return;
  }
  throw SqlError(sqlstate::kSerializationFailure, "could not change the roles due to concurrent changes");
}

const sql::RoleDef& require_role(const sql::RoleSet& roles, const SessionState& session, const std::string& name) {
  const sql::RoleDef* role = name == parser::kCurrentUser   ? roles.find(current_role(roles, session))
                             : name == parser::kSessionUser ? roles.find(session_role(roles, session))
                                                            : roles.find(name);
  if (role == nullptr) throw sql::undefined_role(name);
  return *role;
}

void require_role(const SessionState& session, const std::string& role) { require_role(*sql::known_roles(), session, role); }

std::string role_meant(const SessionState& session, const std::string& role) {
  if (role == parser::kCurrentUser) return session.user;
  if (role != parser::kSessionUser) return role;
  const std::optional<std::string> name = session.show ? session.show("session_authorization") : std::nullopt;
  return name.value_or(session.user);
}

void check_role_name(const std::string& name, std::string_view detail) {
  if (name.starts_with("pg_")) {
    throw SqlError(sqlstate::kReservedName, fmt::format("role name \"{}\" is reserved", name)).detail(std::string(detail));
  }
}

namespace {

void check_grantable(const RoleDraft& draft, const sql::RoleDef& role, sql::Oid grantor) {
  if (role.superuser) {
    if (!draft.is_superuser()) throw SqlError(sqlstate::kInsufficientPrivilege, "must be superuser to alter superusers");
  } else if (!draft.may_create_roles() && !draft.base().is_admin(grantor, role.oid)) {
    throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("must have admin option on role \"{}\"", role.name));
  }
}

}  // namespace

void add_members(RoleDraft& draft, const sql::RoleDef& role, const std::vector<sql::Oid>& members, sql::Oid grantor, bool admin) {
  if (members.empty()) return;
  check_grantable(draft, role, grantor);
  if (role.oid == sql::kDatabaseOwnerRole) {
    throw SqlError(sqlstate::kInternalError, fmt::format("role \"{}\" cannot have explicit members", role.name));
  }
  if (grantor != draft.current_role() && !draft.is_superuser()) {
    throw SqlError(sqlstate::kInsufficientPrivilege, "must be superuser to set grantor");
  }
  for (const sql::Oid member : members) {
    const std::string name = draft.roles.name_of(member);
    if (member == sql::kDatabaseOwnerRole) {
      throw SqlError(sqlstate::kInternalError, fmt::format("role \"{}\" cannot be a member of any role", name));
    }
    if (draft.roles.is_member(role.oid, member)) {
      throw SqlError(sqlstate::kInvalidGrantOperation, fmt::format("role \"{}\" is a member of role \"{}\"", role.name, name));
    }
    const auto found = draft.roles.memberships().find({role.oid, member});
    if (found != draft.roles.memberships().end() && (!admin || found->second.admin)) {
      draft.notice("NOTICE",
                   SqlError(sqlstate::kSuccessfulCompletion, fmt::format("role \"{}\" is already a member of role \"{}\"", name, role.name)));
      continue;
    }
    draft.roles.put(sql::RoleMembership{role.oid, member, grantor, admin});
  }
}

void remove_members(RoleDraft& draft, const sql::RoleDef& role, const std::vector<sql::Oid>& members, bool admin_only) {
  if (members.empty()) return;
  check_grantable(draft, role, draft.current_role());
  for (const sql::Oid member : members) {
    const auto found = draft.roles.memberships().find({role.oid, member});
    if (found == draft.roles.memberships().end()) {
      draft.notice("WARNING",
                   SqlError(sqlstate::kWarning, fmt::format("role \"{}\" is not a member of role \"{}\"", draft.roles.name_of(member), role.name)));
      continue;
    }
    sql::RoleMembership membership = found->second;
    membership.admin = false;
    draft.roles.drop_membership(role.oid, member);
    if (admin_only) draft.roles.put(membership);
  }
}

asio::awaitable<void> run(DdlContext& context, const parser::ast::GrantRole& statement) {
  co_await change_roles(context, [&](RoleDraft& draft) {
    const SessionState& session = draft.session();
    const sql::Oid grantor = draft.current_role();
    std::vector<sql::Oid> members;
    for (const std::string& grantee : statement.grantees) members.push_back(require_role(draft.roles, session, grantee).oid);
    for (const std::string& name : statement.roles) {
      const sql::RoleDef* found = draft.roles.find(name);
      if (found == nullptr) throw sql::undefined_role(name);
      const sql::RoleDef role = *found;
      if (statement.grant) {
        add_members(draft, role, members, grantor, statement.admin_option);
      } else {
        remove_members(draft, role, members, statement.admin_option);
      }
    }
  });
}

}  // namespace redquel::executor
