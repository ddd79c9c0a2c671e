#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/bind/bind_state.h"
#include "planner/tree/logical_plan.h"

namespace redquel::planner {

struct Requirement;
struct WithItem;

/// The clause that contains an expression: decides whether aggregates, subqueries, columns … may be in it.
enum class Clause : std::uint8_t {
  kNone,
  kSelectList,
  kWhere,
  kHaving,
  kGroupBy,
  kOrderBy,
  kDistinctOn,
  kLimit,
  kOffset,
  kJoinOn,
  kFromSubquery,
  kFromFunction,
  kFilter,
  kValues,
  kInsertValues,  // the only row of INSERT … VALUES: a select list without FROM
  kUpdateSource,
  kReturning,
  kCheck,
  kDefault,
  kWindowPartition,
  kWindowOrder,
  kFrameRows,
  kFrameRange,
  kFrameGroups,
  kGenerated,
  kMergeWhen,
  kIndexExpression,
  kIndexPredicate,
  kPolicy,
  kTriggerWhen,
};
/// Returns the clause's name in messages: "ORDER BY", "JOIN/ON".
std::string_view clause_name(Clause);
/// Returns the clause's name in messages about constructs that are not allowed there: "ORDER BY", "JOIN conditions".
std::string_view clause_place(Clause);

/// A name that a FROM item offers, and what it stands for (a merged column of a FULL JOIN is a COALESCE).
struct RelationColumn {
  std::string name;
  sql::ExpressionPtr value;
  Requirement* requirement = nullptr;  // of the relation whose column it is; null: none is needed
  std::int16_t attribute = 0;          // its number there
};

/// The names that one FROM item offers.
struct Relation {
  std::string name;  // alias, else the table's own
  bool aliased = false;
  bool is_join = false;
  std::shared_ptr<const sql::TableDef> table;  // null: not a table; else `columns` is parallel to its columns
  std::shared_ptr<const sql::ViewDef> view;    // null: not a view; else `columns` is parallel to its columns
  std::string system_schema, system_name;      // of a system table
  std::vector<RelationColumn> columns;
  sql::ExpressionPtr row_number;  // the hidden key of a table's rows (int8), from which ctid is made; null: there is none
  Requirement* requirement = nullptr;  // SELECT on it; null: it is no relation of the catalog, or everybody may read it
  std::vector<RelationColumn> hidden;  // names that are found, but that * does not show
  bool is_scalar = false;  // one function that returns a scalar: the name alone means the one column, not a row
};
using RelationPtr = std::shared_ptr<const Relation>;

/// A relation as far as names see it at this moment.
struct NamespaceItem {
  RelationPtr relation;
  bool by_name = true;        // t.a finds it
  bool by_column = true;      // a finds it, * expands it
  bool lateral_only = false;  // an item to the left: seen by LATERAL only,
  bool lateral_ok = true;     // and that only if the join between is INNER or LEFT
  bool is_target = false;     // what UPDATE, DELETE or MERGE writes to: FROM may not look at it sideways
  bool null_extended = false;  // of the side of an outer join that may have no row
};
using Namespace = std::vector<NamespaceItem>;

/// A value of an outer level that a subquery needs, and the parameter slot that carries it.
struct Correlation {
  std::uint32_t slot;
  sql::ExpressionPtr value;  // over the outer level's columns
};
using CorrelationFrame = std::vector<Correlation>;
/// The slot's reference that stands for `value` inside the subquery; equal values share a slot.
sql::ExpressionPtr correlate(BindState&, CorrelationFrame&, const sql::ExpressionPtr& value);

/// A subquery inside an expression whose LogicalApply has no place in the plan yet. The expression refers to its value as the column
/// `column`. Call `place_subqueries` before putting the expression into a node.
struct PendingSubquery {
  ColumnId column = 0;
  std::string name;
  sql::Type type;
  LogicalApply::Kind kind = LogicalApply::Kind::kScalar;
  LogicalPtr plan;
  sql::ExpressionPtr comparison;
  bool all = false;
  CorrelationFrame correlations;
};

/// An aggregate call whose LogicalAggregate has no place yet; expressions refer to it as `column`.
struct PendingAggregate {
  ColumnId column = 0;
  sql::Type type;
  AggregateCall call;
  std::vector<sql::ExpressionPtr> direct;  // arguments before WITHIN GROUP: they may use grouped columns only
  std::optional<std::uint32_t> offset;
};

/// grouping(…): which of its arguments the row's grouping set leaves out. Expressions refer to it as `column`.
struct PendingGrouping {
  ColumnId column = 0;
  std::vector<sql::ExpressionPtr> arguments;
};

/// A window of the WINDOW clause or of an OVER clause; only `written` is known until all other clauses are bound.
struct PendingWindow {
  const parser::ast::WindowDefinition* written = nullptr;
  std::vector<sql::ExpressionPtr> partition_by;
  std::vector<SortKey> order_by;
  WindowFrame frame;
};

/// A call with OVER whose LogicalWindow has no place yet; expressions refer to it as `column`.
struct PendingWindowCall {
  ColumnId column = 0;
  std::string name;
  sql::Type type;
  WindowCall call;         // its frame is that of
  std::size_t window = 0;  // in QueryLevel::windows
};

/// A locking clause as it reaches a query: its own, or one around it that locks everything in here.
struct RowLocking {
  std::string relation;  // OF this item of FROM; empty: all of them
  RowLock lock;
};

/// One SELECT (or INSERT, UPDATE, DELETE) while it is bound: its names and what its expressions leave to be placed.
struct QueryLevel {
  QueryLevel* outer = nullptr;
  WithItem* with = nullptr;  // the innermost visible WITH query

  Namespace names;
  std::vector<RelationPtr> range_table;  // every relation ever made here, for hints
  std::vector<RowLocking> locking;  // known before FROM is bound
  std::vector<LogicalLockRows::Mark> lock_marks;
  bool passes_locks = false;  // the rows are locked by the query around this one
  std::vector<std::pair<std::string, const char*>> unlockable;  // items of FROM without rows of a table: "a function"
  bool lateral_active = false;
  bool reads_recursion = false;  // FROM has the WITH query whose recursive term this is

  Clause clause = Clause::kNone;
  bool inside_aggregate = false;
  bool inside_window = false;  // among the arguments of a call with OVER
  const char* conditional = nullptr;  // "CASE" or "COALESCE": a set-returning function cannot be in it

  std::vector<CorrelationFrame*> frames;  // of the subqueries of this level that are being bound, innermost last
  std::vector<PendingSubquery> subqueries;
  std::vector<PendingAggregate> aggregates;
  std::vector<PendingGrouping> groupings;
  std::vector<PendingWindow> windows;
  std::vector<PendingWindowCall> window_calls;
  /// Pending subqueries of set-returning calls, one per depth of nesting: the calls of a depth run side by side.
  std::vector<std::size_t> set_returning;

  /// Returns the subquery that computes the column.
  const PendingSubquery* find_subquery(ColumnId) const;
  PendingSubquery* find_subquery(ColumnId column) { return const_cast<PendingSubquery*>(std::as_const(*this).find_subquery(column)); }
  const PendingAggregate* find_aggregate(ColumnId) const;
  bool is_grouping(ColumnId) const;
  bool is_window_call(ColumnId) const;
};

/// Sets a member for the length of a block.
template <class T>
class Scoped {
 public:
  Scoped(T& member, T value) : member_(member), previous_(std::exchange(member, std::move(value))) {}
  ~Scoped() { member_ = std::move(previous_); }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 private:
  T& member_;
  T previous_;
};

/// While it lives, subqueries of `level` put the outer columns that they use into `frame`.
class CorrelationScope {
 public:
  CorrelationScope(QueryLevel& level, CorrelationFrame& frame) : level_(level) { level_.frames.push_back(&frame); }
  ~CorrelationScope() { level_.frames.pop_back(); }
  CorrelationScope(const CorrelationScope&) = delete;
  CorrelationScope& operator=(const CorrelationScope&) = delete;

 private:
  QueryLevel& level_;
};

}  // namespace redquel::planner
