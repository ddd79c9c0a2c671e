#pragma once

#include <vector>

#include "executor/ddl/catalog_draft.h"
#include "executor/ddl/object_lookup.h"
#include "parser/ast.h"
#include "sql/catalog/mapping.h"

namespace redquel::executor {

// Definitions of mapped tables. None of them reads or writes a key of the table.

/// ALTER FOREIGN TABLE. 0A000 for what cannot be said of keys that belong to others.
void alter_mapped_table(CatalogDraft& draft, const TablePtr& table, const parser::ast::AlterTable& statement);
/// CREATE INDEX on a mapped table: declares a structure that exists. HV00D, HV00J, 22023, 42P16.
sql::IndexDef declare_structure(const parser::ast::CreateIndex& statement, const sql::TableDef& table);

}  // namespace redquel::executor
