#include "executor/ddl/role_dependents.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sql/catalog/role_set.h"
#include "sql/functions/object_names.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/system_acl.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

using sql::ObjectAddress;
using Kind = RoleDependency::Kind;

namespace {

namespace classes = sql::catalog_class;

/// Collects the objects that depend on one role.
class DependencyList {
 public:
  explicit DependencyList(sql::Oid role) : role_(role) {}

  void add_owned(const ObjectAddress& object, sql::Oid owner) {
    if (owner == role_) found_.push_back({Kind::kOwner, object});
  }
  void add(const ObjectAddress& object, sql::Oid owner, const sql::OptionalAcl& acl) {
    add_owned(object, owner);
    add_privileges(object, owner, acl);
  }
  void add_privileges(const ObjectAddress& object, sql::Oid owner, const sql::OptionalAcl& acl) {
    if (names_role(acl, owner, role_)) found_.push_back({Kind::kPrivileges, object});
  }
  void add_policies(const sql::TableDef& table) {
    for (const sql::PolicyDef& policy : table.security.policies) {
      if (std::ranges::find(policy.roles, role_) != policy.roles.end()) found_.push_back({Kind::kPolicy, {kPolicies, policy.oid}});
    }
  }
  void add_relations(const sql::CatalogSnapshot& catalog) {
    for (const auto& [oid, table] : catalog.tables) {
      const sql::Oid owner = sql::owner_role(table->owner);
      add({classes::kRelations, oid}, owner, table->acl);
      for (const sql::ColumnDef& column : table->columns) add_privileges({classes::kRelations, oid, column.number}, owner, column.acl);
      add_policies(*table);
    }
    for (const auto& [oid, view] : catalog.views) {
      const sql::Oid owner = sql::owner_role(view->owner);
      add({classes::kRelations, oid}, owner, view->acl);
      std::int32_t number = 0;
      for (const sql::ViewDef::Column& column : view->columns) add_privileges({classes::kRelations, oid, ++number}, owner, column.acl);
    }
    for (const auto& [oid, sequence] : catalog.sequences) {
      add({classes::kRelations, oid}, sql::owner_role(sql::owner_of(catalog, sequence)), sequence.acl);
    }
  }
  void add_others(const sql::CatalogSnapshot& catalog) {
    for (const auto& [name, schema] : catalog.schemas) {
      if (!sql::is_temporary_schema(name)) add({classes::kSchemas, schema.oid}, sql::owner_role(schema.owner), schema.acl);
    }
    for (const auto& [oid, function] : catalog.functions) add({classes::kFunctions, oid}, sql::owner_role(function->owner), function->acl);
    for (const auto& [oid, type] : catalog.types) add({classes::kTypes, oid}, sql::owner_role(type->owner), type->acl);
    for (const auto& [oid, extension] : catalog.extensions) add_owned({kExtensions, oid}, sql::owner_role(extension.owner));
    for (const auto& [oid, publication] : catalog.publications) add_owned({kPublications, oid}, sql::owner_role(publication.owner));
    for (const auto& [oid, entry] : catalog.default_acls) add({kDefaultAcls, oid}, entry.role, entry.acl);
    add({classes::kForeignServers, sql::kRedisServer}, sql::owner_role(catalog.server.owner), catalog.server.acl);
    for (const sql::UserMappingDef& mapping : catalog.server.mappings) add_owned({kUserMappings, mapping.oid}, mapping.role);
    for (const auto& [object, acl] : catalog.system_acls) add_privileges(sql::system_acl_object(object), sql::kPostgresRole, acl);
  }

  std::vector<RoleDependency> sorted() && {
    std::ranges::sort(found_, {}, [](const RoleDependency& d) { return std::tuple(d.object.object, d.object.catalog, d.object.column, d.kind); });
    return std::move(found_);
  }

 private:
  sql::Oid role_;
  std::vector<RoleDependency> found_;
};

std::string_view plural_of(char kind) {
  switch (kind) {
    case 'r': return "relations";
    case 'S': return "sequences";
    case 'f': return "functions";
    case 'T': return "types";
    default: return "schemas";
  }
}

std::string describe_default_acl(const sql::CatalogSnapshot& catalog, sql::Oid oid) {
  const sql::DefaultAclDef& entry = catalog.default_acls.at(oid);
  const std::string text =
      fmt::format("default privileges on new {} belonging to role {}", plural_of(entry.kind), sql::known_roles()->name_of(entry.role));
  return entry.schema == 0 ? text : fmt::format("{} in schema {}", text, sql::schema_name(catalog, entry.schema));
}

std::string describe_policy(const sql::EvaluationContext& context, sql::Oid oid) {
  for (const auto& [number, table] : sql::catalog_of(context).tables) {
    const auto policy = std::ranges::find(table->security.policies, oid, &sql::PolicyDef::oid);
    if (policy == table->security.policies.end()) continue;
    return fmt::format("policy {} on {}", policy->name, sql::describe_object({classes::kRelations, number}, context).value_or("table"));
  }
  return "policy";
}

std::string describe_mapping(const sql::CatalogSnapshot& catalog, sql::Oid oid) {
  const auto mapping = std::ranges::find(catalog.server.mappings, oid, &sql::UserMappingDef::oid);
  const bool is_public = mapping == catalog.server.mappings.end() || mapping->role == sql::kPublic;
  return fmt::format("user mapping for {} on server redis", is_public ? "public" : sql::known_roles()->name_of(mapping->role));
}

std::string object_words(const ObjectAddress& object, const sql::EvaluationContext& context) {
  const sql::CatalogSnapshot& catalog = sql::catalog_of(context);
  switch (object.catalog) {
    case kDefaultAcls: return describe_default_acl(catalog, object.object);
    case kPolicies: return describe_policy(context, object.object);
    case kExtensions: return "extension " + catalog.extensions.at(object.object).name;
    case kUserMappings: return describe_mapping(catalog, object.object);
    case classes::kForeignServers: return "server redis";
    case classes::kForeignDataWrappers: return "foreign-data wrapper redis";
    case classes::kLanguages: return "language sql";
    default: return sql::describe_object(object, context).value_or("an object");
  }
}

}  // namespace

std::vector<RoleDependency> role_dependencies(const sql::CatalogSnapshot& catalog, sql::Oid role) {
  DependencyList list(role);
  list.add_relations(catalog);
  list.add_others(catalog);
  return std::move(list).sorted();
}

bool names_role(const sql::OptionalAcl& acl, sql::Oid owner, sql::Oid role) {
  return acl && role != owner && std::ranges::any_of(*acl, [&](const sql::AclItem& item) { return item.grantee == role || item.grantor == role; });
}

std::string describe(const RoleDependency& dependency, const sql::EvaluationContext& context) {
  const std::string_view relation = dependency.kind == Kind::kOwner ? "owner of" : dependency.kind == Kind::kPolicy ? "target of" : "privileges for";
  return fmt::format("{} {}", relation, object_words(dependency.object, context));
}

}  // namespace redquel::executor
