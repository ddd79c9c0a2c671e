// has_table_privilege() and its kin (manual 9.26.2). An object that is named must exist; for the oid of none they give NULL.

#include <algorithm>
#include <utility>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/name_errors.h"
#include "sql/privileges/right_names.h"
#include "sql/privileges/role_rights.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

SqlError unknown_privilege(Text written) {
  return SqlError(sqlstate::kInvalidParameterValue, "unrecognized privilege type: \"" + std::string(written) + "\"");
}

/// Calls `visit` with each part of "SELECT, insert with grant option", without the blanks around it.
template <class Visit>
void for_each_privilege(Text written, const Visit& visit) {
  for (std::size_t begin = 0; begin <= written.size();) {
    const std::size_t end = std::min(written.find(',', begin), written.size());
    Text one = written.substr(begin, end - begin);
    begin = end + 1;
    while (!one.empty() && is_blank(one.front())) one.remove_prefix(1);
    while (!one.empty() && is_blank(one.back())) one.remove_suffix(1);
    visit(one);
  }
}

constexpr Rights kRule = Rights{1} << 31;  // RULE, which tables had once: it is known and never held

/// Reads privileges, each of which must be one of `known`. 22023.
WantedRights read_privileges(Rights known, Text written) {
  WantedRights wanted;
  for_each_privilege(written, [&](Text one) {
    constexpr Text kOption = " with grant option";
    std::string name = lower_case(one);
    const bool is_option = name.ends_with(kOption);
    if (is_option) name.resize(name.size() - kOption.size());
    const std::optional<Rights> right = name == "rule" ? kRule : find_right(name);
    if (!right || (*right & known) == 0) throw unknown_privilege(one);
    (is_option ? wanted.options : wanted.rights) |= *right & ~kRule;
  });
  return wanted;
}

// ---- kinds of objects -------------------------------------------------------------------------------------------------

/// One function's kind of object. `named` gives the oid (SQLSTATEs of names that do not exist); `is_held` NULL where there is no such object.
struct ObjectKind {
  Text function;
  Rights known;
  Oid (*named)(Context, Text name);
  std::optional<bool> (*is_held)(Context, const RoleRights&, Oid object, WantedRights);
};

template <Oid object_class>
std::optional<bool> held_on(Context context, const RoleRights& role, Oid object, WantedRights wanted) {
  const std::optional<ObjectAcl> acl = acl_of(catalog_of(context), object_class, object);
  return acl ? std::optional(role.has_any(*acl, wanted)) : std::nullopt;
}
std::optional<bool> held_on_table_or_column(Context context, const RoleRights& role, Oid object, WantedRights wanted) {
  const std::optional<bool> on_table = held_on<catalog_class::kRelations>(context, role, object, wanted);
  return on_table == false ? role.has_any_on_some_column(object, wanted) : on_table;
}
std::optional<bool> held_on_sequence(Context context, const RoleRights& role, Oid object, WantedRights wanted) {
  const std::optional<Relation> relation = find_relation(catalog_of(context), object);
  if (relation && relation->kind != 'S') throw wrong_object_kind(relation->name, "a sequence");
  return held_on<catalog_class::kRelations>(context, role, object, wanted);
}

/// Names of databases that are known where no list of them was asked for.
std::vector<std::string> known_databases(Context context) {
  std::vector<std::string> names = context.databases;
  names.insert(names.end(), {context.database, "postgres", "template0", "template1"});
  for (const auto& [name, facts] : known_roles()->databases()) names.push_back(name);
  return names;
}
Oid database_named(Context context, Text name) {
  const std::vector<std::string> names = known_databases(context);
  if (std::ranges::find(names, name) == names.end()) throw undefined_database(name);
  return database_oid(name);
}
std::optional<bool> held_on_database(Context context, const RoleRights& role, Oid object, WantedRights wanted) {
  for (const std::string& name : known_databases(context)) {
    if (database_oid(name) == object) return role.has_any(acl_of_database(*known_roles(), name), wanted);
  }
  return std::nullopt;
}

Oid table_named(Context context, Text name) { return relation_named(name, context); }
template <Oid type>
Oid object_named(Context context, Text name) {
  return parse_object_name(Type{type}, name, context);
}

struct FixedObject {
  Text name;
  Oid oid;
};
/// 42704 for another name.
Oid fixed_object(std::initializer_list<FixedObject> objects, Text kind, Text name) {
  for (const FixedObject& object : objects) {
    if (object.name == name) return object.oid;
  }
  throw SqlError(sqlstate::kUndefinedObject, std::string(kind) + " \"" + std::string(name) + "\" does not exist");
}
Oid language_named(Context, Text name) { return fixed_object({{"internal", 12}, {"c", 13}, {"sql", 14}, {"plpgsql", 13758}}, "language", name); }
Oid tablespace_named(Context, Text name) {
  return fixed_object({{"pg_default", oid::kDefaultTablespace}, {"pg_global", oid::kGlobalTablespace}}, "tablespace", name);
}
Oid wrapper_named(Context, Text name) { return fixed_object({{"redis", kRedisWrapper}}, "foreign-data wrapper", name); }
Oid server_named(Context, Text name) { return fixed_object({{"redis", kRedisServer}}, "server", name); }

using namespace right;

constexpr Rights kOfColumns = kSelect | kInsert | kUpdate | kReferences;

constexpr ObjectKind kKinds[] = {
    {"has_table_privilege", kOfColumns | kDelete | kTruncate | kTrigger | kRule, table_named, held_on<catalog_class::kRelations>},
    {"has_any_column_privilege", kOfColumns, table_named, held_on_table_or_column},
    {"has_sequence_privilege", kUsage | kSelect | kUpdate, table_named, held_on_sequence},
    {"has_database_privilege", kCreate | kTemporary | kConnect, database_named, held_on_database},
    {"has_schema_privilege", kCreate | kUsage, object_named<oid::kRegnamespace>, held_on<catalog_class::kSchemas>},
    {"has_function_privilege", kExecute, object_named<oid::kRegprocedure>, held_on<catalog_class::kFunctions>},
    {"has_type_privilege", kUsage, object_named<oid::kRegtype>, held_on<catalog_class::kTypes>},
    {"has_language_privilege", kUsage, language_named, held_on<catalog_class::kLanguages>},
    {"has_tablespace_privilege", kCreate, tablespace_named, held_on<catalog_class::kTablespaces>},
    {"has_foreign_data_wrapper_privilege", kUsage, wrapper_named, held_on<catalog_class::kForeignDataWrappers>},
    {"has_server_privilege", kUsage, server_named, held_on<catalog_class::kForeignServers>},
};

RoleRights current_rights(Context context) { return {catalog_of(context), context}; }
RoleRights rights_of(Context context, Text role) { return {catalog_of(context), role_or_public(role), context.database}; }
RoleRights rights_of(Context context, Int role) { return {catalog_of(context), static_cast<Oid>(role), context.database}; }

template <std::size_t kind>
std::optional<bool> ask(Context context, const RoleRights& role, Text object, Text privileges) {
  const Oid oid = kKinds[kind].named(context, object);
  return kKinds[kind].is_held(context, role, oid, read_privileges(kKinds[kind].known, privileges));
}
template <std::size_t kind>
std::optional<bool> ask(Context context, const RoleRights& role, Int object, Text privileges) {
  return kKinds[kind].is_held(context, role, static_cast<Oid>(object), read_privileges(kKinds[kind].known, privileges));
}

template <std::size_t kind, class Object>
void add_overloads(std::vector<ScalarFunction>& table, Type object) {
  const Text name = kKinds[kind].function;
  table.push_back(scalar<[](Context context, Object of, Text privileges) { return ask<kind>(context, current_rights(context), of, privileges); }>(
      name, {object, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Text role, Object of, Text privileges) {
    return ask<kind>(context, rights_of(context, role), of, privileges);
  }>(name, {kName, object, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Int role, Object of, Text privileges) {
    return ask<kind>(context, rights_of(context, role), of, privileges);
  }>(name, {kOidType, object, kText}, kBool, kStable));
}

template <std::size_t... kinds>
void add_kinds(std::vector<ScalarFunction>& table, std::index_sequence<kinds...>) {
  ((add_overloads<kinds, Text>(table, kText), add_overloads<kinds, Int>(table, kOidType)), ...);
}

// ---- columns -----------------------------------------------------------------------------------------------------------

Oid as_relation(Context context, Text name) { return relation_named(name, context); }
Oid as_relation(Context, Int oid) { return static_cast<Oid>(oid); }

// In the order of their numbers, from -1 down.
constexpr Text kSystemColumns[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};

std::optional<std::int16_t> column_number(const Relation& relation, std::int16_t number) {
  const bool is_there = (number < 0 && -number <= std::ssize(kSystemColumns)) ||
                        std::ranges::any_of(attributes_of(relation), [&](const Attribute& attribute) { return attribute.number == number; });
  return is_there ? std::optional(number) : std::nullopt;
}
/// 42703.
std::optional<std::int16_t> column_number(const Relation& relation, Text name) {
  for (const Attribute& attribute : attributes_of(relation)) {
    if (attribute.name == name) return attribute.number;
  }
  const auto* const found = std::ranges::find(kSystemColumns, name);
  if (found == std::end(kSystemColumns)) throw undefined_column(name, relation.name);
  return static_cast<std::int16_t>(std::begin(kSystemColumns) - found - 1);
}

/// `Table` and `ColumnName` are names or numbers. NULL for a number that is none.
template <class Table, class ColumnName>
std::optional<bool> on_column(Context context, const RoleRights& role, Table table, ColumnName column, Text privileges) {
  const std::optional<Relation> relation = find_relation(catalog_of(context), as_relation(context, table));
  const std::optional<std::int16_t> number = relation ? column_number(*relation, column) : std::nullopt;
  const WantedRights wanted = read_privileges(kOfColumns, privileges);
  if (!number) return std::nullopt;
  return role.has_any_on_column(relation->oid, *number, wanted) || role.has_any(catalog_class::kRelations, relation->oid, wanted);
}

template <class Table, class ColumnName>
void add_column(std::vector<ScalarFunction>& table, Type relation, Type column) {
  const Text name = "has_column_privilege";
  table.push_back(scalar<[](Context context, Table of, ColumnName what, Text privileges) {
    return on_column(context, current_rights(context), of, what, privileges);
  }>(name, {relation, column, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Text role, Table of, ColumnName what, Text privileges) {
    return on_column(context, rights_of(context, role), of, what, privileges);
  }>(name, {kName, relation, column, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Int role, Table of, ColumnName what, Text privileges) {
    return on_column(context, rights_of(context, role), of, what, privileges);
  }>(name, {kOidType, relation, column, kText}, kBool, kStable));
}

// ---- roles ----------------------------------------------------------------------------------------------------------------

/// "USAGE, member with admin option". 22023.
void check_role_privileges(Text written) {
  for_each_privilege(written, [](Text one) {
    std::string name = lower_case(one);
    for (const Text suffix : {Text(" with grant option"), Text(" with admin option")}) {
      if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    }
    if (name != "usage" && name != "member") throw unknown_privilege(one);
  });
}

/// Returns true if the member has any of the privileges. MEMBER: may SET ROLE; USAGE: has the role's privileges without SET ROLE.
bool has_role(Context context, Oid member, Oid role, Text privileges) {
  check_role_privileges(privileges);
  const RoleSet& roles = *known_roles();
  for (std::size_t begin = 0; begin <= privileges.size();) {
    const std::size_t end = std::min(privileges.find(',', begin), privileges.size());
    std::string one;
    for (const char c : privileges.substr(begin, end - begin)) one += to_lower(c);
    begin = end + 1;
    const bool is_admin = one.find(" option") != std::string::npos, is_member = one.find("member") != std::string::npos;
    if (is_admin ? roles.is_admin(member, role) : is_member ? roles.may_become(member, role, context.database)
                                                            : roles.has_privileges_of(member, role, context.database)) {
      return true;
    }
  }
  return false;
}

Oid role_named(Text name) {
  const RoleDef* role = known_roles()->find(name);
  if (role == nullptr) throw undefined_role(name);
  return role->oid;
}

Oid current_role(Context context) {
  const RoleDef* role = known_roles()->find(context.user);
  return role == nullptr ? 0 : role->oid;
}

void add_roles(std::vector<ScalarFunction>& table) {
  const Text name = "pg_has_role";
  table.push_back(scalar<[](Context context, Text role, Text privileges) { return has_role(context, current_role(context), role_named(role), privileges); }>(
      name, {kName, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Int role, Text privileges) { return has_role(context, current_role(context), static_cast<Oid>(role), privileges); }>(
      name, {kOidType, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Text user, Text role, Text privileges) {
    const Oid member = role_named(user);
    return has_role(context, member, role_named(role), privileges);
  }>(name, {kName, kName, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Text user, Int role, Text privileges) {
    return has_role(context, role_named(user), static_cast<Oid>(role), privileges);
  }>(name, {kName, kOidType, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Int user, Text role, Text privileges) {
    return has_role(context, static_cast<Oid>(user), role_named(role), privileges);
  }>(name, {kOidType, kName, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Int user, Int role, Text privileges) {
    return has_role(context, static_cast<Oid>(user), static_cast<Oid>(role), privileges);
  }>(name, {kOidType, kOidType, kText}, kBool, kStable));
}

// ---- parameters -----------------------------------------------------------------------------------------------------------

/// Nothing is ever granted on a parameter: superusers alone have its privileges.
bool on_parameter(const RoleRights& role, Text privileges) {
  return role.has_any(ObjectAcl{.kind = AclKind::kParameter, .owner = 0, .acl = Acl{}}, read_privileges(kSet | kAlterSystem, privileges));
}

void add_parameters(std::vector<ScalarFunction>& table) {
  const Text name = "has_parameter_privilege";
  table.push_back(scalar<[](Context context, Text, Text privileges) { return on_parameter(current_rights(context), privileges); }>(
      name, {kText, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Text role, Text, Text privileges) { return on_parameter(rights_of(context, role), privileges); }>(
      name, {kName, kText, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Int role, Text, Text privileges) { return on_parameter(rights_of(context, role), privileges); }>(
      name, {kOidType, kText, kText}, kBool, kStable));
}

}  // namespace

std::vector<ScalarFunction> privilege_checks() {
  std::vector<ScalarFunction> table;
  add_kinds(table, std::make_index_sequence<std::size(kKinds)>{});
  add_roles(table);
  add_column<Text, Text>(table, kText, kText);
  add_column<Text, std::int16_t>(table, kText, kInt2);
  add_column<Int, Text>(table, kOidType, kText);
  add_column<Int, std::int16_t>(table, kOidType, kInt2);
  add_parameters(table);
  return table;
}

}  // namespace redquel::sql
