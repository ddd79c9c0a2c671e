#pragma once

#include <vector>

#include "executor/ddl/object_lookup.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// `ttl` and `ttl_column` among the storage parameters of a table: when its rows expire. Parameters that say nothing of it are left
/// to check_storage_parameters. False: the definition stays as it is. Throws 22023 for other values, 42703 for a column that is not
/// there, 42804 where it is no timestamptz, 0A000 where other tables refer to rows of this one.
bool set_time_to_live(sql::TableDef& table, const std::vector<parser::ast::Option>& options, bool reset = false);
/// `cache` among the storage parameters: whether redquel keeps the table in memory. Throws 22023 for a value that is no boolean.
void set_cache_option(sql::TableDef& table, const std::vector<parser::ast::Option>& options, bool reset = false);
/// 0A000 where the table's rows expire: nothing may refer to them.
void check_rows_stay(const sql::TableDef& referenced);

}  // namespace redquel::executor
