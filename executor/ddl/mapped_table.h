#pragma once

#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/object_lookup.h"
#include "parser/ast.h"
#include "sql/catalog/mapping.h"

namespace redquel::executor {

// Definitions of mapped tables. None of them reads or writes a key of the table.

/// ALTER FOREIGN TABLE. 0A000 for what cannot be said of keys that belong to others.
void alter_mapped_table(CatalogDraft& draft, const TablePtr& table, const parser::ast::AlterTable& statement);
/// CREATE INDEX on a mapped table: declares a structure. HV00D, HV00J, 22023, 42P16.
sql::IndexDef declare_structure(const parser::ast::CreateIndex& statement, const sql::TableDef& table);
/// Returns "redquel" or "application". Throws HV024.
std::string read_maintainer(std::string text);
/// ALTER INDEX … SET and RESET (maintained). HV00D, HV024, 42P16.
void alter_structure(const sql::TableDef& table, sql::IndexDef& index, const parser::ast::SetTableOptions& written);

}  // namespace redquel::executor
