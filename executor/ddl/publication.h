#pragma once

#include <string>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"
#include "sql/catalog/role_set.h"

namespace redquel::executor {

/// 42704 `publication "x" does not exist`.
const sql::PublicationDef& require_publication(const CatalogDraft& draft, const std::string& name);
void drop_publications(CatalogDraft& draft, const parser::ast::Drop& statement);
void rename_publication(CatalogDraft& draft, const parser::ast::Rename& statement);
void comment_on_publication(CatalogDraft& draft, const std::string& name, const std::string& text);
/// Throws 42501 if the publication is FOR ALL TABLES or FOR TABLES IN SCHEMA and the role is no superuser.
void check_publication_owner(const sql::PublicationDef& publication, const sql::RoleDef& owner);

}  // namespace redquel::executor
