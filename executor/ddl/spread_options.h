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
/// Throws 0A000 if the parameters would change the buckets of a table that exists.
void refuse_other_buckets(const std::vector<parser::ast::Option>& options);

}  // namespace redquel::executor
