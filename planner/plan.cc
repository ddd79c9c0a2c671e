#include "planner/plan.h"

#include <algorithm>

#include "planner/physical/memory_scans.h"
#include "planner/physical/physical_planner.h"
#include "planner/rules/rule.h"

namespace redquel::planner {

PlannedStatement plan(const parser::ast::Statement& statement, const sql::CatalogSnapshot& catalog,
                      std::vector<sql::Type> declared_parameter_types, const BindSettings& settings,
                      const std::set<sql::Oid>& changed_tables, const TableSizes& sizes) {
  StatementRights rights;
  BindSettings asking = settings;
  asking.rights = &rights;
  BoundStatement bound = planner::bind(statement, catalog, std::move(declared_parameter_types), asking);
  PhysicalPlanner physical(settings.session, changed_tables);
  PhysicalPlan plan = physical.plan_statement(rewrite(with_sizes(bound.plan, sizes)));
  if (settings.reads_memory) plan = with_memory_scans(plan);
  const bool is_compound = is_compound_write(*plan) || bound.runs_functions;
  return {std::move(plan), std::move(bound.parameter_types), bound.slot_count, is_compound, std::move(rights), bound.sizes_asked};
}

namespace {

struct Reads {
  std::size_t sources = 0;
  bool whole_table = false;
  bool long_walk = false;  // a source that may take several commands
  bool blocking = false;
};

void count_reads(const PhysicalNode& node, Reads& reads) {
  if (const auto* memory = std::get_if<MemoryScan>(&node.node)) return count_reads(*memory->otherwise, reads);
  std::visit(
      [&](const auto& n) {
        using Node = std::decay_t<decltype(n)>;
        // Nothing tells whether an application changed a mapped table meanwhile.
        if constexpr (requires { n.read; } && !std::is_same_v<Node, MappedScan>) ++reads.sources;
        // IndexRanks looks at its rows again, together with their ranks.
        constexpr bool kIsOfOneMoment = std::is_same_v<Node, IndexRanks> || std::is_same_v<Node, MappedCount>;
        if constexpr (requires { n.fallback; } && !kIsOfOneMoment) ++reads.sources;
        if constexpr (std::is_same_v<Node, SetScan> || std::is_same_v<Node, OrderedScan> || std::is_same_v<Node, FullScan> ||
                      std::is_same_v<Node, IndexCount> || std::is_same_v<Node, IndexMinMax> || std::is_same_v<Node, LookupJoin> ||
                      std::is_same_v<Node, IndexValues> || std::is_same_v<Node, AdaptiveJoin>) {
          reads.long_walk = true;
        }
        if constexpr (std::is_same_v<Node, OrderedScan>) reads.whole_table = true;
        if constexpr (std::is_same_v<Node, FullScan>) reads.whole_table = reads.whole_table || n.key_start.empty();
        if constexpr (std::is_same_v<Node, PhysicalAggregate> || std::is_same_v<Node, PhysicalSort> ||
                      std::is_same_v<Node, IndexCount> || std::is_same_v<Node, IndexMinMax>) {
          reads.blocking = true;
        }
      },
      node.node);
  for (const PhysicalPlan& input : inputs_of(node)) count_reads(*input, reads);
}

}  // namespace

bool reads_changed_tables_plainly(const PhysicalPlan& plan, const std::set<sql::Oid>& changed_tables) {
  const bool plain = std::visit(
      [&](const auto& n) {
        using Node = std::decay_t<decltype(n)>;
        constexpr bool kIsPlain = std::is_same_v<Node, KeyLookup> || std::is_same_v<Node, UniqueLookup>;
        constexpr bool kIsPlainWithoutGoal = std::is_same_v<Node, SetScan> || std::is_same_v<Node, FullScan>;
        constexpr bool kIsCopy = std::is_same_v<Node, MemoryScan>;
        constexpr bool kReadsIndex = requires { n.fallback; };
        if constexpr (kIsCopy) {
          return reads_changed_tables_plainly(n.otherwise, changed_tables);
        } else if constexpr (kIsPlainWithoutGoal) {
          return !n.goal || !changed_tables.contains(n.read.table->oid);
        } else if constexpr (kReadsIndex) {
          return !changed_tables.contains(n.table->oid);
        } else if constexpr (std::is_same_v<Node, AdaptiveJoin>) {
          return reads_changed_tables_plainly(n.lookup, changed_tables);
        } else if constexpr (requires { n.read; } && !kIsPlain) {
          return !changed_tables.contains(n.read.table->oid);
        } else {
          return true;
        }
      },
      plan->node);
  if (!plain) return false;
  const std::vector<PhysicalPlan> inputs = inputs_of(*plan);
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](const PhysicalPlan& input) { return reads_changed_tables_plainly(input, changed_tables); });
}

std::optional<RowLock> locking_clause(const PhysicalPlan& plan) {
  if (const auto* locks = std::get_if<PhysicalLockRows>(&plan->node)) return locks->marks[0].lock;
  for (const PhysicalPlan& input : inputs_of(*plan)) {
    if (const std::optional<RowLock> found = locking_clause(input)) return found;
  }
  return std::nullopt;
}

std::vector<std::shared_ptr<const sql::TableDef>> tables_whose_sizes_count(const PhysicalPlan& plan) {
  Reads reads;
  count_reads(*plan, reads);
  if (reads.sources < 2 || !reads.whole_table) return {};
  auto tables = tables_of(plan);
  std::erase_if(tables, [](const auto& table) { return table->mapping != nullptr; });
  return tables;
}

bool needs_snapshot(const PhysicalPlan& plan) {
  // A plan that writes must not run twice.
  if (main_write(*plan) != nullptr) return false;
  Reads reads;
  count_reads(*plan, reads);
  return reads.sources > 1 || (reads.long_walk && reads.blocking);
}

}  // namespace redquel::planner
