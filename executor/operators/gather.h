#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "planner/tree/physical_plan.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// Returns the numbers of the parts that the node reads with these parameters.
std::vector<std::size_t> parts_read(const planner::Gather& gather, const sql::EvaluationContext& evaluation);

/// Returns the tables that a plan reads or writes, each once, as planner::tables_of() does, but without the parts that no value of a parameter of
/// the statement needs. `parameters`: so many are given; the slots behind them have no values yet.
std::vector<std::shared_ptr<const sql::TableDef>> tables_of_run(const planner::PhysicalPlan& plan, const sql::EvaluationContext& evaluation,
                                                                std::size_t parameters);

}  // namespace redquel::executor
