#include <fmt/format.h>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/default_privileges.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/new_owner.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/schema_name.h"
#include "executor/roles/access.h"
#include "sql/catalog/role_set.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

void check_new_schema_name(const CatalogDraft& draft, const std::string& name) {
  if (name.starts_with("pg_")) {
    throw SqlError(sqlstate::kReservedName, fmt::format("unacceptable schema name \"{}\"", name))
        .detail("The prefix \"pg_\" is reserved for system schemas.");
  }
  if (draft.catalog().schemas.contains(name) || is_system_schema(name)) {
    throw SqlError(sqlstate::kDuplicateSchema, fmt::format("schema \"{}\" already exists", name));
  }
}

asio::awaitable<void> run(DdlContext& context, const ast::CreateSchema& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    const std::string role = role_meant(draft.session(), statement.role);
    const std::string name = statement.name.empty() ? role : statement.name;
    require_schema_creation(draft.session());
    if (statement.if_not_exists && (draft.catalog().schemas.contains(name) || is_system_schema(name))) {
      draft.notice(sqlstate::kDuplicateSchema, fmt::format("schema \"{}\" already exists, skipping", name));
      return;
    }
    const std::string owner = role.empty() ? sql::owner_reference(current_role(*sql::known_roles(), draft.session())) : new_owner(draft.session(), statement.role);
    check_new_schema_name(draft, name);
    sql::SchemaDef schema;
    schema.oid = draft.new_oid();
    schema.name = name;
    schema.owner = owner;
    schema.acl = default_privileges(draft, sql::AclKind::kSchema, sql::owner_role(owner), "");
    draft.put(std::move(schema));
  };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
