// pg_get_object_address(): from the words of pg_identify_object_as_address() to a row of a catalog (manual 9.26.6).

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sql/error.h"
#include "sql/functions/object_description.h"
#include "sql/functions/object_names.h"
#include "sql/functions/quote.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/constraints.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

using Context = const EvaluationContext&;
using NameList = std::vector<std::string>;

/// A kind of relation, and the letters of pg_class.relkind that it stands for.
struct AddressedRelation {
  std::string_view words, letters, message;
};
constexpr AddressedRelation kAddressedRelations[] = {
    {"table", "rp", "a table"},
    {"index", "iI", "an index"},
    {"sequence", "S", "a sequence"},
    {"view", "v", "a view"},
    {"materialized view", "m", "a materialized view"},
    {"foreign table", "f", "a foreign table"},
};

/// Kinds that PostgreSQL names, but does not look up.
constexpr std::string_view kUnsupported[] = {"toast table",        "composite type",     "index column",
                                             "sequence column",    "toast table column", "view column",
                                             "materialized view column", "composite type column"};

/// PostgreSQL's other kinds: redquel has no objects of them, or no client asks for them.
constexpr std::string_view kOtherKinds[] = {
    "collation", "cast", "conversion", "operator", "operator class", "operator family", "operator of access method",
    "function of access method", "trigger", "text search parser", "text search dictionary", "text search template",
    "text search configuration", "role membership", "tablespace", "foreign-data wrapper", "server", "user mapping", "default acl",
    "event trigger", "policy", "publication namespace", "publication relation", "subscription", "transform",
    "statistics object", "large object", "aggregate", "parameter ACL",
};
constexpr std::string_view kSingleNames[] = {"schema", "role", "database", "language", "access method", "extension", "publication"};
constexpr std::string_view kRoutines[] = {"function", "procedure"};
constexpr std::string_view kMoreKinds[] = {"table column", "foreign table column", "default value", "table constraint",
                                           "domain constraint", "type", "rule"};

bool is_kind_of(std::string_view word, std::span<const std::string_view> words) { return std::ranges::find(words, word) != words.end(); }

std::string dotted_name(const NameList& names) { return fmt::format("{}", fmt::join(names, ".")); }

/// a."B c".
std::string quoted_name(const NameList& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ".") + quote_identifier(name);
  return text;
}

Relation addressed_relation(NameList names, Context context) {
  const CatalogSnapshot& catalog = catalog_of(context);
  if (names.size() > 3) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("improper relation name (too many dotted names): {}", dotted_name(names)));
  }
  if (names.size() == 3) {
    if (names[0] != context.database) {
      throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cross-database references are not implemented: \"{}\"", dotted_name(names)));
    }
    names.erase(names.begin());
  }
  const std::string schema = names.size() == 2 ? names[0] : "";
  if (!schema.empty() && schema_oid(catalog, schema) == 0) throw undefined_schema(schema);
  const std::optional<Relation> found = find_relation(catalog, schema, names.back(), context.search_path);
  if (!found) throw undefined_relation(dotted_name(names));
  return *found;
}

/// The relation and its column.
std::pair<Relation, std::int32_t> addressed_column(NameList names, Context context) {
  if (names.size() < 2) throw SqlError(sqlstate::kSyntaxError, "column name must be qualified");
  const std::string column = names.back();
  names.pop_back();
  Relation relation = addressed_relation(std::move(names), context);
  for (const Attribute& attribute : attributes_of(relation)) {
    if (attribute.name == column) return {std::move(relation), attribute.number};
  }
  throw undefined_column(column, relation.name);
}

ObjectAddress default_named(const NameList& names, Context context) {
  const auto [relation, number] = addressed_column(names, context);
  const ColumnDef* column = relation.table == nullptr ? nullptr : relation.table->find_column(static_cast<std::int16_t>(number));
  if (column == nullptr || !has_default(*column)) {
    throw SqlError(sqlstate::kUndefinedColumn,
                   fmt::format("default value for column \"{}\" of relation \"{}\" does not exist", names.back(), relation.name));
  }
  return {catalogs::kDefaults, default_oid(*relation.table, *column), 0};
}

ObjectAddress constraint_named(NameList names, Context context) {
  if (names.size() < 2) throw SqlError(sqlstate::kSyntaxError, "must specify relation and object name");
  const std::string name = names.back();
  names.pop_back();
  const Relation relation = addressed_relation(std::move(names), context);
  if (relation.table != nullptr) {
    for (const Constraint& constraint : constraints_of(*relation.table)) {
      if (constraint.name == name) return {catalogs::kConstraints, constraint.oid, 0};
    }
  }
  throw undefined_table_constraint(name, relation.name);
}

Oid addressed_type(const std::string& name, Context context) { return parse_object_name(Type{oid::kRegtype}, name, context); }

ObjectAddress domain_constraint_named(const NameList& names, const NameList& arguments, Context context) {
  const Oid domain = addressed_type(names[0], context);
  for (const Constraint& constraint : domain_constraints(catalog_of(context))) {
    if (constraint.domain->oid == domain && constraint.name == arguments[0]) return {catalogs::kConstraints, constraint.oid, 0};
  }
  throw undefined_domain_constraint(arguments[0], object_name(Type{oid::kRegtype}, domain, context));
}

ObjectAddress address_of_function(std::string_view kind, const NameList& names, const NameList& arguments, Context context) {
  std::string types, shown;
  for (const std::string& argument : arguments) {
    const Oid type = addressed_type(argument, context);
    types += (types.empty() ? "" : ",") + argument;
    shown += (shown.empty() ? "" : ", ") + object_name(Type{oid::kRegtype}, type, context);
  }
  Oid found = 0;
  try {
    found = parse_object_name(Type{oid::kRegprocedure}, quoted_name(names) + "(" + types + ")", context);
  } catch (const SqlError& error) {
    if (error.sqlstate() != sqlstate::kUndefinedFunction) throw;
    throw SqlError(sqlstate::kUndefinedFunction, fmt::format("{} {}({}) does not exist", kind, dotted_name(names), shown));
  }
  const auto own = catalog_of(context).functions.find(found);
  const bool is_procedure = own != catalog_of(context).functions.end() && own->second->procedure;
  if ((kind == "procedure") != is_procedure) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("{}({}) is not a {}", dotted_name(names), shown, kind));
  }
  return {catalogs::kFunctions, found, 0};
}

ObjectAddress rule_named(NameList names, Context context) {
  if (names.size() < 2) throw SqlError(sqlstate::kSyntaxError, "must specify relation and object name");
  const std::string name = names.back();
  names.pop_back();
  const Relation relation = addressed_relation(std::move(names), context);
  const Oid rule = relation.view != nullptr ? relation.view->rule
                   : relation.table != nullptr && relation.table->materialized ? relation.table->materialized->rule
                                                                                : 0;
  if (rule == 0 || name != "_RETURN") {
    throw SqlError(sqlstate::kUndefinedObject, fmt::format("rule \"{}\" for relation \"{}\" does not exist", name, relation.name));
  }
  return {catalogs::kRules, rule, 0};
}

/// An object whose name has no schema.
ObjectAddress address_of_single(std::string_view kind, const std::string& name, Context context) {
  if (kind == "schema") {
    const Oid found = schema_oid(catalog_of(context), name);
    if (found == 0) throw undefined_schema(name);
    return ObjectAddress{catalogs::kSchemas, found, 0};
  }
  if (kind == "role") return ObjectAddress{catalogs::kRoles, parse_object_name(Type{oid::kRegrole}, quote_identifier(name), context), 0};
  if (kind == "extension") {
    const ExtensionDef* extension = catalog_of(context).find_extension(name);
    if (extension == nullptr) throw SqlError(sqlstate::kUndefinedObject, fmt::format("extension \"{}\" does not exist", name));
    return ObjectAddress{catalogs::kExtensions, extension->oid, 0};
  }
  if (kind == "publication") {
    const PublicationDef* publication = catalog_of(context).find_publication(name);
    if (publication == nullptr) throw SqlError(sqlstate::kUndefinedObject, fmt::format("publication \"{}\" does not exist", name));
    return ObjectAddress{catalogs::kPublications, publication->oid, 0};
  }
  if (kind == "database") {
    const bool exists = name == context.database || std::ranges::find(context.databases, name) != context.databases.end();
    if (!exists) throw undefined_database(name);
    return ObjectAddress{catalogs::kDatabases, database_oid(name), 0};
  }
  constexpr std::pair<std::string_view, Oid> kLanguageOids[] = {{"internal", 12}, {"c", 13}, {"sql", 14}};
  constexpr std::pair<std::string_view, Oid> kMethodOids[] = {
      {"heap", oid::kHeapMethod}, {"btree", oid::kBtreeMethod}, {"hash", oid::kHashMethod}, {"gist", oid::kGistMethod},
      {"gin", oid::kGinMethod},   {"brin", oid::kBrinMethod},   {"spgist", oid::kSpgistMethod}, {"zset", oid::kZsetMethod},
  };
  const auto find = [&](const auto& table, Oid catalog) {
    for (const auto& [known, oid] : table) {
      if (known == name) return ObjectAddress{catalog, oid, 0};
    }
    throw SqlError(sqlstate::kUndefinedObject, fmt::format("{} \"{}\" does not exist", kind, name));
  };
  if (kind == "language") return find(kLanguageOids, catalogs::kLanguages);
  return find(kMethodOids, catalogs::kMethods);
}

}  // namespace

ObjectAddress address_of_object(std::string_view kind, const NameList& names, const NameList& arguments, Context context) {
  const auto* relation_kind = std::ranges::find(kAddressedRelations, kind, &AddressedRelation::words);
  const bool is_relation = relation_kind != std::end(kAddressedRelations), is_single = is_kind_of(kind, kSingleNames);
  if (is_kind_of(kind, kUnsupported)) throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("unsupported object type \"{}\"", kind));
  if (is_kind_of(kind, kOtherKinds)) throw not_supported(fmt::format("pg_get_object_address() of a {}", kind));
  if (!is_relation && !is_single && !is_kind_of(kind, kRoutines) && !is_kind_of(kind, kMoreKinds)) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("unrecognized object type \"{}\"", kind));
  }
  const bool takes_one = is_single || kind == "type" || kind == "domain constraint";
  if (takes_one && names.size() != 1) throw SqlError(sqlstate::kInvalidParameterValue, "name list length must be exactly 1");
  if (names.empty()) throw SqlError(sqlstate::kInvalidParameterValue, "name list length must be at least 1");
  if (kind == "domain constraint" && arguments.size() != 1) {
    throw SqlError(sqlstate::kInvalidParameterValue, "argument list length must be exactly 1");
  }
  if (is_relation) {
    const Relation relation = addressed_relation(names, context);
    if (relation_kind->letters.find(relation.kind) == std::string_view::npos) {
      throw wrong_object_kind(relation.name, relation_kind->message);
    }
    return {catalogs::kRelations, relation.oid, 0};
  }
  if (is_single) return address_of_single(kind, names[0], context);
  if (is_kind_of(kind, kRoutines)) return address_of_function(kind, names, arguments, context);
  if (kind == "default value") return default_named(names, context);
  if (kind == "table constraint") return constraint_named(names, context);
  if (kind == "domain constraint") return domain_constraint_named(names, arguments, context);
  if (kind == "type") return {catalogs::kTypes, addressed_type(names[0], context), 0};
  if (kind == "rule") return rule_named(names, context);
  const auto [relation, column] = addressed_column(names, context);
  return {catalogs::kRelations, relation.oid, column};
}

}  // namespace redquel::sql
