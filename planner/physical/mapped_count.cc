#include <algorithm>

#include "planner/physical/physical_planner.h"
#include "planner/physical/plain_zset.h"

namespace redquel::planner {

std::optional<Planned> PhysicalPlanner::plan_mapped_count(const Logical& node, const LogicalAggregate& aggregate) {
  // Below the aggregate are no columns that are computed: count(*) reads none.
  LogicalPtr input = aggregate.input;
  std::vector<sql::ExpressionPtr> conditions;
  if (const auto* project = std::get_if<LogicalProject>(&input->node); project && project->expressions.empty()) input = project->input;
  if (const auto* filter = std::get_if<LogicalFilter>(&input->node)) {
    conditions = sql::split_conjunction(filter->condition);
    input = filter->input;
  }
  const auto* scan = std::get_if<LogicalScan>(&input->node);
  const auto counts_rows = [](const AggregateCall& call) {
    return call.function->name == "count" && call.arguments.empty() && !call.distinct && !call.filter;
  };
  if (!scan || !aggregate.scalar || aggregate.calls.empty() || !std::ranges::all_of(aggregate.calls, counts_rows)) return {};
  if (changed_tables_.contains(scan->table->oid)) return {};
  std::optional<PlainZset> zset = plain_zset(*scan, input->columns, conditions);
  if (!zset) return {};
  MappedCount count{scan->table, std::move(zset->fixed), std::move(zset->lower), std::move(zset->upper), aggregate.calls.size(), nullptr};
  index_answers_ = false;
  count.fallback = plan_node(node, aggregate, {}).plan;
  index_answers_ = true;
  return Planned{make_physical(std::move(count), physical_columns(node.columns)), column_ids(node.columns)};
}

}  // namespace redquel::planner
