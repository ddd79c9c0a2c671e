#pragma once

#include <string>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"
#include "planner/bind/bind_type.h"

namespace redquel::executor {

// User-made types in definition statements, with PostgreSQL's errors.

/// A new type of that name: schema, name, owner and oids are set. 42710 `type "x" already exists`, 3F000, 42501.
sql::UserType new_type(CatalogDraft& draft, const parser::ast::RelationName& name);
/// 42501 without USAGE on the schema that the type's name is written with.
void check_type_schema(const CatalogDraft& draft, const parser::ast::TypeName& name);
/// The type that is written in a definition of a type; errors have no position. 42704 …
planner::DeclaredType declared_type(const CatalogDraft& draft, const parser::ast::TypeName& name);
/// nullptr: there is none of that name. Schemas are looked at first (3F000).
sql::UserTypePtr find_type(const CatalogDraft& draft, const parser::ast::QualifiedName& names);
/// 42704 `type "x" does not exist`.
sql::UserTypePtr require_type(const CatalogDraft& draft, const parser::ast::QualifiedName& names);
/// 42809 `x is not a domain`, too.
sql::UserTypePtr require_domain(const CatalogDraft& draft, const parser::ast::QualifiedName& names);
/// 42710 if a type or relation of the schema has that name.
void check_new_type_name(const CatalogDraft& draft, const std::string& schema, const std::string& name);

/// ALTER TYPE and ALTER DOMAIN … RENAME TO, RENAME CONSTRAINT.
void rename_type(CatalogDraft& draft, const parser::ast::Rename& statement);
void rename_domain_constraint(CatalogDraft& draft, const parser::ast::Rename& statement);
/// Finds the type of ALTER TYPE or ALTER DOMAIN … SET SCHEMA; 42809 for a table's row type.
sql::UserTypePtr require_movable_type(const CatalogDraft& draft, const parser::ast::SetSchema& statement);
/// To a schema that is there. 42710; 0A000 where stored expressions name the type, and for range types.
void move_type(CatalogDraft& draft, const sql::UserType& type, const std::string& schema);
/// DROP TYPE, DROP DOMAIN.
void drop_types(CatalogDraft& draft, const parser::ast::Drop& statement);

}  // namespace redquel::executor
