#include "planner/physical/memory_scans.h"

#include <algorithm>
#include <map>

namespace redquel::planner {

namespace {

/// Returns true if a copy of the table may be kept: its rows are redquel's own, and it is no temporary table.
bool may_be_kept(const sql::TableDef& table) { return !table.mapping && table.cache != "off" && !table.schema.starts_with("pg_temp"); }

bool is_replaceable(const FullScan& scan) {
  const bool is_whole = scan.key_start.empty() && !scan.goal && !scan.descending;
  // Computed columns of indexes are in no row.
  const bool has_rows = std::ranges::all_of(scan.read.numbers, [](std::int16_t number) { return number >= 0; });
  return is_whole && has_rows && may_be_kept(*scan.read.table);
}

bool writes_or_locks(const PhysicalNode& node) {
  if (is_write(node) || std::holds_alternative<PhysicalLockRows>(node.node)) return true;
  return std::ranges::any_of(inputs_of(node), [](const PhysicalPlan& input) { return writes_or_locks(*input); });
}

/// Replaces scans. Inputs that several nodes share stay shared.
class Replacement {
 public:
  PhysicalPlan of(const PhysicalPlan& plan) {
    if (!plan) return plan;
    PhysicalPlan& known = known_[plan];
    if (known) return known;
    PhysicalNode node = *plan;
    bool is_changed = false;
    if (auto* scan = std::get_if<FullScan>(&node.node)) {
      if (is_replaceable(*scan)) {
        TableRead read = scan->read;
        node.node = MemoryScan{std::move(read), plan};
        is_changed = true;
      }
    } else {
      std::visit(
          [&](auto& n) {
            const auto replace = [&](PhysicalPlan& input) {
              PhysicalPlan made = of(input);
              is_changed |= made != input;
              input = std::move(made);
            };
            if constexpr (requires { n.input; }) replace(n.input);
            if constexpr (requires { n.outer; }) replace(n.outer);
            if constexpr (requires { n.left; }) replace(n.left);
            if constexpr (requires { n.right; }) replace(n.right);
            if constexpr (requires { n.subquery; }) replace(n.subquery);
            if constexpr (requires { n.source; }) replace(n.source);
            if constexpr (requires { n.lookup; n.hash; }) {
              replace(n.lookup);
              replace(n.hash);
            }
          },
          node.node);
    }
    PhysicalPlan made = is_changed ? std::make_shared<const PhysicalNode>(std::move(node)) : plan;
    return known_[plan] = std::move(made);
  }

 private:
  std::map<PhysicalPlan, PhysicalPlan> known_;
};

}  // namespace

PhysicalPlan with_memory_scans(const PhysicalPlan& plan) { return writes_or_locks(*plan) ? plan : Replacement().of(plan); }

}  // namespace redquel::planner
