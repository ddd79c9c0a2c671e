#pragma once

#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"
#include "sql/catalog/role_set.h"

namespace redquel::executor {

/// Returns the roles that a GRANT or REVOKE names; PUBLIC is sql::kPublic. 42704.
std::vector<sql::Oid> grantees_of(const sql::RoleSet& roles, const SessionState& session, const parser::ast::Grant& statement);

/// ALTER DEFAULT PRIVILEGES. 42704, 42601, 0LP01, 42501 for a role that the session's is no member of.
void change_default_privileges(CatalogDraft& draft, const parser::ast::Grant& statement);
/// Takes from the entry what it grants to the role (DROP OWNED).
void revoke_default_privileges(CatalogDraft& draft, sql::Oid entry, sql::Oid role);

}  // namespace redquel::executor
