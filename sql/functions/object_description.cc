#include "sql/functions/object_description.h"

#include <algorithm>

#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/quote.h"
#include "sql/system_tables/constraints.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

constexpr Type kRegprocedure{oid::kRegprocedure};

std::string_view kind_of(const Relation& relation) {
  switch (relation.kind) {
    case 'i':
    case 'I': return "index";
    case 'S': return "sequence";
    case 'v': return "view";
    case 'm': return "materialized view";
    case 'f': return "foreign table";
    case 'c': return "composite type";
    default: return "table";
  }
}

/// The relation as messages name it: its schema is there where the search path does not find it.
std::string described(Context context, const Relation& relation) {
  const bool visible = is_visible(catalog_of(context), relation, context.search_path);
  return std::string(kind_of(relation)) + " " + (visible ? quote_identifier(relation.name) : qualified_name(relation));
}

const Attribute* find_attribute(const std::vector<Attribute>& attributes, std::int32_t number) {
  const auto found = std::ranges::find(attributes, number, &Attribute::number);
  return found == attributes.end() ? nullptr : &*found;
}

/// A table's column by its DEFAULT's oid.
std::pair<const TableDef*, const ColumnDef*> find_default(const CatalogSnapshot& catalog, Oid oid) {
  for (const auto& [number, table] : catalog.tables) {
    for (const ColumnDef& column : table->columns) {
      if (has_default(column) && default_oid(*table, column) == oid) return {table.get(), &column};
    }
  }
  return {};
}

std::optional<Constraint> find_constraint(const CatalogSnapshot& catalog, Oid oid) {
  for (auto* list : {&all_constraints, &domain_constraints}) {
    for (Constraint& constraint : list(catalog)) {
      if (constraint.oid == oid) return std::move(constraint);
    }
  }
  return std::nullopt;
}

/// Finds a view or a materialized view by its rule.
std::optional<Relation> find_ruled_relation(const CatalogSnapshot& catalog, Oid rule) {
  for (const auto& [oid, view] : catalog.views) {
    if (view->rule == rule) return find_relation(catalog, oid);
  }
  for (const auto& [oid, table] : catalog.tables) {
    if (table->materialized && table->materialized->rule == rule) return find_relation(catalog, oid);
  }
  return std::nullopt;
}

const Role* find_role(const std::vector<Role>& roles, Oid oid) {
  const auto found = std::ranges::find(roles, oid, &Role::oid);
  return found == roles.end() ? nullptr : &*found;
}

std::optional<std::string> find_database(Context context, Oid oid) {
  const auto found = std::ranges::find(context.databases, oid, [](const std::string& name) { return database_oid(name); });
  if (found != context.databases.end()) return *found;
  return database_oid(context.database) == oid ? std::optional(context.database) : std::nullopt;
}

const FunctionDef* find_own_function(const CatalogSnapshot& catalog, Oid oid) {
  const auto found = catalog.functions.find(oid);
  return found == catalog.functions.end() ? nullptr : found->second.get();
}

/// pg_catalog.text, integer[], public.mood.
std::string type_identity(const CatalogSnapshot& catalog, Oid oid) {
  for (const auto& [number, type] : catalog.types) {
    if (number != oid && type->array != oid) continue;
    return quote_identifier(type->schema) + "." + quote_identifier(type->name) + (number == oid ? "" : "[]");
  }
  for (const auto& [number, table] : catalog.tables) {
    if (table->row_type == oid) return quote_identifier(table->schema) + "." + quote_identifier(table->name);
  }
  const std::string shown = format_type(Type{oid});
  const TypeInfo* info = find_type(oid);
  const Oid element = info != nullptr && is_array_type(oid) && !is_vector_type(oid) ? declared_element(oid) : 0;
  if (element != 0) return type_identity(catalog, element) + "[]";
  // SQL's own words need no schema.
  return info != nullptr && shown == quote_identifier(info->name) ? "pg_catalog." + shown : shown;
}

std::string signature(const CatalogSnapshot& catalog, const std::vector<Oid>& arguments) {
  std::string text;
  for (const Oid type : arguments) text += (text.empty() ? "" : ",") + type_identity(catalog, type);
  return "(" + text + ")";
}

ObjectIdentity function_identity(const CatalogSnapshot& catalog, const FunctionDef& function) {
  std::vector<Oid> types;
  for (const FunctionDef::Parameter& parameter : function.parameters) types.push_back(parameter.type.oid);
  const std::string name = quote_identifier(function.schema) + "." + quote_identifier(function.name);
  return {function.procedure ? "procedure" : "function", quote_identifier(function.schema), "", name + signature(catalog, types)};
}

std::string owner_of(const CatalogSnapshot& catalog, const Constraint& constraint) {
  if (constraint.domain != nullptr) return type_identity(catalog, constraint.domain->oid);
  return quote_identifier(constraint.table->schema) + "." + quote_identifier(constraint.table->name);
}

std::optional<ObjectIdentity> relation_identity(const Relation& relation, std::int32_t column) {
  ObjectIdentity found{std::string(kind_of(relation)), quote_identifier(relation.schema), quote_identifier(relation.name), qualified_name(relation)};
  if (column == 0) return found;
  const std::vector<Attribute> attributes = attributes_of(relation);
  const Attribute* attribute = find_attribute(attributes, column);
  if (attribute == nullptr) return std::nullopt;
  found.type += " column";
  found.identity += "." + quote_identifier(attribute->name);
  return found;
}

}  // namespace

std::optional<std::string> describe_object(const ObjectAddress& address, Context context) {
  const CatalogSnapshot& catalog = catalog_of(context);
  switch (address.catalog) {
    case catalogs::kRelations: {
      const std::optional<Relation> relation = find_relation(catalog, address.object);
      if (!relation) return std::nullopt;
      if (address.column == 0) return described(context, *relation);
      const std::vector<Attribute> attributes = attributes_of(*relation);
      const Attribute* attribute = find_attribute(attributes, address.column);
      if (attribute == nullptr) return std::nullopt;
      return "column " + attribute->name + " of " + described(context, *relation);
    }
    case catalogs::kTypes: {
      std::string name = object_name(kRegtype, address.object, context);
      if (name == std::to_string(address.object)) return std::nullopt;
      return "type " + name;
    }
    case catalogs::kFunctions: {
      const FunctionDef* own = find_own_function(catalog, address.object);
      if (own == nullptr && find_catalog_function(address.object) == nullptr) return std::nullopt;
      return "function " + object_name(kRegprocedure, address.object, context);
    }
    case catalogs::kConstraints: {
      const std::optional<Constraint> found = find_constraint(catalog, address.object);
      if (!found) return std::nullopt;
      const std::string name = "constraint " + found->name;
      if (found->domain != nullptr) return name;
      return name + " on " + described(context, *find_relation(catalog, found->table->oid));
    }
    case catalogs::kDefaults: {
      const auto [table, column] = find_default(catalog, address.object);
      if (table == nullptr) return std::nullopt;
      return "default value for column " + column->name + " of " + described(context, *find_relation(catalog, table->oid));
    }
    case catalogs::kRules: {
      const std::optional<Relation> relation = find_ruled_relation(catalog, address.object);
      return relation ? std::optional("rule _RETURN on " + described(context, *relation)) : std::nullopt;
    }
    case catalogs::kExtensions: {
      const auto found = catalog.extensions.find(address.object);
      return found == catalog.extensions.end() ? std::nullopt : std::optional("extension " + found->second.name);
    }
    case catalogs::kPublications: {
      const auto found = catalog.publications.find(address.object);
      return found == catalog.publications.end() ? std::nullopt : std::optional("publication " + found->second.name);
    }
    case catalogs::kSchemas: {
      const std::string name = schema_name(catalog, address.object);
      return name.empty() ? std::nullopt : std::optional("schema " + name);
    }
    case catalogs::kRoles: {
      const std::vector<Role> roles = all_roles(catalog, context);
      const Role* role = find_role(roles, address.object);
      return role == nullptr ? std::nullopt : std::optional("role " + role->name);
    }
    case catalogs::kDatabases: {
      const std::optional<std::string> name = find_database(context, address.object);
      return name ? std::optional("database " + *name) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<ObjectIdentity> identify_object(const ObjectAddress& address, Context context) {
  const CatalogSnapshot& catalog = catalog_of(context);
  switch (address.catalog) {
    case catalogs::kRelations: {
      const std::optional<Relation> relation = find_relation(catalog, address.object);
      return relation ? relation_identity(*relation, address.column) : std::nullopt;
    }
    case catalogs::kTypes: {
      if (find_type(address.object) == nullptr && object_name(kRegtype, address.object, context) == std::to_string(address.object)) {
        return std::nullopt;
      }
      const std::string identity = type_identity(catalog, address.object);
      const TypeInfo* info = find_type(address.object);
      for (const auto& [oid, type] : catalog.types) {
        if (oid != address.object && type->array != address.object) continue;
        const std::string name = info == nullptr ? type->name : std::string(info->name);
        return ObjectIdentity{"type", quote_identifier(type->schema), quote_identifier(name), identity};
      }
      for (const auto& [oid, table] : catalog.tables) {
        if (table->row_type != address.object) continue;
        return ObjectIdentity{"type", quote_identifier(table->schema), quote_identifier(table->name), identity};
      }
      return ObjectIdentity{"type", info == nullptr ? "" : "pg_catalog", info == nullptr ? "" : quote_identifier(info->name), identity};
    }
    case catalogs::kFunctions: {
      if (const FunctionDef* own = find_own_function(catalog, address.object)) return function_identity(catalog, *own);
      const CatalogFunction* function = find_catalog_function(address.object);
      if (function == nullptr) return std::nullopt;
      return ObjectIdentity{function->kind == 'a' ? "aggregate" : "function", "pg_catalog", "",
                            "pg_catalog." + quote_identifier(function->name) + signature(catalog, function->arguments)};
    }
    case catalogs::kConstraints: {
      const std::optional<Constraint> found = find_constraint(catalog, address.object);
      if (!found) return std::nullopt;
      const bool is_domain = found->domain != nullptr;
      return ObjectIdentity{is_domain ? "domain constraint" : "table constraint",
                            quote_identifier(is_domain ? found->domain->schema : found->table->schema), "",
                            quote_identifier(found->name) + " on " + owner_of(catalog, *found)};
    }
    case catalogs::kDefaults: {
      const auto [table, column] = find_default(catalog, address.object);
      if (table == nullptr) return std::nullopt;
      return ObjectIdentity{"default value", "", "",
                            "for " + quote_identifier(table->schema) + "." + quote_identifier(table->name) + "." + quote_identifier(column->name)};
    }
    case catalogs::kRules: {
      const std::optional<Relation> relation = find_ruled_relation(catalog, address.object);
      return relation ? std::optional(ObjectIdentity{"rule", "", "", "\"_RETURN\" on " + qualified_name(*relation)}) : std::nullopt;
    }
    case catalogs::kExtensions: {
      const auto found = catalog.extensions.find(address.object);
      if (found == catalog.extensions.end()) return std::nullopt;
      const std::string name = quote_identifier(found->second.name);
      return ObjectIdentity{"extension", "", name, name};
    }
    case catalogs::kPublications: {
      const auto found = catalog.publications.find(address.object);
      if (found == catalog.publications.end()) return std::nullopt;
      const std::string name = quote_identifier(found->second.name);
      return ObjectIdentity{"publication", "", name, name};
    }
    case catalogs::kSchemas: {
      const std::string name = quote_identifier(schema_name(catalog, address.object));
      return name == "\"\"" ? std::nullopt : std::optional(ObjectIdentity{"schema", "", name, name});
    }
    case catalogs::kRoles: {
      const std::vector<Role> roles = all_roles(catalog, context);
      const Role* role = find_role(roles, address.object);
      if (role == nullptr) return std::nullopt;
      const std::string name = quote_identifier(role->name);
      return ObjectIdentity{"role", "", name, name};
    }
    case catalogs::kDatabases: {
      const std::optional<std::string> name = find_database(context, address.object);
      if (!name) return std::nullopt;
      return ObjectIdentity{"database", "", quote_identifier(*name), quote_identifier(*name)};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace redquel::sql
