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

/// Returns true if one node of the plan asks Redis for rows; the parts of a table in several buckets count as one.
bool reads_in_one_place(const planner::PhysicalNode& plan);
/// Returns true if the plan begins with reads that another connection makes than the one for short commands.
bool walks_on_bulk_connection(const planner::PhysicalNode& plan);

}  // namespace redquel::executor
