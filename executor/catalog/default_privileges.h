#pragma once

#include <string_view>

#include "executor/catalog/catalog_draft.h"
#include "executor/roles/access.h"
#include "sql/catalog/role_set.h"
#include "sql/privileges/acl.h"

namespace redquel::executor {

/// The letter of pg_default_acl.defaclobjtype; '\0': ALTER DEFAULT PRIVILEGES has nothing for objects of the kind.
char default_acl_letter(sql::AclKind kind);
sql::AclKind kind_of_default_acl(char letter);

/// Returns the list that ALTER DEFAULT PRIVILEGES gives a new object of the role. nullopt: the default of the kind. `schema`: of the object.
sql::OptionalAcl default_privileges(const CatalogDraft& draft, sql::AclKind kind, sql::Oid role, std::string_view schema);

/// Makes a new object the session's role's, with the list that ALTER DEFAULT PRIVILEGES gives it. Its schema is known.
template <class Definition>
void take_ownership(const CatalogDraft& draft, sql::AclKind kind, Definition& definition) {
  const sql::Oid role = current_role(*sql::known_roles(), draft.session());
  definition.owner = role == 0 ? draft.session().user : sql::owner_reference(role);
  definition.acl = default_privileges(draft, kind, role, definition.schema);
}

}  // namespace redquel::executor
