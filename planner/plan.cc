#include "planner/plan.h"

#include "planner/physical/physical_planner.h"
#include "planner/rules/rule.h"

namespace redquel::planner {

PlannedStatement plan(const parser::ast::Statement& statement, const sql::CatalogSnapshot& catalog,
                      std::vector<sql::Type> declared_parameter_types, const BindSettings& settings) {
  BoundStatement bound = bind(statement, catalog, std::move(declared_parameter_types), settings);
  PhysicalPlanner physical(settings.session);
  return {physical.plan_statement(rewrite(bound.plan)), std::move(bound.parameter_types), bound.slot_count};
}

namespace {

struct Reads {
  std::size_t sources = 0;
  bool long_walk = false;  // a source that may take several commands
  bool blocking = false;
};

void count_reads(const PhysicalNode& node, Reads& reads) {
  std::visit(
      [&](const auto& n) {
        using Node = std::decay_t<decltype(n)>;
        if constexpr (requires { n.read; }) ++reads.sources;
        if constexpr (requires { n.fallback; }) ++reads.sources;
        if constexpr (std::is_same_v<Node, SetScan> || std::is_same_v<Node, OrderedScan> || std::is_same_v<Node, FullScan> ||
                      std::is_same_v<Node, IndexCount> || std::is_same_v<Node, IndexMinMax> || std::is_same_v<Node, LookupJoin>) {
          reads.long_walk = true;
        }
        if constexpr (std::is_same_v<Node, PhysicalAggregate> || std::is_same_v<Node, PhysicalSort> ||
                      std::is_same_v<Node, IndexCount> || std::is_same_v<Node, IndexMinMax>) {
          reads.blocking = true;
        }
      },
      node.node);
  for (const PhysicalPlan& input : inputs_of(node)) count_reads(*input, reads);
}

}  // namespace

bool needs_snapshot(const PhysicalPlan& plan) {
  // What has been written must not be written again.
  const bool writes = std::holds_alternative<PhysicalInsert>(plan->node) || std::holds_alternative<PhysicalUpdate>(plan->node) ||
                      std::holds_alternative<PhysicalDelete>(plan->node);
  if (writes) return false;
  Reads reads;
  count_reads(*plan, reads);
  return reads.sources > 1 || (reads.long_walk && reads.blocking);
}

}  // namespace redquel::planner
