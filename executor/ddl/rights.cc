#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/catalog_draft.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/type_lookup.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

void require_role(const SessionState& session, const std::string& role) {
  if (role == session.user || role == "postgres" || role == "current_user" || role == "session_user") return;
  throw SqlError("42704", fmt::format("role \"{}\" does not exist", role));
}

/// Every role is a superuser: what is granted is there already, and what is taken from a superuser stays, as in PostgreSQL.
asio::awaitable<void> run(DdlContext& context, const ast::Grant& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    for (const std::string& role : statement.grantees) {
      if (role != "public") require_role(draft.session(), role);
    }
    const bool are_relations = statement.object == ast::ObjectType::kTable || statement.object == ast::ObjectType::kSequence;
    for (const ast::ObjectName& object : statement.objects) {
      if (are_relations && !statement.all_in_schema) {
        const ast::RelationName name = relation_name(object.names);
        check_schema(draft, name);
        if (relation_kind(draft, name) == RelationKind::kNone) throw missing_relation(name);
      } else if (is_routine(statement.object) && !statement.all_in_schema) {
        require_function(draft, object, statement.object);
      } else if (statement.object == ast::ObjectType::kType || statement.object == ast::ObjectType::kDomain) {
        require_type(draft, object.names);
      } else if (are_relations || statement.object == ast::ObjectType::kSchema) {
        const std::string& schema = object.names.back();
        if (!is_system_schema(schema) && !draft.catalog().schemas.contains(schema)) {
          throw SqlError("3F000", fmt::format("schema \"{}\" does not exist", schema));
        }
      }
    }
  };
  co_await change_catalog(context, make);
}

/// ALTER SCHEMA … OWNER TO, ALTER FUNCTION … OWNER TO.
asio::awaitable<void> run(DdlContext& context, const ast::AlterOwner& statement) {
  const bool is_function = is_routine(statement.object);
  if (statement.object != ast::ObjectType::kSchema && !is_function) throw sql::not_supported("OWNER TO of this kind of object");
  const MakeDraft make = [&](CatalogDraft& draft) {
    if (is_function) {
      sql::FunctionDef function = *require_function(draft, statement.name, statement.object);
      require_role(draft.session(), statement.role);
      function.owner = statement.role;
      return draft.put(std::move(function));
    }
    const std::string& name = statement.name.names.back();
    const auto found = draft.catalog().schemas.find(name);
    if (found == draft.catalog().schemas.end()) throw SqlError("3F000", fmt::format("schema \"{}\" does not exist", name));
    require_role(draft.session(), statement.role);
    sql::SchemaDef schema = found->second;
    schema.owner = statement.role;
    draft.put(std::move(schema));
  };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
