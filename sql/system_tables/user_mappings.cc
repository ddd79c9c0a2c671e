// pg_user_mapping, pg_user_mappings and information_schema's views: the Redis users of roles. Who sees the options is PostgreSQL's rule.

#include <algorithm>

#include "sql/privileges/object_acl.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/shown_mapping_passwords.h"
#include "sql/system_tables/user_mappings.h"
#include "sql/types/array_value.h"

namespace redquel::sql {
namespace {

constexpr std::string_view kServerName = "redis";

thread_local const std::map<Oid, std::string>* shown_passwords = nullptr;

const std::string* password_of(const UserMappingDef& mapping) {
  if (shown_passwords == nullptr) return nullptr;
  const auto found = shown_passwords->find(mapping.oid);
  return found == shown_passwords->end() ? nullptr : &found->second;
}

std::string options_of(const UserMappingDef& mapping) {
  std::string array;
  append_array_element("user=" + mapping.user, array);
  if (const std::string* password = password_of(mapping)) append_array_element("password=" + *password, array);
  finish_array_text(array);
  return array;
}

/// The rights of the role that looks.
class Viewer {
 public:
  Viewer(const CatalogSnapshot& catalog, const EvaluationContext& context) {
    const RoleSet& roles = *known_roles();
    const RoleDef* role = roles.find(context.user);
    if (role == nullptr) return;
    oid_ = role->oid;
    is_superuser_ = role->superuser;
    const ObjectAcl server = acl_of(catalog.server);
    owns_server_ = roles.has_privileges_of(oid_, server.owner, context.database);
    may_use_server_ = (held_rights(server, oid_, roles, context.database) & right::kUsage) != 0;
  }

  bool may_use_server() const { return owns_server_ || may_use_server_; }
  /// The rule of pg_user_mappings.
  bool sees_options(const UserMappingDef& mapping) const {
    if (is_superuser_) return true;
    return mapping.role == kPublic ? owns_server_ : mapping.role == oid_ && may_use_server();
  }
  /// The rule of information_schema.user_mapping_options.
  bool sees_values(const UserMappingDef& mapping) const {
    return is_superuser_ || (mapping.role == kPublic ? owns_server_ : mapping.role == oid_);
  }

 private:
  Oid oid_ = 0;
  bool is_superuser_ = false, owns_server_ = false, may_use_server_ = false;
};

std::string role_name(const UserMappingDef& mapping, std::string_view of_public) {
  return mapping.role == kPublic ? std::string(of_public) : known_roles()->name_of(mapping.role);
}

}  // namespace

void user_mapping_rows(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const UserMappingDef& mapping : catalog.server.mappings) out.add(mapping.oid, mapping.role, kRedisServer, options_of(mapping));
}

void user_mapping_view(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const Viewer viewer(catalog, context);
  for (const UserMappingDef& mapping : catalog.server.mappings) {
    const std::optional<std::string> options = viewer.sees_options(mapping) ? std::optional(options_of(mapping)) : std::nullopt;
    out.add(mapping.oid, kRedisServer, kServerName, mapping.role, role_name(mapping, "public"), options);
  }
}

void user_mapping_base(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const Viewer viewer(catalog, context);
  if (!viewer.may_use_server()) return;
  for (const UserMappingDef& mapping : catalog.server.mappings) {
    const std::optional<std::string> options = viewer.sees_options(mapping) ? std::optional(options_of(mapping)) : std::nullopt;
    out.add(mapping.oid, options, mapping.role, role_name(mapping, "PUBLIC"), context.database, kServerName, owner_name(catalog.server.owner));
  }
}

void information_user_mappings(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  if (!Viewer(catalog, context).may_use_server()) return;
  for (const UserMappingDef& mapping : catalog.server.mappings) out.add(role_name(mapping, "PUBLIC"), context.database, kServerName);
}

void information_user_mapping_options(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const Viewer viewer(catalog, context);
  if (!viewer.may_use_server()) return;
  for (const UserMappingDef& mapping : catalog.server.mappings) {
    const auto add = [&](std::string_view name, std::string_view value) {
      const std::optional<std::string_view> shown = viewer.sees_values(mapping) ? std::optional(value) : std::nullopt;
      out.add(role_name(mapping, "PUBLIC"), context.database, kServerName, name, shown);
    };
    add("user", mapping.user);
    if (const std::string* password = password_of(mapping)) add("password", *password);
  }
}

ShownMappingPasswords::ShownMappingPasswords(const std::map<Oid, std::string>& passwords) { shown_passwords = &passwords; }
ShownMappingPasswords::~ShownMappingPasswords() { shown_passwords = nullptr; }

bool ShownMappingPasswords::are_wanted_by(std::string_view table) {
  return table == "pg_user_mapping" || table == "pg_user_mappings" || table == "_pg_user_mappings" || table == "user_mapping_options";
}

}  // namespace redquel::sql
