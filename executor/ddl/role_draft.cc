#include "executor/ddl/role_draft.h"

#include <fmt/format.h>

#include "executor/ddl/object_lookup.h"
#include "executor/ddl/role_statements.h"
#include "executor/transaction/transaction.h"
#include "parser/role_name.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// Other processes may be faster so often; then something is wrong.
constexpr int kRoleCommitAttempts = 100;

}  // namespace

bool RoleDraft::may_create_roles() const {
  const sql::RoleDef* role = base().find(current_role());
  return role != nullptr && (role->superuser || role->create_role);
}

RoleChange RoleDraft::take_change() {
  change_.roles = std::make_shared<const sql::RoleSet>(roles);
  return std::move(change_);
}

namespace {

void give_notices(const SessionState& session, const RoleDraft& draft) {
  if (!session.notice) return;
  for (const auto& [severity, notice] : draft.notices()) session.notice(severity, notice);
}

/// Returns the roles as they are for the statement. A Redis that was emptied under its sessions gets its first role.
asio::awaitable<RoleChange> load_role_change(DdlContext& context) {
  const Transaction* transaction = context.session.transaction.get();
  if (transaction != nullptr && transaction->catalog() != nullptr && transaction->catalog()->roles()) co_return *transaction->catalog()->roles();
  sql::RoleSetPtr committed = co_await load_roles(context.home);
  if (!committed->is_stored) {
    co_await create_first_role(context.home);
    committed = co_await load_roles(context.home);
  }
  co_return RoleChange{.committed = committed, .roles = committed};
}

}  // namespace

asio::awaitable<std::map<sql::Oid, std::string>> load_verifiers(DdlContext& context) {
  const RoleChange change = co_await load_role_change(context);
  std::map<sql::Oid, std::string> verifiers = co_await load_verifiers(context.home);
  for (const auto& [role, verifier] : change.verifiers) {
    if (verifier.empty()) verifiers.erase(role);
    else verifiers.insert_or_assign(role, verifier);
  }
  co_return verifiers;
}

asio::awaitable<bool> try_change_roles(DdlContext& context, MakeRoles make) {
  RoleDraft draft(co_await load_role_change(context), context.session);
  make(draft);
  RoleChange change = draft.take_change();
  if (context.session.transaction) {
    TransactionCatalog& catalog = co_await transaction_catalog(context);
    catalog.set_roles(std::move(change), context.database);
  } else if (!change.empty()) {
    const bool is_done = co_await commit_roles(context.home, change);
    if (!is_done) co_return false;
  }
  give_notices(context.session, draft);
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
