#include <algorithm>

#include "executor/routines/plpgsql_program.h"
#include "executor/routines/plpgsql_routine.h"
#include "planner/bind/sql_function.h"

namespace redquel::executor {

using sql::FunctionDef;

namespace {

std::shared_ptr<PlpgsqlRoutine> compiled(std::shared_ptr<const FunctionDef> definition, PlpgsqlDeclarations declarations, std::string signature) {
  auto routine = std::make_shared<PlpgsqlRoutine>();
  static_cast<PlpgsqlDeclarations&>(*routine) = std::move(declarations);
  routine->signature = std::move(signature);
  routine->plans.resize(routine->body.texts);
  routine->is_trigger = is_trigger_type(definition->result);
  routine->function = std::move(definition);
  return routine;
}

}  // namespace

std::shared_ptr<Routine> compile_plpgsql(std::shared_ptr<const FunctionDef> definition, const sql::CatalogPtr& catalog, const SessionState& session) {
  const auto written = catalog->functions.find(definition->oid);
  const bool has_outputs = written != catalog->functions.end() && !written->second->columns.empty();
  PlpgsqlDeclarations declarations = declare_plpgsql(*definition, has_outputs, *catalog, session);
  std::string signature = planner::signature_of(*definition, ",");
  return compiled(std::move(definition), std::move(declarations), std::move(signature));
}

std::shared_ptr<Routine> compile_trigger_function(std::shared_ptr<const FunctionDef> definition, const sql::TableDef& table,
                                                  const sql::CatalogPtr& catalog, const SessionState& session) {
  PlpgsqlDeclarations declarations = declare_trigger_function(*definition, &table, *catalog, session);
  std::string signature = planner::signature_of(*definition, ",");
  return compiled(std::move(definition), std::move(declarations), std::move(signature));
}

std::shared_ptr<Routine> compile_plpgsql_code(const std::string& code, const sql::CatalogPtr& catalog, const SessionState& session) {
  auto definition = std::make_shared<FunctionDef>();
  definition->name = "inline_code_block";
  definition->language = "plpgsql";
  definition->procedure = true;
  definition->result = sql::kVoid;
  definition->body = code;
  PlpgsqlDeclarations declarations = declare_plpgsql_code(*definition, *catalog, session);
  auto routine = compiled(std::move(definition), std::move(declarations), "inline_code_block");
  routine->catalog_version = catalog->version;
  return routine;
}

}  // namespace redquel::executor
