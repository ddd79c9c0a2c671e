// information_schema: roles, and what has been granted to them.

#include <set>
#include <tuple>

#include "sql/privileges/right_names.h"
#include "sql/privileges/role_rights.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {
namespace {

struct Grant {
  std::string grantor, grantee;
  Rights right = 0;
  bool grantable = false;

  auto operator<=>(const Grant&) const = default;
};

/// The grants that the current role sees. `kAll`: its own, those to PUBLIC; `kOfRoles` (the views role_…): not those to PUBLIC by others.
enum class Seen { kAll, kOfRoles };

template <Seen seen>
class GrantReader {
 public:
  GrantReader(const CatalogSnapshot& catalog, const EvaluationContext& context)
      : role_(catalog, context), database_(context.database) {}

  /// Calls `visit(grant)` for each of the rights in a list. The owner, and a grantee that has its privileges, may grant all on.
  template <class Visit>
  void for_each(const Acl& acl, Oid owner, Rights rights, const Visit& visit) const {
    for (const AclItem& item : acl) {
      if ((item.rights & rights) == 0 || !is_seen(item)) continue;
      const RoleDef* grantor = roles_->find(item.grantor);
      const RoleDef* grantee = roles_->find(item.grantee);
      if (grantor == nullptr || (grantee == nullptr && item.grantee != kPublic)) continue;
      const bool is_owner = grantee != nullptr && roles_->has_privileges_of(item.grantee, owner, database_);
      for (Rights right = 1; right != 0; right <<= 1) {
        if ((item.rights & rights & right) == 0) continue;
        visit(Grant{grantor->name, grantee != nullptr ? grantee->name : "PUBLIC", right, is_owner || (item.grantable & right) != 0});
      }
    }
  }

 private:
  bool is_seen(const AclItem& item) const {
    if (role_.has_role(item.grantor)) return true;
    return item.grantee == kPublic ? seen == Seen::kAll : role_.has_role(item.grantee);
  }

  RoleRights role_;
  std::string_view database_;
  RoleSetPtr roles_ = known_roles();
};

void enabled_roles(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const RoleRights current(catalog, context);
  for (const auto& [oid, role] : known_roles()->roles()) {
    if (current.has_role(oid)) out.add(role.name);
  }
}

template <bool only_admin>
void applicable_roles(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const RoleRights current(catalog, context);
  const RoleSet& roles = *known_roles();
  const auto add = [&](Oid member, Oid role, bool is_admin) {
    if (current.has_role(member) && (is_admin || !only_admin)) out.add(roles.name_of(member), roles.name_of(role), is_admin);
  };
  for (const auto& [key, membership] : roles.memberships()) add(membership.member, membership.role, membership.admin);
  add(roles.facts_of(context.database).owner, kDatabaseOwnerRole, false);
}

bool has_grants(const Relation& relation) { return relation.kind == 'r' || relation.kind == 'p' || relation.kind == 'v' || relation.kind == 'f'; }

template <Seen seen>
void table_privileges(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const GrantReader<seen> reader(catalog, context);
  for (const Relation& relation : all_relations(catalog)) {
    const std::optional<ObjectAcl> acl = has_grants(relation) ? acl_of(catalog, catalog_class::kRelations, relation.oid) : std::nullopt;
    if (!acl) continue;
    reader.for_each(acl->effective(), acl->owner, all_rights(AclKind::kTable), [&](const Grant& grant) {
      out.add(grant.grantor, grant.grantee, context.database, relation.schema, relation.name, right_name(grant.right), grant.grantable,
              grant.right == right::kSelect);
    });
  }
}

/// Those of the table for each column, and those of the column; each once.
template <Seen seen>
void column_privileges(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const GrantReader<seen> reader(catalog, context);
  constexpr Rights kRights = right::kInsert | right::kSelect | right::kUpdate | right::kReferences;
  for (const Relation& relation : all_relations(catalog)) {
    const std::optional<ObjectAcl> acl = has_grants(relation) ? acl_of(catalog, catalog_class::kRelations, relation.oid) : std::nullopt;
    if (!acl) continue;
    std::set<Grant> of_table;
    reader.for_each(acl->effective(), acl->owner, kRights, [&](const Grant& grant) { of_table.insert(grant); });
    for (const Attribute& attribute : attributes_of(relation)) {
      std::set<Grant> grants = of_table;
      const OptionalAcl own = column_acl(catalog, relation.oid, attribute.number);
      if (own) reader.for_each(*own, acl->owner, kRights, [&](const Grant& grant) { grants.insert(grant); });
      for (const Grant& grant : grants) {
        out.add(grant.grantor, grant.grantee, context.database, relation.schema, relation.name, attribute.name, right_name(grant.right),
                grant.grantable);
      }
    }
  }
}

template <Seen seen>
void routine_privileges(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const GrantReader<seen> reader(catalog, context);
  const auto add = [&](const ObjectAcl& acl, std::string_view schema, std::string_view name, Oid oid) {
    const std::string specific = std::string(name) + "_" + std::to_string(oid);
    reader.for_each(acl.effective(), acl.owner, right::kExecute, [&](const Grant& grant) {
      out.add(grant.grantor, grant.grantee, context.database, schema, specific, context.database, schema, name, "EXECUTE", grant.grantable);
    });
  };
  for (const CatalogFunction& function : all_catalog_functions()) {
    const auto [schema, name] = own_schema_and_name(function);
    const std::optional<ObjectAcl> acl = acl_of(catalog, catalog_class::kFunctions, function.oid);
    if (acl) add(*acl, schema, name, function.oid);
  }
  for (const auto& [oid, function] : catalog.functions) add(acl_of(*function), function->schema, function->name, oid);
}

template <Seen seen>
void usage_privileges(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const GrantReader<seen> reader(catalog, context);
  const auto add = [&](const ObjectAcl& acl, std::string_view schema, std::string_view name, std::string_view kind) {
    reader.for_each(acl.effective(), acl.owner, right::kUsage, [&](const Grant& grant) {
      out.add(grant.grantor, grant.grantee, context.database, schema, name, kind, "USAGE", grant.grantable);
    });
  };
  // Collations have no list: PUBLIC may use them all.
  const ObjectAcl of_collation{.acl = Acl{{kPublic, kPostgresRole, right::kUsage, 0}}};
  for (const std::string_view name : {"default", "C", "POSIX", "ucs_basic"}) add(of_collation, "pg_catalog", name, "COLLATION");
  for (const auto& [oid, type] : catalog.types) {
    if (type->kind == UserType::Kind::kDomain) add(acl_of(*type), type->schema, type->name, "DOMAIN");
  }
  const auto add_server = [&](Oid object_class, Oid object, std::string_view kind) {
    if (const std::optional<ObjectAcl> acl = acl_of(catalog, object_class, object)) add(*acl, "", "redis", kind);
  };
  if (has_foreign_tables(catalog)) {
    add_server(catalog_class::kForeignDataWrappers, kRedisWrapper, "FOREIGN DATA WRAPPER");
    add_server(catalog_class::kForeignServers, kRedisServer, "FOREIGN SERVER");
  }
  for (const auto& [oid, sequence] : catalog.sequences) {
    // PostgreSQL's view shows no sequence whose list is the default.
    const ObjectAcl acl = acl_of(catalog, sequence);
    if (acl.acl && !sequence.foreign) add(acl, sequence.schema, sequence.name, "SEQUENCE");
  }
}

/// Lists the privileges on composite types, including those of rows of tables and views.
template <Seen seen>
void type_privileges(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const GrantReader<seen> reader(catalog, context);
  const auto add = [&](Oid type, const std::string& schema, const std::string& name) {
    const std::optional<ObjectAcl> acl = acl_of(catalog, catalog_class::kTypes, type);
    if (!acl) return;
    reader.for_each(acl->effective(), acl->owner, right::kUsage, [&](const Grant& grant) {
      out.add(grant.grantor, grant.grantee, context.database, schema, name, "TYPE USAGE", grant.grantable);
    });
  };
  for (const auto& [oid, type] : catalog.types) {
    if (type->kind == UserType::Kind::kComposite) add(oid, type->schema, type->name);
  }
  for (const auto& [oid, table] : catalog.tables) add(table->row_type, table->schema, table->name);
  for (const auto& [oid, view] : catalog.views) add(view->row_type, view->schema, view->name);
}

constexpr std::string_view kTableColumns =
    "grantor, grantee, table_catalog, table_schema, table_name, privilege_type character_data, is_grantable yes_or_no, "
    "with_hierarchy yes_or_no";
constexpr std::string_view kColumnColumns =
    "grantor, grantee, table_catalog, table_schema, table_name, column_name, privilege_type character_data, is_grantable yes_or_no";
constexpr std::string_view kRoutineColumns =
    "grantor, grantee, specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, routine_name, "
    "privilege_type character_data, is_grantable yes_or_no";
constexpr std::string_view kUsageColumns =
    "grantor, grantee, object_catalog, object_schema, object_name, object_type character_data, privilege_type character_data, "
    "is_grantable yes_or_no";
constexpr std::string_view kTypeColumns =
    "grantor, grantee, udt_catalog, udt_schema, udt_name, privilege_type character_data, is_grantable yes_or_no";
constexpr std::string_view kRoleColumns = "grantee, role_name, is_grantable yes_or_no";

const SystemTableDefinition kInformationGrants[] = {
    {"information_schema", "enabled_roles", 13325, 'v', "role_name", enabled_roles},
    {"information_schema", "applicable_roles", 13236, 'v', kRoleColumns, applicable_roles<false>},
    {"information_schema", "administrable_role_authorizations", 13241, 'v', kRoleColumns, applicable_roles<true>},
    {"information_schema", "table_privileges", 13416, 'v', kTableColumns, table_privileges<Seen::kAll>},
    {"information_schema", "role_table_grants", 13421, 'v', kTableColumns, table_privileges<Seen::kOfRoles>},
    {"information_schema", "column_privileges", 13285, 'v', kColumnColumns, column_privileges<Seen::kAll>},
    {"information_schema", "role_column_grants", 13344, 'v', kColumnColumns, column_privileges<Seen::kOfRoles>},
    {"information_schema", "routine_privileges", 13353, 'v', kRoutineColumns, routine_privileges<Seen::kAll>},
    {"information_schema", "role_routine_grants", 13358, 'v', kRoutineColumns, routine_privileges<Seen::kOfRoles>},
    {"information_schema", "usage_privileges", 13454, 'v', kUsageColumns, usage_privileges<Seen::kAll>},
    {"information_schema", "role_usage_grants", 13459, 'v', kUsageColumns, usage_privileges<Seen::kOfRoles>},
    {"information_schema", "udt_privileges", 13445, 'v', kTypeColumns, type_privileges<Seen::kAll>},
    {"information_schema", "role_udt_grants", 13450, 'v', kTypeColumns, type_privileges<Seen::kOfRoles>},
};

}  // namespace

SystemTableFamily information_grants() { return kInformationGrants; }

}  // namespace redquel::sql
