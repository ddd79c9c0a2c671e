#pragma once

#include <string>
#include <string_view>

#include "executor/runtime/session_state.h"
#include "planner/plan.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/role_set.h"

namespace redquel::executor {

// The only judge of what a role may do. Statements bring the list of the rights that they need (planner/tree/requirement.h); definitions
// ask for rights, ownership or membership.

/// The session's current role; 0: it has been dropped.
sql::Oid current_role(const sql::RoleSet& roles, const SessionState& session);
/// The role of SESSION_USER.
sql::Oid session_role(const sql::RoleSet& roles, const SessionState& session);
bool is_superuser(const sql::RoleSet& roles, const SessionState& session);
/// Returns true if the role of an expression's context is a superuser.
bool is_superuser(const sql::EvaluationContext& context);

/// A run of a plan begins: 42501 "permission denied for table t" unless the roles have what it requires. Functions of redquel that look into
/// Redis are for superusers.
void check_access(const planner::PlannedStatement& planned, const SessionState& session, const sql::CatalogSnapshot& catalog);
/// Returns false where check_access() throws.
bool has_access(const planner::PlannedStatement& planned, const SessionState& session, const sql::CatalogSnapshot& catalog);
/// Throws 42501 unless the session's role has all of the rights on the object as a whole; of a sequence one of them. `kind`: kTable (any
/// relation), kSequence, kFunction, kType, kSchema, kForeignServer.
void require_rights(const SessionState& session, const sql::CatalogSnapshot& catalog, sql::AclKind kind, sql::Oid object, sql::Rights rights);
/// Like require_rights() above, for the role of an expression's context.
void require_rights(const sql::EvaluationContext& context, sql::AclKind kind, sql::Oid object, sql::Rights rights);
/// Throws 42501 unless the role has one of the rights on the object as a whole.
void require_any_right(sql::Oid role, std::string_view database, const sql::CatalogSnapshot& catalog, sql::AclKind kind, sql::Oid object,
                       sql::Rights rights);
/// Returns true if the role has one of the rights on the object as a whole.
bool has_any_right(sql::Oid role, std::string_view database, const sql::CatalogSnapshot& catalog, sql::AclKind kind, sql::Oid object, sql::Rights rights);
/// Throws 42501 "permission denied for schema s" unless the session's role has USAGE on the schema, as it is written. Temporary schemas of
/// other sessions are always refused. Does nothing if there is no such schema.
void require_schema_usage(const SessionState& session, const sql::CatalogSnapshot& catalog, const std::string& schema);
/// Leaves schemas out of the session's search path that its role may not use. `has_own_definitions`: the catalog is that of a transaction,
/// whose definitions change without another version.
void follow_search_path(SessionState& session, const sql::CatalogSnapshot& catalog, bool has_own_definitions);

/// 42501 unless the role has the privileges of the owner. `kind`: "table", "schema", …
/// `owner`: the text of the definition.
void require_owner(const SessionState& session, const std::string& owner, std::string_view kind, std::string_view name);
/// 42501 unless the role may make objects in the schema: CREATE on it, or it is the session's own temporary one.
void require_creation(const sql::CatalogSnapshot& catalog, const SessionState& session, const std::string& schema);
void require_database_owner(const sql::RoleSet& roles, const SessionState& session, const std::string& database);
/// 42501 for CREATE SCHEMA unless the role has CREATE on the database.
void require_schema_creation(const SessionState& session);
/// 42501 with this message.
void require_superuser(const SessionState& session, std::string_view message);

}  // namespace redquel::executor
