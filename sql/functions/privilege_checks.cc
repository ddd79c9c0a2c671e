// has_table_privilege() and its like (manual 9.26.2). Every role may do everything until there are privileges, but for pg_has_role(); what is asked about must exist
// where it is named, and so must the privilege.

#include <algorithm>
#include <utility>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// "SELECT, insert with grant option": each must be one of `known`, which are in lower case between commas. 22023.
void check_privileges(Text known, Text option, Text written) {
  for (std::size_t begin = 0; begin <= written.size();) {
    const std::size_t end = std::min(written.find(',', begin), written.size());
    Text one = written.substr(begin, end - begin);
    begin = end + 1;
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    std::string name = lower_case(one);
    for (const Text suffix : {Text(" with grant option"), option}) {
      if (!suffix.empty() && name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    }
    if (name.empty() || known.find("," + name + ",") == Text::npos) {
      throw SqlError(sqlstate::kInvalidParameterValue, "unrecognized privilege type: \"" + std::string(one) + "\"");
    }
  }
}

void check_role(Context context, Text name) {
  if (name == "public") return;
  for (const Role& role : all_roles(catalog_of(context), context)) {
    if (role.name == name) return;
  }
  throw undefined_role(name);
}

// ---- kinds of objects -------------------------------------------------------------------------------------------------

struct ObjectKind {
  Text function;
  Text privileges;  // ",select,insert,"
  void (*check)(Context, Text name);
  bool (*exists)(Context, Oid object);
};

bool always(Context, Oid) { return true; }
bool relation_exists(Context context, Oid object) { return find_relation(catalog_of(context), object).has_value(); }
void check_relation(Context context, Text name) { relation_named(name, context); }
void check_sequence(Context context, Text name) {
  const std::optional<Relation> relation = find_relation(catalog_of(context), relation_named(name, context));
  if (relation && relation->kind != 'S') throw wrong_object_kind(name, "a sequence");
}
template <Oid type>
void check_object(Context context, Text name) {
  parse_object_name(Type{type}, name, context);
}
void check_database(Context context, Text name) {
  if (name != context.database && std::ranges::find(context.databases, name) == context.databases.end() && name != "postgres" &&
      name != "template0" && name != "template1") {
    throw undefined_database(name);
  }
}
void check_language(Context, Text name) {
  for (const Text known : {"internal", "c", "sql", "plpgsql"}) {
    if (name == known) return;
  }
  throw SqlError(sqlstate::kUndefinedObject, "language \"" + std::string(name) + "\" does not exist");
}
void check_tablespace(Context, Text name) {
  if (name != "pg_default" && name != "pg_global") {
    throw SqlError(sqlstate::kUndefinedObject, "tablespace \"" + std::string(name) + "\" does not exist");
  }
}
void check_wrapper(Context, Text name) {
  if (name != "redis") throw SqlError(sqlstate::kUndefinedObject, "foreign-data wrapper \"" + std::string(name) + "\" does not exist");
}
void check_server(Context, Text name) {
  if (name != "redis") throw SqlError(sqlstate::kUndefinedObject, "server \"" + std::string(name) + "\" does not exist");
}

constexpr ObjectKind kKinds[] = {
    {"has_table_privilege", ",select,insert,update,delete,truncate,references,trigger,rule,", check_relation, relation_exists},
    {"has_any_column_privilege", ",select,insert,update,references,", check_relation, relation_exists},
    {"has_sequence_privilege", ",usage,select,update,", check_sequence, relation_exists},
    {"has_database_privilege", ",create,temporary,temp,connect,", check_database, always},
    {"has_schema_privilege", ",create,usage,", check_object<oid::kRegnamespace>, always},
    {"has_function_privilege", ",execute,", check_object<oid::kRegprocedure>, always},
    {"has_type_privilege", ",usage,", check_object<oid::kRegtype>, always},
    {"has_language_privilege", ",usage,", check_language, always},
    {"has_tablespace_privilege", ",create,", check_tablespace, always},
    {"has_foreign_data_wrapper_privilege", ",usage,", check_wrapper, always},
    {"has_server_privilege", ",usage,", check_server, always},
};

template <std::size_t kind>
bool by_name(Context context, Text object, Text privileges) {
  kKinds[kind].check(context, object);
  check_privileges(kKinds[kind].privileges, {}, privileges);
  return true;
}
template <std::size_t kind>
bool role_by_name(Context context, Text role, Text object, Text privileges) {
  check_role(context, role);
  return by_name<kind>(context, object, privileges);
}
template <std::size_t kind>
std::optional<bool> by_oid(Context context, Int object, Text privileges) {
  check_privileges(kKinds[kind].privileges, {}, privileges);
  return kKinds[kind].exists(context, static_cast<Oid>(object)) ? std::optional(true) : std::nullopt;
}
template <std::size_t kind>
std::optional<bool> role_by_oid(Context context, Text role, Int object, Text privileges) {
  check_role(context, role);
  return by_oid<kind>(context, object, privileges);
}

template <std::size_t kind>
void add_kind(std::vector<ScalarFunction>& table) {
  const Text name = kKinds[kind].function;
  table.push_back(scalar<by_name<kind>>(name, {kText, kText}, kBool, kStable));
  table.push_back(scalar<by_oid<kind>>(name, {kOidType, kText}, kBool, kStable));
  table.push_back(scalar<role_by_name<kind>>(name, {kName, kText, kText}, kBool, kStable));
  table.push_back(scalar<role_by_oid<kind>>(name, {kName, kOidType, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Int, Text object, Text privileges) { return by_name<kind>(context, object, privileges); }>(
      name, {kOidType, kText, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Int, Int object, Text privileges) { return by_oid<kind>(context, object, privileges); }>(
      name, {kOidType, kOidType, kText}, kBool, kStable));
}

// ---- columns -----------------------------------------------------------------------------------------------------------

Oid as_relation(Context context, Text name) { return relation_named(name, context); }
Oid as_relation(Context, Int oid) { return static_cast<Oid>(oid); }

// In the order of their numbers, from -1 down.
constexpr Text kSystemColumns[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};

bool has_column(const Relation& relation, std::int16_t number) {
  return (number < 0 && -number <= std::ssize(kSystemColumns)) || std::ranges::any_of(attributes_of(relation), [&](const Attribute& attribute) {
           return attribute.number == number;
         });
}
/// 42703.
bool has_column(const Relation& relation, Text name) {
  const std::vector<Attribute> attributes = attributes_of(relation);
  if (std::ranges::find(attributes, name, &Attribute::name) != attributes.end()) return true;
  if (std::ranges::find(kSystemColumns, name) != std::end(kSystemColumns)) return true;
  throw undefined_column(name, relation.name);
}

/// `Table` and `Column` are names or numbers. Nothing is said of what a number does not find.
template <class Table, class ColumnName>
std::optional<bool> on_column(Context context, Table table, ColumnName column, Text privileges) {
  const std::optional<Relation> relation = find_relation(catalog_of(context), as_relation(context, table));
  const bool is_there = relation && has_column(*relation, column);
  check_privileges(",select,insert,update,references,", {}, privileges);
  return is_there ? std::optional(true) : std::nullopt;
}

template <class Table, class ColumnName>
void add_column(std::vector<ScalarFunction>& table, Type relation, Type column) {
  const Text name = "has_column_privilege";
  table.push_back(scalar<on_column<Table, ColumnName>>(name, {relation, column, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Text role, Table of, ColumnName what, Text privileges) {
    check_role(context, role);
    return on_column(context, of, what, privileges);
  }>(name, {kName, relation, column, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Int, Table of, ColumnName what, Text privileges) {
    return on_column(context, of, what, privileges);
  }>(name, {kOidType, relation, column, kText}, kBool, kStable));
}

// ---- roles and parameters -----------------------------------------------------------------------------------------------

constexpr Text kRolePrivileges = ",usage,member,", kAdminOption = " with admin option";

/// Is any of the privileges there? MEMBER: SET ROLE is allowed; USAGE: the role's privileges are there without it.
bool has_role(Context context, Oid member, Oid role, Text privileges) {
  check_privileges(kRolePrivileges, kAdminOption, privileges);
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

bool has_parameter(Text, Text privileges) {
  check_privileges(",set,alter system,", {}, privileges);
  return true;
}

template <std::size_t... kinds>
void add_kinds(std::vector<ScalarFunction>& table, std::index_sequence<kinds...>) {
  (add_kind<kinds>(table), ...);
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
  const Text parameter = "has_parameter_privilege";
  table.push_back(scalar<has_parameter>(parameter, {kText, kText}, kBool, kStable));
  table.push_back(scalar<[](Context context, Text role, Text name, Text privileges) {
    check_role(context, role);
    return has_parameter(name, privileges);
  }>(parameter, {kName, kText, kText}, kBool, kStable));
  table.push_back(scalar<[](Int, Text name, Text privileges) { return has_parameter(name, privileges); }>(
      parameter, {kOidType, kText, kText}, kBool, kStable));
  return table;
}

}  // namespace redquel::sql
