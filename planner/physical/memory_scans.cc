#include "planner/physical/memory_scans.h"

#include <algorithm>
#include <map>

#include "sql/catalog/mapping.h"

namespace redquel::planner {

bool is_packed_integer(sql::Oid type) {
  switch (type) {
    case sql::oid::kInt2:
    case sql::oid::kInt4:
    case sql::oid::kInt8:
    case sql::oid::kDate:
    case sql::oid::kTimestamp:
    case sql::oid::kTimestamptz:
      return true;
    default:
      return false;
  }
}

namespace {

/// Returns true if a copy of the table may be kept. Keys of a foreign table can be observed only if they begin alike. The set of all rows that the
/// Ruby library Ohm keeps is no key of a row.
bool may_be_kept(const sql::TableDef& table) {
  if (table.cache == "off" || table.schema.starts_with("pg_temp")) return false;
  return !table.is_mapped() || (!table.mapping().ohm && !table.mapping().key.parts().front().literal.empty());
}

/// Computed columns of indexes are in no row.
bool has_rows(const TableRead& read) {
  return std::ranges::all_of(read.numbers, [](std::int16_t number) { return number >= 0; });
}

bool is_replaceable(const FullScan& scan) { return !scan.goal && !scan.descending && has_rows(scan.read) && may_be_kept(*scan.read.table); }

bool is_replaceable(const SetScan& scan) { return !scan.goal && !scan.first && has_rows(scan.read) && may_be_kept(*scan.read.table); }

bool is_replaceable(const OrderedScan& scan) { return !scan.goal && !scan.in_order && has_rows(scan.read) && may_be_kept(*scan.read.table); }

/// A scan of the keyspace, or of the one key of a template without slots that holds all rows.
bool is_replaceable(const MappedScan& scan) {
  using Path = MappedScan::Path;
  const sql::Mapping& mapping = scan.read.table->mapping();
  const bool is_one_key = scan.path == Path::kKeys && !mapping.key.has_slots() && !sql::has_one_row(mapping.layout) && scan.fixed.empty();
  // A time to live is another one each second.
  const bool is_kept = std::ranges::all_of(scan.read.numbers, [&](std::int16_t number) {
    return number > 0 && mapping.column(number).role != sql::Mapping::Role::kTtl;
  });
  return (scan.path == Path::kScan || is_one_key) && !scan.goal && is_kept && may_be_kept(*scan.read.table);
}

bool reads_a_part(const FullScan& scan) { return !scan.key_start.empty(); }
bool reads_a_part(const MappedScan&) { return false; }
bool reads_a_part(const SetScan&) { return true; }
/// An order of all rows has no bounds. Indexes on expressions may be partial.
bool reads_a_part(const OrderedScan& scan) { return scan.lower || scan.upper || scan.prefix || !scan.leading.empty() || scan.column <= 0; }

/// Returns the column of the scan that a column of the plan is. None: the plan computes columns, perhaps with errors that rows which are left out
/// would hide.
std::optional<std::size_t> scanned_column(const PhysicalNode& plan, std::size_t position) {
  if (const auto* project = std::get_if<PhysicalProject>(&plan.node)) {
    const auto is_column = [](const sql::ExpressionPtr& expression) { return std::holds_alternative<sql::ColumnRef>(expression->node); };
    if (!std::ranges::all_of(project->expressions, is_column)) return std::nullopt;
    const auto* column = std::get_if<sql::ColumnRef>(&project->expressions.at(position)->node);
    return column == nullptr ? std::nullopt : scanned_column(*project->input, column->column);
  }
  const auto* scan = std::get_if<MemoryScan>(&plan.node);
  return scan == nullptr ? std::nullopt : std::optional<std::size_t>(scan->read.outputs.at(position));
}

/// Returns the plan with a scan that gives the first rows only; it ends in a MemoryScan of the column.
PhysicalPlan with_first_rows(const PhysicalPlan& plan, const MemoryScan::First& first) {
  PhysicalNode node = *plan;
  if (auto* project = std::get_if<PhysicalProject>(&node.node)) project->input = with_first_rows(project->input, first);
  else std::get<MemoryScan>(node.node).first = first;
  return std::make_shared<const PhysicalNode>(std::move(node));
}

/// Leaves rows to the scan below a sort that keeps only a few of them.
void push_down_first_rows(PhysicalSort& sort) {
  if (!sort.goal.limit || sort.goal.open || sort.presorted > 0 || sort.keys.empty()) return;
  const SortKey& key = sort.keys[0];
  const auto* column = std::get_if<sql::ColumnRef>(&key.expression->node);
  if (column == nullptr || !is_packed_integer(key.expression->type.oid)) return;
  if (const auto position = scanned_column(*sort.input, column->column)) {
    sort.input = with_first_rows(sort.input, {*position, key.descending, key.nulls_first, sort.goal});
  }
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
    PhysicalPlan made = std::visit([&](const auto& n) { return scan_of_copy(plan, n); }, plan->node);
    if (!made) made = over_replaced_inputs(plan);
    return known_[plan] = std::move(made);
  }

 private:
  /// Null: a copy does not give the node's rows.
  template <class Node>
  PhysicalPlan scan_of_copy(const PhysicalPlan& plan, const Node& node) const {
    if constexpr (Node::kTraits.reads == Reads::kRows || std::same_as<Node, MappedScan>) {
      // The lookups of a subquery run for several rows at the same time.
      if (is_in_subquery_ && reads_a_part(node)) return nullptr;
      if (is_replaceable(node)) return std::make_shared<const PhysicalNode>(MemoryScan{node.read, plan, is_fallback_ || reads_a_part(node)}, plan->columns);
    }
    return nullptr;
  }

  PhysicalPlan over_replaced_inputs(const PhysicalPlan& plan) {
    PhysicalNode node = *plan;
    bool is_changed = false;
    const auto replace_one = [&](PhysicalPlan& part) {
      PhysicalPlan made = of(part);
      is_changed = is_changed || made != part;
      part = std::move(made);
    };
    const auto replace = [&]<class Plans>(Plans& plans) {
      if constexpr (std::same_as<Plans, PhysicalPlan>) replace_one(plans);
      else std::ranges::for_each(plans, replace_one);
    };
    const auto* apply = std::get_if<PhysicalApply>(&plan->node);
    std::visit(
        [&](auto& n) {
          if (apply != nullptr && !apply->correlations.empty()) return;
          for_each_part<Input>(n, replace);
          for_each_part<Form>(n, replace);
          // Where a copy is read faster than many values are counted.
          using Node = std::decay_t<decltype(n)>;
          bool counts_all_values = false;
          if constexpr (std::same_as<Node, IndexValues>) counts_all_values = n.values.empty();
          else if constexpr (std::same_as<Node, IndexGroups>) counts_all_values = n.among.empty();
          if constexpr (std::same_as<Node, IndexValues> || std::same_as<Node, IndexGroups>) {
            const bool was_fallback = is_fallback_;
            is_fallback_ = true;
            if (counts_all_values) replace(n.fallback);
            is_fallback_ = was_fallback;
          }
        },
        node.node);
    if (auto* copy = std::get_if<PhysicalApply>(&node.node); copy != nullptr && !copy->correlations.empty()) {
      replace_one(copy->input);
      Replacement of_subquery;
      of_subquery.is_in_subquery_ = true;
      PhysicalPlan subquery = of_subquery.of(copy->subquery);
      is_changed = is_changed || subquery != copy->subquery;
      copy->subquery = std::move(subquery);
    }
    if (!is_changed) return plan;
    if (auto* sort = std::get_if<PhysicalSort>(&node.node)) push_down_first_rows(*sort);
    return std::make_shared<const PhysicalNode>(std::move(node));
  }

  std::map<PhysicalPlan, PhysicalPlan> known_;
  bool is_in_subquery_ = false;  // one that runs for each outer row
  bool is_fallback_ = false;  // the scan is another way for an answer from an index: no copy is filled for it
};

}  // namespace

PhysicalPlan with_memory_scans(const PhysicalPlan& plan) { return writes_or_locks(*plan) ? plan : Replacement().of(plan); }

}  // namespace redquel::planner
