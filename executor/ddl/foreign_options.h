#pragma once

#include <string>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"
#include "sql/catalog/mapping.h"

namespace redquel::executor {

/// OPTIONS (…) and WITH (…) as texts. HV024 where a value is missing.
std::string mapping_text(const parser::ast::Option& option);
/// 42710 for an option that is given twice.
sql::MappingOptions read_options(const std::vector<parser::ast::Option>& options);
/// Sets the table's mapping and with it its identity columns. Absent fields that mean a default: 42P16 if the column has none, or a
/// volatile one. Names of parents: 42P01, 42P16.
void put_mapping(const CatalogDraft& draft, sql::TableDef& table, sql::Mapping mapping);
/// 42P17 where a key could belong to another table, too.
void check_overlap(const CatalogDraft& draft, const sql::TableDef& table);
/// Throws 42P17 if keys of the table or of its structures could begin with "redquel:", in any logical database.
void check_reach(const sql::TableDef& table);

}  // namespace redquel::executor
