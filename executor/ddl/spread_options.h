#pragma once

#include <string_view>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// `buckets` and `bucket_by` among the storage parameters of a new table, or SET redquel.buckets: in a cluster the table gets a part in so many
/// buckets. Called when columns and constraints are known; its first part lies in the bucket of its prefix. Throws 42703 for a column that does
/// not exist, 42704 for a type that no index can hold, 22023.
void set_spread(CatalogDraft& draft, sql::TableDef& table, const std::vector<parser::ast::Option>& options);
/// Returns true if the parameters declare several buckets.
bool declares_buckets(const std::vector<parser::ast::Option>& options);
/// Changes the buckets of a table that exists: ALTER TABLE … SET, or RESET. Returns true if its rows then lie elsewhere: they have to be written anew.
/// Throws as set_spread, and 0A000 for a definition that several buckets do not allow.
bool change_spread(CatalogDraft& draft, sql::TableDef& table, const std::vector<parser::ast::Option>& options, bool reset);

}  // namespace redquel::executor
