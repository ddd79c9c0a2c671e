#pragma once

#include <string>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"

namespace redquel::executor {

/// The policies of the table after a change. A name that two of them have is a bug.
sql::PolicyDef* find_policy(sql::TableDef& table, const std::string& name);
/// DROP POLICY. 42704 if it does not exist; with IF EXISTS a notice.
void drop_policies(CatalogDraft& draft, const parser::ast::Drop& statement);
/// ALTER POLICY … RENAME TO. 42710, 42704.
void rename_policy(CatalogDraft& draft, const parser::ast::Rename& statement);
/// COMMENT ON POLICY.
void comment_on_policy(CatalogDraft& draft, const parser::ast::ObjectName& name, const std::string& text);
/// Policies and conditions of triggers that use the relation, its columns or the function get their new names. `before`: the catalog with the old names.
void rename_in_policies(CatalogDraft& draft, const sql::CatalogSnapshot& before, sql::Oid object);
/// All policies and conditions of triggers of the catalog.
void rename_in_all_policies(CatalogDraft& draft, const sql::CatalogSnapshot& before);
/// 0A000 "cannot alter type of a column used in a policy definition".
void check_no_policy_uses(const CatalogDraft& draft, sql::Oid table, std::int16_t column);

}  // namespace redquel::executor
