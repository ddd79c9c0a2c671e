#pragma once

#include <set>
#include <vector>

#include "planner/access/index_condition.h"
#include "planner/tree/access_rules.h"
#include "planner/tree/kept_rows.h"
#include "planner/tree/physical_plan.h"
#include "sql/session_settings.h"

namespace redquel::planner {

class Cardinality;

/// The wishes of the nodes above: an order, and how many rows they will read. Granting them is optional.
struct Wish {
  std::vector<SortKey> order;
  RowGoal goal;
  /// The only columns that will be read; nullopt: all of them. A plan may leave out the others.
  std::optional<std::set<ColumnId>> needed = {};
  /// About so many rows in the order will be asked for first, and more as long as nodes above leave rows out. The caller has another plan: it
  /// takes this one only if it is a walk in the order.
  RowGoal window = {};
};

/// The rows of a walk that nodes above its scan leave out, or that its scan does.
struct Walk {
  LogicalPtr counted = {};   // a filtered scan: as many rows as it has pass, of
  double counted_rows = 0;   // so many; 0: it is not known
  double rows_for_each = 0;  // Choice::rows_for_each
  bool is_cut = false;       // Choice::is_cut
};

/// A physical plan, the ids of its columns, and how much of the wish it grants.
struct Planned {
  PhysicalPlan plan;
  std::vector<ColumnId> ids;  // parallel to plan->columns
  std::size_t ordered = 0;    // so many leading sort keys hold
  bool ordered_by_form = false;  // … the last of them only by the key's ordered form (PhysicalSort::presorted_by_form)
  bool limited = false;       // limit and offset are done
  std::optional<Walk> walk = {};  // the order is that of a walk that may be long; the node that sorts has another plan beside it
};

/// Chooses for each logical node how it runs; for a table, which keys of Redis are asked.
class PhysicalPlanner {
 public:
  /// `changed_tables`: see `plan`.
  /// `first_slot`: the first parameter slot that is free for the planner.
  /// `catalog`: where tables are found that the plan may read beside those of the statement; null: it reads no others.
  PhysicalPlanner(const sql::SessionSettings& settings, const std::set<sql::Oid>& changed_tables, std::uint32_t first_slot = 0,
                  const sql::CatalogSnapshot* catalog = nullptr, const LeftOutRules& left_out = {})
      : settings_(settings), changed_tables_(changed_tables), catalog_(catalog), rules_(left_out), next_slot_(first_slot) {}

  /// The plan of a whole statement: columns exactly those of the logical plan.
  PhysicalPlan plan_statement(const LogicalPtr& plan);
  /// The number of parameter slots that the plan has.
  std::uint32_t slot_count() const { return next_slot_; }

 private:
  Planned plan(const LogicalPtr& node, const Wish& wish = {});
  Planned plan_node(const Logical&, const LogicalScan&, const Wish&);
  Planned plan_node(const Logical&, const LogicalFunctionScan&, const Wish&);
  Planned plan_node(const Logical&, const LogicalSystemScan&, const Wish&);
  Planned plan_node(const Logical&, const LogicalValues&, const Wish&);
  Planned plan_node(const Logical&, const LogicalFilter&, const Wish&);
  Planned plan_node(const Logical&, const LogicalProject&, const Wish&);
  Planned plan_node(const Logical&, const LogicalJoin&, const Wish&);
  Planned plan_node(const Logical&, const LogicalApply&, const Wish&);
  Planned plan_node(const Logical&, const LogicalAggregate&, const Wish&);
  Planned plan_node(const Logical&, const LogicalWindow&, const Wish&);
  Planned plan_node(const Logical&, const LogicalSort&, const Wish&);
  Planned plan_node(const Logical&, const LogicalLockRows&, const Wish&);
  Planned plan_node(const Logical&, const LogicalLimit&, const Wish&);
  Planned plan_node(const Logical&, const LogicalDistinct&, const Wish&);
  Planned plan_node(const Logical&, const LogicalSetOperation&, const Wish&);
  Planned plan_node(const Logical&, const LogicalShare&, const Wish&);
  Planned plan_node(const Logical&, const LogicalSharedScan&, const Wish&);
  Planned plan_node(const Logical&, const LogicalRecursiveUnion&, const Wish&);
  Planned plan_node(const Logical&, const LogicalInsert&, const Wish&);
  Planned plan_node(const Logical&, const LogicalUpdate&, const Wish&);
  Planned plan_node(const Logical&, const LogicalDelete&, const Wish&);
  Planned plan_node(const Logical&, const LogicalMerge&, const Wish&);

  /// The best way to the rows of one table that satisfy all conditions (access_path.cc).
  Planned plan_access(const std::vector<LogicalColumn>& columns, const LogicalScan&, const std::vector<sql::ExpressionPtr>& conditions,
                      const Wish&);
  /// Returns the ways to the rows of a table with parts: those of its parts, gathered (gather.cc).
  Planned plan_parts(const std::vector<LogicalColumn>& columns, const LogicalScan&, const std::vector<sql::ExpressionPtr>& conditions, const Wish&);
  /// Returns the lookup of rows of such a table by unique values that lie by value (access_path.cc); nullopt: the conditions fix none.
  std::optional<Planned> plan_value_elsewhere(const std::vector<LogicalColumn>& columns, const LogicalScan&, const std::vector<sql::ExpressionPtr>& conditions,
                                              const Wish&);
  Planned plan_part(const std::vector<LogicalColumn>& columns, const LogicalScan&, const std::shared_ptr<const sql::TableDef>& part,
                    const std::vector<sql::ExpressionPtr>& conditions, const Wish&);
  /// An answer from the indexes of a table with parts, put together from those of its parts.
  std::optional<Planned> plan_aggregate_of_parts(const Logical&, const LogicalAggregate&);
  std::optional<Planned> plan_distinct_of_parts(const Logical&, const LogicalDistinct&);
  /// Returns the join of tables in several buckets whose matching rows lie in parts with one number, as the joins of these parts. `whole`: the plan of
  /// all rows of both sides. nullopt: the joins of parts read as much.
  std::optional<Planned> plan_join_of_parts(const Logical&, const LogicalJoin&, const Wish&, const PhysicalNode& whole);
  /// A join whose inputs have the rows of all buckets.
  Planned plan_whole_join(const Logical&, const LogicalJoin&, const Wish&);
  /// Lookups for so few rows as an input surely has, lookups if they turn out to be few, or lookups for a window of outer rows in an order.
  enum class LookupChoice { kFew, kAdaptive, kWindow };
  /// A lookup join where the inner side is a table with a key or set for the join's equalities; `from` and `whole` are all of the outer
  /// and of the inner side.
  std::optional<Planned> plan_lookup_join(const LogicalJoin& join, const LogicalPtr& outer, const Planned& from, const LogicalPtr& inner,
                                          const Planned& whole, const Cardinality& cardinality, LookupChoice choice);
  /// A semi-join as an inner join of the right side's distinct keys with the rows of the left table that have them.
  std::optional<Planned> plan_semi_join_reduction(const LogicalJoin& join, const Planned& left, const Planned& right, LookupChoice choice);
  Planned plan_hash_join(const LogicalJoin& join, Planned left, Planned right);
  /// A join over a join, both with sets of one index over a part of the key, as one with what Redis combines (part_sets.h): books that have
  /// two tags, as a join of `book` with an intersection. nullopt: there are no such sets.
  std::optional<Planned> plan_join_with_parts(const LogicalJoin& join, const Wish&);
  /// Returns true if a subquery may be asked for more than one row of this plan. False for a plan that writes.
  bool runs_often(const LogicalPtr& outer);
  Planned plan_apply(const Logical&, const LogicalApply&, const Wish&);
  /// An Apply over these rows.
  Planned plan_apply_over(const Logical&, const LogicalApply&, Planned input, const Wish& of_subquery);
  /// The subquery of an EXISTS: a count that an index answers, or its first row.
  Planned plan_existence(const LogicalPtr& subquery);

  /// The plan that a rule gives, if it may be tried here.
  template <class Rule>
  std::optional<Planned> tried(AccessRule rule, const Rule& plan_by_rule) {
    return rules_.allow(rule) ? plan_by_rule() : std::nullopt;
  }

  // Order and LIMIT through joins and subqueries, in windows of outer rows (plan_in_order.cc).

  /// The rows in the order of the keys, no more than the wish says; with a window the walk in this order; nullopt: there is no such walk.
  std::optional<Planned> plan_in_order(const LogicalPtr& rows, const std::vector<SortKey>& keys, const Wish& wish);
  /// The few rows that an index finds, sorted and given in windows; nullopt: there are more.
  std::optional<Planned> plan_sorted_outer(const LogicalPtr& rows, const std::vector<SortKey>& keys, const Wish& wish);
  /// Lookups and subqueries over such rows; nullopt: there are none.
  std::optional<Planned> plan_over_sorted(const LogicalSort& sort, const Wish& below);
  /// A join that keeps the order of its outer rows, which are looked up in windows.
  std::optional<Planned> plan_join_in_order(const Logical&, const LogicalJoin&, const Wish&);
  /// A semi- or anti-join as a filter over subqueries that run for a window of rows.
  std::optional<Planned> plan_existence_join(const LogicalJoin&, const Planned& outer);
  /// Subqueries of the wanted rows only.
  std::optional<Planned> plan_apply_in_order(const Logical&, const LogicalApply&, const Wish&);
  /// Groups in the order of their keys, each complete when the next begins.
  std::optional<Planned> plan_groups_in_order(const Logical&, const LogicalAggregate&, const Wish&);
  /// Joins the rows of a table with the keys that the sort key refers to as a foreign key: these come in order where no index has that of the rows.
  /// Null: it is no such key.
  LogicalPtr with_referenced_rows(const LogicalPtr& rows, const SortKey& key);
  /// A subquery that aggregates the few rows of each outer one, as a left join with these rows and groups; nullopt: it is another subquery.
  std::optional<Planned> plan_grouped_lookups(const Logical&, const LogicalApply&, const Planned& outer);
  /// A scalar subquery of limited rows: such groups, or the subquery for each row.
  Planned plan_scalar_of_few(const Logical&, const LogicalApply&);
  /// The aggregate over these rows.
  Planned plan_aggregate_over(const Logical&, const LogicalAggregate&, Planned input);
  /// A walk in the order of the keys, where the plan of a scan reads a range of another column or has no index for the order; nullopt: there is none.
  std::optional<Planned> plan_walk_beside(const LogicalSort& sort, const Wish& below, const Planned& planned);
  /// The rows of a walk in the order of the keys, or those of the plan without it, sorted: whichever is shorter when it runs.
  Planned plan_choice(const LogicalSort& sort, const Wish& below, Planned walk);
  /// A count of the rows by an index; null: no index knows it.
  PhysicalPlan plan_count(const LogicalPtr& rows);
  /// The same, or a count of the rows that satisfy one of the conditions.
  PhysicalPlan plan_count_of_one(const LogicalPtr& rows);
  /// A correlated EXISTS or aggregate as a join with all its answers (plan_subqueries.cc).
  std::optional<Planned> plan_decorrelated(const Logical&, const LogicalApply&, const Wish&);
  /// Outer rows that are computed once, and which of the subquery's `rows` they look up all together (by `conditions` between them), where
  /// these are rows of a table, and the outer ones more than a few.
  struct KeptInput {
    std::uint32_t number;
    LogicalPtr outer, rows;
  };
  std::optional<KeptInput> keep_outer_rows(const LogicalApply& apply, const LogicalPtr& rows, const std::vector<sql::ExpressionPtr>& conditions);
  /// Returns true if an index gives these groups or distinct values.
  bool is_index_group(const Logical& rows);
  /// A correlated subquery over tables that are read once for all outer rows.
  std::optional<Planned> plan_over_kept_rows(const Logical&, const LogicalApply&, const Wish&);
  /// Answers from cardinalities (index_aggregate.cc).
  std::optional<Planned> plan_index_aggregate(const Logical&, const LogicalAggregate&);
  /// An aggregate over the rows of a subquery that runs for one row, if an index answers it: the subquery aggregates.
  std::optional<Planned> plan_aggregate_of_lateral(const Logical&, const LogicalAggregate&);
  /// min or max of one column, with conditions or of a mapped table, as the first row in its order.
  std::optional<Planned> plan_end_of_order(const Logical&, const LogicalAggregate&);
  /// Several of a mapped table.
  std::optional<Planned> plan_ends_of_orders(const Logical&, const LogicalAggregate&);
  /// count(*) of a zset of a mapped table (mapped_count.cc).
  std::optional<Planned> plan_mapped_count(const Logical&, const LogicalAggregate&);
  /// The ranks of the few rows that a condition above the window names (index_ranks.cc); nullopt: there are none such.
  std::optional<Planned> plan_index_ranks(const LogicalPtr& window, const sql::ExpressionPtr& condition, const std::optional<std::set<ColumnId>>& needed);
  std::optional<Planned> plan_index_distinct(const Logical&, const LogicalDistinct&);
  /// count(*) and count(DISTINCT column) of rows that are members of sets: the input without what need not be read.
  void count_sets(const LogicalAggregate&, Planned& input, PhysicalAggregate&);
  /// HAVING count(*) = n, of groups with n values of an index (part_sets.h) or members of n sets (member_sets.h).
  std::optional<Planned> plan_groups_with_all_values(const LogicalFilter&);

  const sql::SessionSettings& settings_;
  const std::set<sql::Oid>& changed_tables_;
  const sql::CatalogSnapshot* const catalog_;
  RuleChoices rules_;
  bool index_answers_ = true;  // false while a fallback is planned
  bool walks_ = true;          // false while the other plan of a Choice is planned
  bool sorts_outer_ = false;   // true while a plan over sorted rows is planned
  std::uint32_t next_slot_;
  std::uint32_t next_share_ = kFirstKeptRows;
  ColumnId next_column_ = kFirstKeptRows;  // of columns that only the planner knows
};

/// One table, what is asked of it, and what the columns above it mean: a tree of projections and filters over a scan, folded.
struct ScanPattern {
  const LogicalScan* scan = nullptr;
  const std::vector<LogicalColumn>* columns = nullptr;  // of the scan
  std::vector<sql::ExpressionPtr> conditions;           // over the scan's columns
  std::vector<sql::ExpressionPtr> outputs;              // the top node's columns over the scan's
  bool barrier = false;                                 // rows that conditions leave out are hidden from those above
};
std::optional<ScanPattern> match_scan(const LogicalPtr&);

// ---- shared by the planner's files ------------------------------------------------------------------------------------------

PhysicalPlan make_physical(PhysicalNode::Node node, std::vector<PhysicalColumn> columns);
std::vector<PhysicalColumn> physical_columns(const std::vector<LogicalColumn>& columns);
std::vector<ColumnId> column_ids(const std::vector<LogicalColumn>& columns);
/// Column ids become positions in `ids`.
sql::ExpressionPtr resolve(const sql::ExpressionPtr&, const std::vector<ColumnId>& ids);
std::size_t position_of(ColumnId, const std::vector<ColumnId>& ids);
/// The columns of its input that the aggregate reads.
std::set<ColumnId> columns_read(const LogicalAggregate& aggregate);
/// Returns true if a LIMIT leaves so few rows that a lookup for each of them is worth it.
bool is_limited(const Logical& node);
/// Returns true if the plan reads all rows of a table.
bool reads_whole_table(const PhysicalNode& plan);
/// Returns true if the node gives exactly one row.
bool is_one_row(const Logical& node);
/// Returns true if the plan's table is read in an order that lets it stop after the first rows.
bool reads_first_rows(const PhysicalNode& node);
/// Returns true if the rows are those of a walk along an index in the wanted order, read in windows.
bool is_walk(const PhysicalNode& node);
/// Returns how many leading keys of the wanted order the given order has.
std::size_t granted(const std::vector<SortKey>& wanted, const std::vector<SortKey>& given);
/// `input` sorted by keys over its columns, by what it lacks of their order.
Planned sorted(Planned input, const std::vector<SortKey>& keys, const RowGoal& goal);
/// `input` with its columns picked and ordered as `wanted`.
Planned arrange(Planned input, const std::vector<LogicalColumn>& wanted);
ColumnNumber number_of(const LogicalScan&, const std::vector<LogicalColumn>& columns);
/// A lookup that finds so few rows for an outer one may read them all where the first would do.
constexpr double kFewOfRow = 20;
/// Returns true if the call is an `=` whose equal values fall into one group, as hash joins need it. Boxes with equal
/// areas do not.
bool is_equality_of_groups(const sql::FunctionCall&);

}  // namespace redquel::planner
