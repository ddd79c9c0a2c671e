#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/engine/routine.h"
#include "sql/error.h"

namespace redquel::executor {

/// Returns the error with a line of CONTEXT more, and without a position: that counts in the body, not in the client's text.
sql::SqlError with_context(const sql::SqlError& error, const std::string& line);

/// Returns the function with the columns that the call names for a result of type record.
std::shared_ptr<const sql::FunctionDef> with_columns_of(std::shared_ptr<const sql::FunctionDef> function, const FunctionInvocation& invocation);

/// Converts rows with these columns to those of the function: in the columns that are wanted, or, if there are none, as one value each.
std::vector<sql::Batch> as_results(const std::vector<sql::Batch>& rows, const sql::FunctionDef& function,
                                   const std::vector<sql::ResultColumn>& columns, const std::vector<sql::ResultColumn>& wanted,
                                   const SessionState& session, const sql::CatalogSnapshot& catalog);

}  // namespace redquel::executor
