#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/privileges.h"
#include "sql/functions/object_description.h"
#include "sql/privileges/object_acl.h"

namespace redquel::executor {

/// The change that one GRANT or REVOKE makes to the list of each of its objects.
struct PrivilegeChange {
  bool is_grant = true;
  bool grant_option = false;  // WITH GRANT OPTION, GRANT OPTION FOR
  bool cascade = false;
  WrittenRights rights;
  std::vector<sql::Oid> grantees;
  sql::Oid role = 0;  // that runs the statement
};

/// Takes a warning for the client.
using Warn = std::function<void(sql::SqlError)>;

/// Returns the list of an object after the change, of objects that have no columns. 42501 for a role that has no right on the object, 0LP01,
/// 2BP01; warnings 01007 and 01006.
sql::Acl changed_acl(const PrivilegeChange& change, const sql::ObjectAcl& object, const std::string& name, const sql::RoleSet& roles,
                     std::string_view database, const Warn& warn);

/// Carries the change out on one object. `named_as_table`: GRANT … ON TABLE, which may name a sequence, too.
void change_privileges(CatalogDraft& draft, const PrivilegeChange& change, const sql::ObjectAddress& object, bool named_as_table);

/// Gives an object another list. The caller has checked that the role may.
void put_acl(CatalogDraft& draft, const sql::ObjectAddress& object, sql::Acl acl);

/// "table", "foreign server": as errors about rights call objects of the kind.
std::string_view word_for(sql::AclKind kind);

}  // namespace redquel::executor
