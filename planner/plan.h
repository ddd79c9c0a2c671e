#pragma once

#include "parser/ast.h"
#include "planner/bind/bind.h"
#include "planner/physical_plan.h"

namespace redquel::planner {

/// What a query or a writing statement becomes.
struct PlannedStatement {
  PhysicalPlan plan;
  std::vector<sql::Type> parameter_types;
  std::uint32_t slot_count = 0;  // of EvaluationContext::parameters
};

/// bind → rewrite → choose paths. Pure: asks nobody. Throws what `bind` throws.
PlannedStatement plan(const parser::ast::Statement& statement, const sql::CatalogSnapshot& catalog,
                      std::vector<sql::Type> declared_parameter_types, const BindSettings& settings);

/// Rows that come from several commands must stem from one moment: a plan that reads more than one source, or holds back its rows
/// until it has read all. (A plain scan streams; each of its rows is from one moment.)
bool needs_snapshot(const PhysicalPlan& plan);

}  // namespace redquel::planner
