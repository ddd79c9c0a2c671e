#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "planner/tree/physical_plan.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/role_set.h"
#include "sql/error.h"

namespace redquel::executor {

/// Returns the error of a violated constraint without the values of columns that the role may not read, as PostgreSQL reports it: with row
/// level security, or without SELECT on the table or on all columns of the key, details show no values. nullopt: the error shows none that
/// are hidden. `written`: the table that the statement writes to; may be null.
std::optional<sql::SqlError> without_hidden_values(const sql::SqlError& error, const sql::CatalogSnapshot& catalog, const sql::TableDef* written,
                                                   sql::Oid role, std::string_view database);

/// Like without_hidden_values(), as the exception that ends a statement: the current error, or another one. `catalog`, `plan`: may be
/// null.
std::exception_ptr shown_failure(const sql::SqlError& error, const sql::CatalogSnapshot* catalog, const planner::PhysicalPlan& plan,
                                 sql::Oid role, std::string_view database);
/// Returns the tables of the plan whose rows no policy hides from the role: the name of a key is a part of a row.
std::vector<std::shared_ptr<const sql::TableDef>> tables_without_policies(const planner::PhysicalPlan& plan, sql::Oid role, std::string_view database);

}  // namespace redquel::executor
