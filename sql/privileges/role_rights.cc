#include "sql/privileges/role_rights.h"

#include "sql/name_errors.h"
#include "sql/system_tables.h"

namespace redquel::sql {

namespace {

Oid current_role(const EvaluationContext& context) {
  const RoleDef* role = known_roles()->find(context.user);
  return role == nullptr ? kPublic : role->oid;
}

}  // namespace

RoleRights::RoleRights(const CatalogSnapshot& catalog, Oid role, std::string_view database)
    : catalog_(catalog), role_(role), database_(database), is_superuser_(roles_->is_superuser(role)) {}

RoleRights::RoleRights(const CatalogSnapshot& catalog, const EvaluationContext& context)
    : RoleRights(catalog, current_role(context), context.database) {}

bool RoleRights::has_role(Oid other) const { return is_superuser_ || roles_->has_privileges_of(role_, other, database_); }

bool RoleRights::has_without_grant(Oid owner, WantedRights wanted) const {
  if (is_superuser_) return (wanted.rights | wanted.options) != 0;
  return wanted.options != 0 && role_ != kPublic && has_role(owner);
}

bool RoleRights::has_any(const ObjectAcl& object, WantedRights wanted) const {
  if (has_without_grant(object.owner, wanted)) return true;
  if (wanted.rights != 0 && (held_rights(object, role_, *roles_, database_) & wanted.rights) != 0) return true;
  return wanted.options != 0 && (held_grant_options(object, role_, *roles_, database_) & wanted.options) != 0;
}

bool RoleRights::has_any(Oid object_class, Oid object, WantedRights wanted) const {
  const std::optional<ObjectAcl> acl = acl_of(catalog_, object_class, object);
  return acl && has_any(*acl, wanted);
}

bool RoleRights::has_any_on_column(Oid relation, std::int16_t column, WantedRights wanted) const {
  const OptionalAcl acl = column_acl(catalog_, relation, column);
  if (!acl) return false;
  const std::optional<ObjectAcl> table = acl_of(catalog_, catalog_class::kRelations, relation);
  return table && has_any(ObjectAcl{.kind = AclKind::kColumn, .owner = table->owner, .acl = acl}, wanted);
}

bool RoleRights::has_any_on_some_column(Oid relation, WantedRights wanted) const {
  const auto is_any = [&](std::int16_t number) { return has_any_on_column(relation, number, wanted); };
  if (const auto table = catalog_.find_table(relation)) {
    for (const ColumnDef& column : table->columns) {
      if (column.acl && is_any(column.number)) return true;
    }
    return false;
  }
  std::size_t count = 0;
  if (const auto view = catalog_.find_view(relation)) count = view->columns.size();
  if (const SystemTable* system = find_system_table(relation)) count = system->columns.size();
  for (std::size_t number = 1; number <= count; ++number) {
    if (is_any(static_cast<std::int16_t>(number))) return true;
  }
  return false;
}

Oid role_or_public(std::string_view name) {
  if (name == "public") return kPublic;
  const RoleDef* role = known_roles()->find(name);
  if (role == nullptr) throw undefined_role(name);
  return role->oid;
}

}  // namespace redquel::sql
