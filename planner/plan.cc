#include "planner/plan.h"

#include <algorithm>

#include "planner/physical/memory_scans.h"
#include "planner/physical/physical_planner.h"
#include "planner/rules/rule.h"
#include "planner/tree/fired_triggers.h"
#include "planner/tree/plan_walk.h"
#include "sql/catalog/spread_table.h"

namespace redquel::planner {

PlannedStatement plan(const parser::ast::Statement& statement, const sql::CatalogSnapshot& catalog,
                      std::vector<sql::Type> declared_parameter_types, const BindSettings& settings,
                      const std::set<sql::Oid>& changed_tables, const TableSizes& sizes) {
  StatementRights rights;
  BindSettings asking = settings;
  asking.rights = &rights;
  BoundStatement bound = planner::bind(statement, catalog, std::move(declared_parameter_types), asking);
  PhysicalPlanner physical(settings.session, changed_tables, bound.slot_count, &catalog, settings.left_out);
  PhysicalPlan plan = physical.plan_statement(rewrite(with_sizes(bound.plan, sizes)));
  if (settings.reads_memory) plan = with_memory_scans(plan);
  const bool fires_triggers = may_fire_triggers(*plan, catalog);
  const bool is_compound = is_compound_write(*plan) || writes_several_parts(*plan) || bound.runs_functions || fires_triggers;
  DirectReadPtr direct = RuleChoices(settings.left_out).allow(AccessRule::kDirectRead) ? direct_read(plan) : nullptr;
  return {std::move(plan), std::move(bound.parameter_types), physical.slot_count(), is_compound, std::move(rights), bound.sizes_asked, std::move(direct), fires_triggers};
}

namespace {

/// The reads of a plan, summed up over its nodes.
struct ReadSum {
  std::size_t sources = 0;
  bool whole_table = false, index_sets = false;  // that are read
  bool walks = false;  // a source that may take several commands
  bool blocks = false;
};

bool is_source(Reads reads) {
  switch (reads) {
    case Reads::kByKey:
    case Reads::kByValue:
    case Reads::kRows:
    case Reads::kJoined:
    case Reads::kEntries:
      return true;
    case Reads::kNothing:
    case Reads::kEntriesOfInput:
    case Reads::kForeign:
    case Reads::kCopy:  // its fallback is one
      return false;
  }
  return false;
}

void sum_up(const PhysicalNode& node, ReadSum& sum) {
  const NodeTraits& traits = traits_of(node);
  if (traits.reads == Reads::kCopy) {
    for (const PhysicalPlan& fallback : fallbacks_of(node)) sum_up(*fallback, sum);
    return;
  }
  if (is_source(traits.reads)) ++sum.sources;
  sum.walks = sum.walks || traits.walks != Walks::kNot;
  const auto* scan = std::get_if<FullScan>(&node.node);
  const bool begins_with_key = scan != nullptr && !scan->key_start.empty();
  sum.whole_table = sum.whole_table || (traits.walks == Walks::kTable && !begins_with_key);
  sum.index_sets = sum.index_sets || std::holds_alternative<SetScan>(node.node) || std::holds_alternative<IndexKeys>(node.node);
  sum.blocks = sum.blocks || traits.blocks;
  if (const auto* gather = std::get_if<Gather>(&node.node)) return sum_up(*gather->parts.front(), sum);  // one command for each bucket, side by side
  for (const PhysicalPlan& input : inputs_of(node)) sum_up(*input, sum);
}

bool stops_at_goal(const PhysicalNode& node) {
  if (const auto* sets = std::get_if<SetScan>(&node.node)) return static_cast<bool>(sets->goal);
  return static_cast<bool>(std::get<FullScan>(node.node).goal);
}

}  // namespace

bool reads_changed_tables_plainly(const PhysicalPlan& plan, const std::set<sql::Oid>& changed_tables) {
  const auto is_changed = [&](const std::shared_ptr<const sql::TableDef>& stored) {
    return changed_tables.contains(stored->oid);
  };
  return all_nodes(*plan, [&](const PhysicalNode& node) {
    const OverChanges over_changes = traits_of(node).over_changes;
    const auto* table = table_of(node);
    if (table == nullptr || std::ranges::none_of(sql::stored_tables(*table), is_changed)) return true;
    return over_changes != OverChanges::kAnew && (over_changes != OverChanges::kWithoutGoal || !stops_at_goal(node));
  });
}

std::optional<RowLock> locking_clause(const PhysicalPlan& plan) {
  if (const auto* locks = std::get_if<PhysicalLockRows>(&plan->node)) return locks->marks[0].lock;
  for (const PhysicalPlan& input : inputs_of(*plan)) {
    if (const std::optional<RowLock> found = locking_clause(input)) return found;
  }
  return std::nullopt;
}

std::vector<std::shared_ptr<const sql::TableDef>> tables_whose_sizes_count(const PhysicalPlan& plan) {
  ReadSum sum;
  sum_up(*plan, sum);
  if (sum.sources < 2 || (!sum.whole_table && !sum.index_sets)) return {};
  auto tables = tables_of(plan);
  std::erase_if(tables, [](const auto& table) { return table->is_mapped(); });
  return tables;
}

bool needs_snapshot(const PhysicalPlan& plan) {
  // A plan that writes must not run twice.
  if (main_write(*plan) != nullptr) return false;
  ReadSum sum;
  sum_up(*plan, sum);
  return sum.sources > 1 || (sum.walks && sum.blocks);
}

}  // namespace redquel::planner
