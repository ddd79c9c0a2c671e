#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/extension.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/policy.h"
#include "executor/ddl/publication.h"
#include "executor/ddl/role_draft.h"
#include "executor/ddl/trigger.h"
#include "executor/ddl/type_lookup.h"
#include "executor/roles/access.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

void comment_on_column(CatalogDraft& draft, const ast::Comment& statement, const std::string& text) {
  const ast::QualifiedName& names = statement.name.names;
  const ast::RelationName relation = relation_name({names.begin(), names.end() - 1});
  const RelationKind kind = relation_kind(draft, relation);
  if (kind == RelationKind::kIndex || kind == RelationKind::kSequence) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot set comment on relation \"{}\"", relation.name))
        .detail(fmt::format("This operation is not supported for {}.", kind == RelationKind::kIndex ? "indexes" : "sequences"));
  }
  if (kind == RelationKind::kView) {
    sql::ViewDef view = *draft.catalog().find_view(relation.schema, relation.name, draft.session().search_path);
    const auto column = std::ranges::find(view.columns, names.back(), &sql::ViewDef::Column::name);
    if (column == view.columns.end()) {
      throw sql::undefined_column(names.back(), view.name);
    }
    column->comment = text;
    return draft.put(std::move(view));
  }
  if (kind == RelationKind::kNone) {
    const auto composite = draft.catalog().find_user_type(relation.schema, relation.name, draft.session().search_path);
    if (composite && composite->kind == sql::UserType::Kind::kComposite) {
      sql::UserType type = *composite;
      const auto field = std::ranges::find(type.fields, names.back(), &sql::CompositeField::name);
      if (field == type.fields.end()) {
        throw sql::undefined_column(names.back(), type.name);
      }
      field->comment = text;
      return draft.put(std::move(type));
    }
  }
  sql::TableDef table = *require_table(draft, relation);
  if (table.find_column(names.back()) == nullptr) {
    throw sql::undefined_column(names.back(), table.name);
  }
  table.columns[table.position(table.find_column(names.back())->number)].comment = text;
  draft.put(std::move(table));
}

void comment_on_constraint(CatalogDraft& draft, const ast::Comment& statement, const std::string& text) {
  const ast::QualifiedName& names = statement.name.names;
  sql::TableDef table = *require_table(draft, relation_name({names.begin(), names.end() - 1}));
  const std::string& name = names.back();
  for (sql::CheckDef& check : table.checks) {
    if (check.name != name) continue;
    check.comment = text;
    return draft.put(std::move(table));
  }
  for (sql::ForeignKeyDef& key : table.foreign_keys) {
    if (key.name != name) continue;
    key.comment = text;
    return draft.put(std::move(table));
  }
  for (sql::IndexDef& index : table.indexes) {
    if (!index.constraint || index.name != name) continue;
    index.constraint->comment = text;
    return draft.put(std::move(table));
  }
  if (table.primary_key_index.name != name || name.empty()) {
    throw sql::undefined_table_constraint(name, table.name);
  }
  table.primary_key_index.constraint_comment = text;
  draft.put(std::move(table));
}

void comment_on_domain_constraint(CatalogDraft& draft, const ast::Comment& statement, const std::string& text) {
  const ast::QualifiedName domain(statement.name.argument_types.at(0).names);
  const std::string& name = statement.name.names.at(0);
  sql::UserType type = *require_domain(draft, domain);
  const auto check = std::ranges::find(type.checks, name, &sql::CheckDef::name);
  if (check == type.checks.end()) {
    throw sql::undefined_domain_constraint(name, sql::format_type(sql::Type{type.oid}));
  }
  check->comment = text;
  draft.put(std::move(type));
}

void comment_on_index(CatalogDraft& draft, const ast::RelationName& name, const std::string& text) {
  const auto& path = draft.session().search_path;
  if (const TablePtr owner = draft.catalog().find_primary_key(name.schema, name.name, path)) {
    sql::TableDef table = *owner;
    table.primary_key_index.comment = text;
    return draft.put(std::move(table));
  }
  const auto [owner, index] = draft.catalog().find_index(name.schema, name.name, path);
  sql::TableDef table = *owner;
  for (sql::IndexDef& other : table.indexes) {
    if (other.oid == index->oid) other.comment = text;
  }
  draft.put(std::move(table));
}

void comment_on_relation(CatalogDraft& draft, const ast::Comment& statement, const std::string& text) {
  const ast::RelationName name = relation_name(statement.name.names);
  const RelationKind kind = relation_kind(draft, name);
  if (kind == RelationKind::kNone) throw missing_relation(draft, name);
  const auto require = [&](RelationKind wanted, std::string_view with_article) {
    if (kind != wanted) throw sql::wrong_object_kind(name.name, with_article);
  };
  switch (statement.object) {
    case ast::ObjectType::kTable: {
      require(RelationKind::kTable, "a table");
      sql::TableDef table = *require_table(draft, name);
      if (table.materialized) throw sql::wrong_object_kind(name.name, "a table");
      table.comment = text;
      return draft.put(std::move(table));
    }
    case ast::ObjectType::kIndex:
      require(RelationKind::kIndex, "an index");
      return comment_on_index(draft, name, text);
    case ast::ObjectType::kSequence: {
      require(RelationKind::kSequence, "a sequence");
      sql::SequenceDef sequence = *draft.catalog().find_sequence(name.schema, name.name, draft.session().search_path);
      sequence.comment = text;
      return draft.put(std::move(sequence));
    }
    case ast::ObjectType::kView: {
      require(RelationKind::kView, "a view");
      sql::ViewDef view = *draft.catalog().find_view(name.schema, name.name, draft.session().search_path);
      view.comment = text;
      return draft.put(std::move(view));
    }
    case ast::ObjectType::kMaterializedView: {
      require(RelationKind::kTable, "a materialized view");
      sql::TableDef table = *require_table(draft, name);
      if (!table.materialized) throw sql::wrong_object_kind(name.name, "a materialized view");
      table.comment = text;
      return draft.put(std::move(table));
    }
    default: {
      const TablePtr found = find_table(draft, name);
      if (!found || !found->is_mapped()) throw sql::wrong_object_kind(name.name, "a foreign table");
      sql::TableDef table = *found;
      table.comment = text;
      return draft.put(std::move(table));
    }
  }
}

void set_comment(CatalogDraft& draft, const ast::Comment& statement, const std::string& text) {
  switch (statement.object) {
    case ast::ObjectType::kColumn:
      return comment_on_column(draft, statement, text);
    case ast::ObjectType::kType:
    case ast::ObjectType::kDomain: {
      const ast::QualifiedName& names = statement.name.names;
      sql::UserType type = statement.object == ast::ObjectType::kDomain ? *require_domain(draft, names) : *require_type(draft, names);
      type.comment = text;
      return draft.put(std::move(type));
    }
    case ast::ObjectType::kTableConstraint:
      return comment_on_constraint(draft, statement, text);
    case ast::ObjectType::kDomainConstraint:
      return comment_on_domain_constraint(draft, statement, text);
    case ast::ObjectType::kSchema: {
      const auto found = draft.catalog().schemas.find(statement.name.names.back());
      if (found == draft.catalog().schemas.end()) {
        throw sql::undefined_schema(statement.name.names.back());
      }
      sql::SchemaDef schema = found->second;
      schema.comment = text;
      return draft.put(std::move(schema));
    }
    case ast::ObjectType::kFunction:
    case ast::ObjectType::kProcedure:
    case ast::ObjectType::kRoutine: {
      sql::FunctionDef function = *require_function(draft, statement.name, statement.object);
      function.comment = text;
      return draft.put(std::move(function));
    }
    case ast::ObjectType::kExtension: {
      sql::ExtensionDef extension = require_extension(draft, statement.name.names.back());
      require_owner(draft.session(), extension.owner, "extension", extension.name);
      extension.comment = text;
      return draft.put(std::move(extension));
    }
    case ast::ObjectType::kPublication:
      return comment_on_publication(draft, statement.name.names.back(), text);
    case ast::ObjectType::kPolicy:
      return comment_on_policy(draft, statement.name, text);
    case ast::ObjectType::kTrigger:
      return comment_on_trigger(draft, statement.name, text);
    case ast::ObjectType::kTable:
    case ast::ObjectType::kIndex:
    case ast::ObjectType::kSequence:
    case ast::ObjectType::kView:
    case ast::ObjectType::kMaterializedView:
    case ast::ObjectType::kForeignTable:
      return comment_on_relation(draft, statement, text);
    default:
      drop_missing(draft, statement.object, std::span(&statement.name, 1), false);  // for its errors
      throw sql::not_supported("COMMENT ON this kind of object");
  }
}

/// 42501 without CREATEROLE, and for superusers without being one.
void comment_on_role(RoleDraft& draft, const std::string& name, const std::string& text) {
  sql::RoleDef role = require_role(draft.roles, draft.session(), name);
  if (role.superuser && !draft.is_superuser()) throw SqlError(sqlstate::kInsufficientPrivilege, "must be superuser");
  if (!draft.may_create_roles()) throw SqlError(sqlstate::kInsufficientPrivilege, "must have CREATEROLE privilege");
  role.comment = text;
  draft.roles.put(std::move(role));
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::Comment& statement) {
  // An empty comment is none, as in PostgreSQL.
  const std::string text = statement.comment.value_or("");
  if (statement.object == ast::ObjectType::kRole) {
    co_return co_await change_roles(context, [&](RoleDraft& draft) { comment_on_role(draft, statement.name.names.back(), text); });
  }
  const MakeDraft make = [&](CatalogDraft& draft) { set_comment(draft, statement, text); };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
