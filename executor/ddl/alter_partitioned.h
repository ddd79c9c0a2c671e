#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/catalog/ddl_context.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// Throws for what ALTER TABLE must not change of a partition alone: 42809, 42P16, 0A000.
void check_partition_alteration(const sql::CatalogSnapshot& catalog, const sql::TableDef& partition, const parser::ast::AlterTable& statement);

/// ALTER TABLE of a partitioned table, and of all tables below it.
asio::awaitable<void> alter_partitioned(DdlContext& context, const parser::ast::AlterTable& statement);

}  // namespace redquel::executor
