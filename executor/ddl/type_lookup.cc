#include "executor/ddl/type_lookup.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/default_privileges.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/definition_rights.h"
#include "executor/ddl/dependents.h"
#include "executor/ddl/object_lookup.h"
#include "executor/roles/access.h"
#include "parser/deparse.h"
#include "sql/extensions/extension.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;
using sql::UserType;

namespace {

std::string written_name(const ast::QualifiedName& names) { return fmt::format("{}", fmt::join(names, ".")); }

SqlError missing_type(const ast::QualifiedName& names) {
  return sql::undefined_type(written_name(names));
}

/// Stored texts name types as they were written; they do not follow another name.
void check_not_in_texts(const sql::CatalogSnapshot& catalog, const UserType& type) {
  const std::string name = parser::quote_identifier(type.name), qualified = parser::quote_identifier(type.schema) + "." + name;
  const auto check = [&](const std::string& text) {
    const auto names = [&](const std::string& cast) { return text.find(cast + name) != std::string::npos || text.find(cast + qualified) != std::string::npos; };
    if (!names("::") && !names("AS ")) return;
    throw sql::not_supported("another name or schema for a type that stored expressions name");
  };
  for (const auto& [oid, table] : catalog.tables) {
    for (const sql::ColumnDef& column : table->columns) check(column.default_sql), check(column.generated_sql);
    for (const sql::CheckDef& condition : table->checks) check(condition.expression_sql);
  }
  for (const auto& [oid, view] : catalog.views) check(view->query);
  for (const auto& [oid, other] : catalog.types) {
    check(other->default_sql);
    for (const sql::CheckDef& condition : other->checks) check(condition.expression_sql);
  }
}

}  // namespace

void check_new_type_name(const CatalogDraft& draft, const std::string& schema, const std::string& name) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  if (planner::find_made_type({schema, name}, catalog, {}) || catalog.find_table(schema, name, {}) || catalog.find_view(schema, name, {})) {
    throw SqlError(sqlstate::kDuplicateObject, fmt::format("type \"{}\" already exists", name));
  }
}

void check_type_schema(const CatalogDraft& draft, const ast::TypeName& name) {
  const std::size_t of_type = name.percent_type ? 2 : 1;  // parts behind the schema
  if (name.names.size() <= of_type) return;
  const std::string& schema = name.names[name.names.size() - of_type - 1];
  if (!is_system_schema(schema)) require_schema_usage(draft.session(), draft.catalog(), schema);
}

planner::DeclaredType declared_type(const CatalogDraft& draft, const ast::TypeName& name) {
  check_type_schema(draft, name);
  try {
    return planner::bind_declared_type(name, draft.catalog(), draft.session().search_path);
  } catch (const SqlError& error) {
    throw error.without_position();
  }
}

UserType new_type(CatalogDraft& draft, const ast::RelationName& name) {
  UserType type;
  check_schema(draft, name);
  type.schema = creation_schema(draft, name);
  type.name = name.name;
  take_ownership(draft, sql::AclKind::kType, type);
  check_new_type_name(draft, type.schema, type.name);
  type.oid = sql::new_type_oid();
  type.array = sql::new_type_oid();
  return type;
}

sql::UserTypePtr find_type(const CatalogDraft& draft, const ast::QualifiedName& names) {
  const ast::RelationName name = relation_name(names);
  check_schema(draft, name);
  return draft.catalog().find_user_type(name.schema, name.name, draft.session().search_path);
}

sql::UserTypePtr require_type(const CatalogDraft& draft, const ast::QualifiedName& names) {
  if (sql::UserTypePtr type = find_type(draft, names)) return type;
  throw missing_type(names);
}

sql::UserTypePtr require_domain(const CatalogDraft& draft, const ast::QualifiedName& names) {
  const ast::RelationName name = relation_name(names);
  if (!find_type(draft, names) && draft.catalog().find_table(name.schema, name.name, draft.session().search_path)) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("{} is not a domain", written_name(names)));
  }
  sql::UserTypePtr type = require_type(draft, names);
  if (type->kind == UserType::Kind::kDomain) return type;
  throw SqlError(sqlstate::kWrongObjectType, fmt::format("{} is not a domain", sql::format_type(sql::Type{type->oid})));
}

namespace {

/// A table's row type goes where the table goes.
void refuse_row_type(const CatalogDraft& draft, const ast::QualifiedName& names) {
  if (find_type(draft, names)) return;
  const ast::RelationName name = relation_name(names);
  if (draft.catalog().find_table(name.schema, name.name, draft.session().search_path)) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("{} is a table's row type", parser::quote_identifier(name.name)))
        .hint("Use ALTER TABLE instead.");
  }
}

}  // namespace

void rename_type(CatalogDraft& draft, const ast::Rename& statement) {
  const ast::QualifiedName& names = statement.name.names;
  refuse_row_type(draft, names);
  const sql::UserTypePtr found = require_type(draft, names);
  if (statement.object == ast::ObjectType::kDomain && found->kind != UserType::Kind::kDomain) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("{} is not a domain", sql::format_type(sql::Type{found->oid})));
  }
  check_new_type_name(draft, found->schema, statement.new_name);
  check_not_in_texts(draft.catalog(), *found);
  UserType type = *found;
  type.name = statement.new_name;
  draft.put(std::move(type));
}

sql::UserTypePtr require_movable_type(const CatalogDraft& draft, const ast::SetSchema& statement) {
  if (statement.object == ast::ObjectType::kDomain) return require_domain(draft, statement.name.names);
  refuse_row_type(draft, statement.name.names);
  return require_type(draft, statement.name.names);
}

void move_type(CatalogDraft& draft, const UserType& type, const std::string& schema) {
  if (type.schema == schema) return;
  if (sql::is_temporary_schema(type.schema) || sql::is_temporary_schema(schema)) {
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot move objects into or out of temporary schemas");
  }
  if (type.kind == UserType::Kind::kRange) throw sql::not_supported("SET SCHEMA of a range type");  // its multirange type would stay
  const sql::CatalogSnapshot& catalog = draft.catalog();
  if (planner::find_made_type({schema, type.name}, catalog, {}) || catalog.find_table(schema, type.name, {}) || catalog.find_view(schema, type.name, {})) {
    throw SqlError(sqlstate::kDuplicateObject, fmt::format("type \"{}\" already exists in schema \"{}\"", type.name, schema));
  }
  check_not_in_texts(catalog, type);
  UserType moved = type;
  moved.schema = schema;
  draft.put(std::move(moved));
}

void rename_domain_constraint(CatalogDraft& draft, const ast::Rename& statement) {
  UserType domain = *require_domain(draft, statement.name.names);
  const auto named = [&](const std::string& name) { return std::ranges::find(domain.checks, name, &sql::CheckDef::name); };
  const auto check = named(statement.old_name);
  if (check == domain.checks.end()) {
    throw sql::undefined_domain_constraint(statement.old_name, sql::format_type(sql::Type{domain.oid}));
  }
  if (named(statement.new_name) != domain.checks.end()) {
    throw SqlError(sqlstate::kDuplicateObject,
                   fmt::format("constraint \"{}\" for domain {} already exists", statement.new_name, sql::format_type(sql::Type{domain.oid})));
  }
  check->name = statement.new_name;
  draft.put(std::move(domain));
}

void drop_types(CatalogDraft& draft, const ast::Drop& statement) {
  std::vector<DropObject> targets;
  for (const ast::ObjectName& object : statement.names) {
    sql::UserTypePtr type;
    try {
      type = find_type(draft, object.names);
    } catch (const SqlError& error) {
      if (error.sqlstate() != sqlstate::kUndefinedSchema || !statement.if_exists) throw;
      draft.notice(sqlstate::kSuccessfulCompletion, error.message() + ", skipping");
      continue;
    }
    if (!type) {
      const std::string message = fmt::format("type \"{}\" does not exist", written_name(object.names));
      const ast::RelationName name = relation_name(object.names);
      const auto made = planner::find_made_type(object.names, draft.catalog(), draft.session().search_path);
      if (const sql::ExtensionDef* extension = made ? sql::extension_of_type(draft.catalog(), *made) : nullptr) {
        throw SqlError(sqlstate::kDependentObjectsStillExist, fmt::format("cannot drop {} because extension {} requires it",
                                                                          describe(draft, {DropObject::Kind::kType, *made}), extension->name))
            .hint(fmt::format("You can drop extension {} instead.", extension->name));
      }
      if (const auto multirange = planner::find_made_type(object.names, draft.catalog(), draft.session().search_path)) {
        const std::string range = sql::format_type(sql::Type{sql::find_user_range(*multirange)->oid});
        throw SqlError(sqlstate::kDependentObjectsStillExist,
                       fmt::format("cannot drop type {} because type {} requires it", sql::format_type(sql::Type{*multirange}), range))
            .hint(fmt::format("You can drop type {} instead.", range));
      }
      if (const TablePtr table = draft.catalog().find_table(name.schema, name.name, draft.session().search_path)) {
        const std::string shown = display_name(draft, table->schema, table->name);
        throw SqlError(sqlstate::kDependentObjectsStillExist, fmt::format("cannot drop type {} because table {} requires it", shown, shown))
            .hint(fmt::format("You can drop table {} instead.", shown));
      }
      if (!statement.if_exists) throw SqlError(sqlstate::kUndefinedObject, message);
      draft.notice(sqlstate::kSuccessfulCompletion, message + ", skipping");
      continue;
    }
    if (statement.object == ast::ObjectType::kDomain && type->kind != UserType::Kind::kDomain) {
      throw sql::wrong_object_kind(written_name(object.names), "a domain");
    }
    targets.push_back({DropObject::Kind::kType, type->oid});
  }
  require_drop_rights(draft, targets);
  const DependentChanges rights_are_checked;
  drop_dependents(draft, targets, statement.cascade);
  for (const DropObject& target : targets) draft.drop_type(target.oid);
}

}  // namespace redquel::executor
