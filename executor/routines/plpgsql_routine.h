#pragma once

#include <memory>
#include <string>

#include "executor/engine/routine.h"

namespace redquel::executor {

/// Compiles the body of `definition`, which has the types of a call. Throws what declare_plpgsql() throws.
std::shared_ptr<Routine> compile_plpgsql(std::shared_ptr<const sql::FunctionDef> definition, const sql::CatalogPtr& catalog,
                                         const SessionState& session);
/// The function of triggers of the table.
std::shared_ptr<Routine> compile_trigger_function(std::shared_ptr<const sql::FunctionDef> definition, const sql::TableDef& table,
                                                  const sql::CatalogPtr& catalog, const SessionState& session);
/// The code of DO.
std::shared_ptr<Routine> compile_plpgsql_code(const std::string& code, const sql::CatalogPtr& catalog, const SessionState& session);

}  // namespace redquel::executor
