#include "executor/ddl/granted_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "executor/ddl/function_lookup.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/type_lookup.h"
#include "executor/roles/access.h"
#include "sql/name_errors.h"
#include "sql/privileges/object_acl.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/types/array_value.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::ObjectAddress;
using sql::SqlError;

namespace {

namespace classes = sql::catalog_class;

SqlError missing_object(std::string_view kind, const std::string& name) {
  return SqlError(sqlstate::kUndefinedObject, fmt::format("{} \"{}\" does not exist", kind, name));
}

ObjectAddress relation_named(CatalogDraft& draft, const ast::ObjectName& object) {
  ast::RelationName name = relation_name(object.names);
  check_schema(draft, name);
  if (name.schema == "pg_temp") name.schema = draft.session().temporary_schema;
  const std::optional<sql::Relation> found = sql::find_relation(draft.catalog(), name.schema, name.name, draft.session().search_path);
  if (!found) throw missing_relation(draft, name);
  return {classes::kRelations, found->oid};
}

/// A function of PostgreSQL's that redquel has.
const sql::CatalogFunction* find_built_in(const CatalogDraft& draft, const ast::ObjectName& object, ast::ObjectType kind) {
  const ast::RelationName name = relation_name(object.names);
  if (kind == ast::ObjectType::kProcedure || (!name.schema.empty() && name.schema != "pg_catalog")) return nullptr;
  std::vector<sql::Oid> types;
  for (const ast::TypeName& type : object.argument_types) types.push_back(declared_type(draft, type).type.oid);
  std::vector<const sql::CatalogFunction*> functions = sql::find_catalog_functions(name.name);
  std::erase_if(functions, [&](const sql::CatalogFunction* function) { return object.arguments_given && function->arguments != types; });
  return functions.size() == 1 ? functions.front() : nullptr;
}

ObjectAddress function_named(CatalogDraft& draft, const ast::ObjectName& object, ast::ObjectType kind) {
  try {
    return {classes::kFunctions, require_function(draft, object, kind)->oid};
  } catch (const SqlError&) {
    const sql::CatalogFunction* built_in = find_built_in(draft, object, kind);
    if (built_in == nullptr) throw;
    return {classes::kFunctions, built_in->oid};
  }
}

ObjectAddress type_named(CatalogDraft& draft, const ast::ObjectName& object, ast::ObjectType kind) {
  ast::TypeName name;
  name.names = object.names;
  const planner::DeclaredType found = declared_type(draft, name);
  const sql::Oid oid = found.domain != 0 ? found.domain : found.type.oid;
  if (sql::is_array_type(oid)) {
    throw SqlError(sqlstate::kInvalidGrantOperation, "cannot set privileges of array types").hint("Set the privileges of the element type instead.");
  }
  if (kind == ast::ObjectType::kDomain && found.domain == 0) {
    const sql::TypeInfo* info = sql::find_type(oid);
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("\"{}\" is not a domain", info != nullptr ? info->name : object.names.back()));
  }
  return {classes::kTypes, oid};
}

ObjectAddress schema_named(const CatalogDraft& draft, const std::string& name) {
  const sql::Oid oid = sql::schema_oid(draft.catalog(), name);
  if (oid == 0) throw sql::undefined_schema(name);
  return {classes::kSchemas, oid};
}

ObjectAddress language_named(const std::string& name) {
  if (name == "internal" || name == "c") {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("language \"{}\" is not trusted", name))
        .detail("GRANT and REVOKE are not allowed on untrusted languages, because only superusers can use untrusted languages.");
  }
  if (name != "sql") throw missing_object("language", name);
  return {classes::kLanguages, 14};
}

ObjectAddress object_named(CatalogDraft& draft, const ast::ObjectName& object, ast::ObjectType kind) {
  const std::string name = object.names.empty() ? "" : object.names.back();
  switch (kind) {
    case ast::ObjectType::kTable:
    case ast::ObjectType::kSequence: return relation_named(draft, object);
    case ast::ObjectType::kFunction:
    case ast::ObjectType::kProcedure:
    case ast::ObjectType::kRoutine: return function_named(draft, object, kind);
    case ast::ObjectType::kType:
    case ast::ObjectType::kDomain: return type_named(draft, object, kind);
    case ast::ObjectType::kSchema: return schema_named(draft, name);
    case ast::ObjectType::kLanguage: return language_named(name);
    case ast::ObjectType::kForeignServer:
      if (name != "redis") throw missing_object("server", name);
      return {classes::kForeignServers, sql::kRedisServer};
    case ast::ObjectType::kForeignDataWrapper:
      if (name != "redis") throw missing_object("foreign-data wrapper", name);
      return {classes::kForeignDataWrappers, sql::kRedisWrapper};
    case ast::ObjectType::kLargeObject: throw SqlError(sqlstate::kUndefinedObject, fmt::format("large object {} does not exist", name));
    case ast::ObjectType::kTablespace:
      if (name != "pg_default" && name != "pg_global") throw missing_object("tablespace", name);
      throw sql::not_supported("GRANT on tablespaces");
    default: throw sql::not_supported("GRANT on this kind of object");
  }
}

void add_relations(const CatalogDraft& draft, const std::string& schema, std::string_view kinds, std::vector<ObjectAddress>& objects) {
  const std::vector<sql::Relation> relations = sql::all_relations(draft.catalog());
  for (const char kind : kinds) {
    for (const sql::Relation& relation : relations) {
      if (relation.schema == schema && relation.kind == kind) objects.push_back({classes::kRelations, relation.oid});
    }
  }
}

void add_objects_of_schema(const CatalogDraft& draft, const std::string& schema, ast::ObjectType kind, std::vector<ObjectAddress>& objects) {
  if (kind == ast::ObjectType::kTable) return add_relations(draft, schema, "rvmf", objects);
  if (kind == ast::ObjectType::kSequence) return add_relations(draft, schema, "S", objects);
  if (schema == "pg_catalog") throw sql::not_supported("GRANT on all functions of pg_catalog");
  for (const auto& [oid, function] : draft.catalog().functions) {
    const bool is_wanted = kind == ast::ObjectType::kRoutine || function->procedure == (kind == ast::ObjectType::kProcedure);
    if (function->schema == schema && is_wanted) objects.push_back({classes::kFunctions, oid});
  }
}

}  // namespace

std::vector<ObjectAddress> granted_objects(CatalogDraft& draft, const ast::Grant& statement) {
  std::vector<ObjectAddress> objects;
  for (const ast::ObjectName& object : statement.objects) {
    if (!statement.all_in_schema) {
      objects.push_back(object_named(draft, object, statement.object));
      continue;
    }
    const std::string& written = object.names.back();
    const std::string& schema = written == "pg_temp" && !draft.session().temporary_schema.empty() ? draft.session().temporary_schema : written;
    require_rights(draft.session(), draft.catalog(), sql::AclKind::kSchema, schema_named(draft, schema).object, sql::right::kUsage);
    add_objects_of_schema(draft, schema, statement.object, objects);
  }
  return objects;
}

}  // namespace redquel::executor
