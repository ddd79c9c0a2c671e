#pragma once

#include <string>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"

namespace redquel::executor {

/// 42704 `extension "x" does not exist`.
const sql::ExtensionDef& require_extension(const CatalogDraft& draft, const std::string& name);
void drop_extensions(CatalogDraft& draft, const parser::ast::Drop& statement);
/// ALTER EXTENSION … SET SCHEMA: the members move with it.
void move_extension(CatalogDraft& draft, const parser::ast::SetSchema& statement);
/// Drops the extension with its members. Nothing uses them any more.
void drop_with_members(CatalogDraft& draft, sql::Oid extension);
/// Throws 2BP01 for a member of an extension, which is dropped with its extension only.
void check_no_member(const CatalogDraft& draft, const sql::FunctionDef& function);

}  // namespace redquel::executor
