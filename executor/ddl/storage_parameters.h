#pragma once

#include <string_view>
#include <vector>

#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// Whose parameters those of an index are. Redis's own structures take those of a btree.
std::string_view parameter_owner(sql::IndexMethod method);
/// Storage parameters mean nothing here, but are refused as PostgreSQL refuses them. `owner`: whose they are, "heap" for a table, "materialized view", else
/// the method of an index. 22023, 0A000 (oids).
void check_storage_parameters(std::string_view owner, const std::vector<parser::ast::Option>& options);
/// 22023 for an option whose name contains "=".
void check_option_name(std::string_view name);
/// 42601 where RESET gives values.
void check_reset_parameters(const std::vector<parser::ast::Option>& options);

/// CREATE INDEX … WITH and ALTER INDEX … SET or RESET (…): remembered in the index's definition.
void set_index_options(sql::IndexDef& index, const std::vector<parser::ast::Option>& options, bool reset);

}  // namespace redquel::executor
