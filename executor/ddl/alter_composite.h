#pragma once

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/value_rewrite.h"
#include "parser/ast.h"

namespace redquel::executor {

/// ALTER TYPE … ADD, DROP, ALTER ATTRIBUTE, and what becomes of the values that there are. 42P01, 42809, 42701, 42703; 0A000 for ALTER
/// where tables use the type, and for DROP of what stored texts name.
TypeChange alter_composite(CatalogDraft& draft, const parser::ast::AlterTable& statement);
/// 0A000 where texts of the catalog name a field of that name: they do not follow another name, nor its end.
void check_field_not_named(const CatalogDraft& draft, const std::string& field);
/// ALTER TYPE … RENAME ATTRIBUTE. 0A000 where stored texts name the attribute.
void rename_attribute(CatalogDraft& draft, const parser::ast::Rename& statement);

}  // namespace redquel::executor
