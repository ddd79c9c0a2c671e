#pragma once

#include <string>
#include <string_view>

#include "executor/runtime/session_state.h"
#include "planner/tree/physical_plan.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/role_set.h"

namespace redquel::executor {

// The only judge of what a role may do. Until there are privileges (GRANT changes nothing), a role that is no superuser may read and write
// the tables that it owns and those that were made before there were roles; it changes what it owns.

/// The session's current role; 0: it has been dropped.
sql::Oid current_role(const sql::RoleSet& roles, const SessionState& session);
/// The role of SESSION_USER.
sql::Oid session_role(const sql::RoleSet& roles, const SessionState& session);
bool is_superuser(const sql::RoleSet& roles, const SessionState& session);
/// Of an expression's surroundings.
bool is_superuser(const sql::EvaluationContext& context);

/// A run of a plan begins: 42501 unless the session's role may read and write its tables. Catalogs with passwords, the schema redis and
/// redquel's own functions that look into Redis are for superusers.
void check_access(const planner::PhysicalPlan& plan, const SessionState& session);
/// Returns false where check_access() throws.
bool has_access(const planner::PhysicalPlan& plan, const SessionState& session);
/// LOCK TABLE, TRUNCATE and their kin; nextval().
void require_access(const SessionState& session, const sql::TableDef& table);
void require_access(const sql::EvaluationContext& context, const sql::SequenceDef& sequence);

/// 42501 unless the role has the privileges of the owner. `kind`: "table", "schema", …
/// `owner`: the text of the definition.
void require_owner(const SessionState& session, const std::string& owner, std::string_view kind, std::string_view name);
/// 42501 unless the role may make objects in the schema: its owner, or the session's own temporary one.
void require_creation(const sql::CatalogSnapshot& catalog, const SessionState& session, const std::string& schema);
void require_database_owner(const sql::RoleSet& roles, const SessionState& session, const std::string& database);
/// 42501 for CREATE SCHEMA unless the role owns the database.
void require_schema_creation(const SessionState& session);
/// 42501 with this message.
void require_superuser(const SessionState& session, std::string_view message);

}  // namespace redquel::executor
