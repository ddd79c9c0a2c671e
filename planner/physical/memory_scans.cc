#include "planner/physical/memory_scans.h"

#include <algorithm>
#include <map>

#include "sql/catalog/mapping.h"

namespace redquel::planner {

namespace {

/// Returns true if a copy of the table may be kept. Keys of a foreign table can be observed only if they begin alike. The set of all rows that the
/// Ruby library Ohm keeps is no key of a row.
bool may_be_kept(const sql::TableDef& table) {
  if (table.cache == "off" || table.schema.starts_with("pg_temp")) return false;
  return !table.mapping || (!table.mapping->ohm && !table.mapping->key.parts().front().literal.empty());
}

bool is_replaceable(const FullScan& scan) {
  const bool is_whole = scan.key_start.empty() && !scan.goal && !scan.descending;
  // Computed columns of indexes are in no row.
  const bool has_rows = std::ranges::all_of(scan.read.numbers, [](std::int16_t number) { return number >= 0; });
  return is_whole && has_rows && may_be_kept(*scan.read.table);
}

/// A scan of the keyspace, or of the one key of a template without slots that holds all rows.
bool is_replaceable(const MappedScan& scan) {
  using Path = MappedScan::Path;
  const sql::Mapping& mapping = *scan.read.table->mapping;
  const bool is_one_key = scan.path == Path::kKeys && !mapping.key.has_slots() && !sql::has_one_row(mapping.layout) && scan.fixed.empty();
  // A time to live is another one each second.
  const bool is_kept = std::ranges::all_of(scan.read.numbers, [&](std::int16_t number) {
    return number > 0 && mapping.column(number).role != sql::Mapping::Role::kTtl;
  });
  return (scan.path == Path::kScan || is_one_key) && !scan.goal && is_kept && may_be_kept(*scan.read.table);
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
    const auto replace_scan = [&](const auto& scan) {
      is_changed = is_replaceable(scan);
      if (!is_changed) return;
      TableRead read = scan.read;
      node.node = MemoryScan{std::move(read), plan};
    };
    if (const auto* scan = std::get_if<FullScan>(&node.node)) {
      replace_scan(*scan);
    } else if (const auto* mapped = std::get_if<MappedScan>(&node.node)) {
      replace_scan(*mapped);
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
