#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "planner/tree/node_parts.h"
#include "planner/tree/window.h"
#include "sql/catalog/catalog.h"
#include "sql/expressions/expression.h"
#include "sql/functions/function.h"
#include "sql/relation_sizes.h"

namespace redquel::planner {

/// Names one column of one relation of the query, everywhere in its logical plan: unlike a position it survives rewriting.
using ColumnId = std::uint32_t;

struct Logical;
/// Immutable; rules build new trees that share what did not change.
using LogicalPtr = std::shared_ptr<const Logical>;

/// A column of a node's output, in order.
struct LogicalColumn {
  ColumnId id;
  std::string name;
  sql::Type type;
  bool nullable = true;
  sql::Oid table = 0;          // of a base table's column that is passed through unchanged
  std::int16_t attribute = 0;
};

/// What indexes tell exactly of a table.
struct TableSize {
  double rows = 0;
  std::map<std::int16_t, double> values;  // how many different ones there are, by the number of a column that has an index of its own
};

struct LogicalScan {
  std::shared_ptr<const sql::TableDef> table;
  std::string alias;
  /// Parallel to `Logical::columns`: which table column each is. Number 0 is the hidden row key.
  std::vector<std::int16_t> numbers;
  double table_rows = 0;  // the table's rows a while ago; 0: not known
  std::shared_ptr<const TableSize> size = {};  // the table's size then; null: not known
  static constexpr std::tuple kParts{OfTable{&LogicalScan::table}};
};
struct TableFunctionCall {
  const sql::TableFunction* function = nullptr;  // null: the one argument is a value, and that is the only row
  std::vector<sql::ExpressionPtr> arguments;
  std::vector<sql::ResultColumn> columns = {};  // of a function that gives records
  static constexpr std::tuple kParts{Expressions{&TableFunctionCall::arguments}};
};
/// Functions in FROM or in a select list, side by side: where one ends before the others, its columns are NULL. Columns: theirs, then
/// the ordinality.
struct LogicalFunctionScan {
  std::vector<TableFunctionCall> calls;
  std::string alias;
  bool with_ordinality = false;
  static constexpr std::tuple kParts{Expressions{&LogicalFunctionScan::calls}};
};
/// Rows of a system table (pg_catalog, information_schema) computed from the catalog snapshot.
struct LogicalSystemScan {
  std::string schema, name;
  std::vector<std::size_t> positions;  // which columns of the system table, parallel to `Logical::columns`
  static constexpr std::tuple kParts{};
};
struct LogicalValues {
  std::vector<std::vector<sql::ExpressionPtr>> rows;  // one row of no columns: SELECT without FROM
  static constexpr std::tuple kParts{Expressions{&LogicalValues::rows}};
};
struct LogicalFilter {
  LogicalPtr input;
  sql::ExpressionPtr condition;
  /// The rows that are left out are hidden: conditions from above see them only if they are leakproof. Of policies and security_barrier
  /// views.
  bool barrier = false;
  static constexpr std::tuple kParts{Input{&LogicalFilter::input}, Expressions{&LogicalFilter::condition}};
};
struct LogicalProject {
  LogicalPtr input;
  std::vector<sql::ExpressionPtr> expressions;  // parallel to `Logical::columns`
  static constexpr std::tuple kParts{Input{&LogicalProject::input}, Expressions{&LogicalProject::expressions}};
};
enum class JoinKind : std::uint8_t { kInner, kLeft, kRight, kFull, kSemi, kAnti };
struct LogicalJoin {
  JoinKind kind;
  LogicalPtr left, right;
  sql::ExpressionPtr condition;  // null: none (cross join)
  static constexpr std::tuple kParts{Input{&LogicalJoin::left}, Input{&LogicalJoin::right}, Expressions{&LogicalJoin::condition}};
};
/// Runs `subquery` for each row of `input` (once where it needs nothing of it); its parameter slots take the input's columns.
struct LogicalApply {
  enum class Kind : std::uint8_t {
    kScalar,  // one column more: the subquery's value; more than one row is 21000
    kExists,  // one boolean column more
    kIn,      // one boolean column more: test = ANY (subquery), three-valued; `comparison` over (test columns, subquery column)
    kLateral, // the subquery's columns, joined (kInner or kLeft)
  };
  Kind kind;
  LogicalPtr input, subquery;
  JoinKind join = JoinKind::kInner;
  sql::ExpressionPtr comparison;  // kIn: over input columns and the subquery's columns; ANY: true if one row is true
  bool all = false;               // kIn: op ALL instead of op ANY
  struct Correlation {
    std::uint32_t slot;           // parameter slot that the subquery reads
    ColumnId column;              // column of the input that fills it
  };
  std::vector<Correlation> correlations;
  static constexpr std::tuple kParts{Input{&LogicalApply::input}, Input{&LogicalApply::subquery}, Expressions{&LogicalApply::comparison}};
};
struct AggregateCall {
  const sql::AggregateFunction* function;
  std::vector<sql::ExpressionPtr> arguments;
  bool distinct = false;
  sql::ExpressionPtr filter;  // null: none
  struct Order {
    sql::ExpressionPtr expression;
    bool descending, nulls_first;
    static constexpr std::tuple kParts{Expressions{&Order::expression}};
  };
  std::vector<Order> order_by;
  static constexpr std::tuple kParts{Expressions{&AggregateCall::arguments}, Expressions{&AggregateCall::filter}, Expressions{&AggregateCall::order_by}};
};
/// Columns: the group keys, then the calls.
struct LogicalAggregate {
  LogicalPtr input;
  std::vector<sql::ExpressionPtr> group_by;
  std::vector<AggregateCall> calls;
  bool scalar = false;  // no GROUP BY: exactly one row, also over no rows
  static constexpr std::tuple kParts{Input{&LogicalAggregate::input}, Expressions{&LogicalAggregate::group_by}, Expressions{&LogicalAggregate::calls}};
};
struct SortKey {
  sql::ExpressionPtr expression;
  bool descending = false, nulls_first = false;
  static constexpr std::tuple kParts{Expressions{&SortKey::expression}};
};
struct LogicalSort {
  LogicalPtr input;
  std::vector<SortKey> keys;
  static constexpr std::tuple kParts{Input{&LogicalSort::input}, Expressions{&LogicalSort::keys}};
};
/// Window functions over rows that come sorted by `partition_by`, then `order_by`. Columns: the input's, then the calls'.
struct LogicalWindow {
  LogicalPtr input;
  std::vector<sql::ExpressionPtr> partition_by;  // columns of the input, like the keys of
  std::vector<SortKey> order_by;
  std::vector<WindowCall> functions;
  static constexpr std::tuple kParts{Input{&LogicalWindow::input}, ColumnKeys{&LogicalWindow::partition_by}, ColumnKeys{&LogicalWindow::order_by}, Expressions{&LogicalWindow::functions}};
};
/// The lock of a locking clause on the rows of a table: FOR UPDATE and its weaker relatives.
struct RowLock {
  enum class Strength : std::uint8_t { kKeyShare = 1, kShare, kNoKeyUpdate, kUpdate } strength = Strength::kUpdate;
  enum class Wait : std::uint8_t { kBlock, kSkipLocked, kNoWait } wait = Wait::kBlock;
};
/// "FOR NO KEY UPDATE" and so on.
std::string_view lock_clause(RowLock::Strength);
/// Locks, for each row of the input, the rows of the tables that it was made of. Columns: the input's.
struct LogicalLockRows {
  LogicalPtr input;
  struct Mark {
    std::shared_ptr<const sql::TableDef> table;
    std::string alias;
    RowLock lock;
    std::vector<LogicalColumn> row;  // of the input: the table's columns whose values the query relies on, its key among them
  };
  std::vector<Mark> marks;
  LogicalPtr bound = {};  // the input before the rules (keep_sources)
  static constexpr std::tuple kParts{Input{&LogicalLockRows::input}};
};
struct LogicalLimit {
  LogicalPtr input;
  sql::ExpressionPtr limit, offset;  // int8 expressions without columns; null: none
  bool with_ties = false;
  static constexpr std::tuple kParts{Input{&LogicalLimit::input}, Expressions{&LogicalLimit::limit}, Expressions{&LogicalLimit::offset}};
};
/// DISTINCT; with `on` DISTINCT ON (input sorted accordingly by the binder).
struct LogicalDistinct {
  LogicalPtr input;
  std::vector<sql::ExpressionPtr> on;  // empty: all columns
  static constexpr std::tuple kParts{Input{&LogicalDistinct::input}, Expressions{&LogicalDistinct::on}};
};
struct LogicalSetOperation {
  enum class Kind : std::uint8_t { kUnion, kIntersect, kExcept };
  Kind kind;
  bool all;
  LogicalPtr left, right;  // same number and types of columns
  static constexpr std::tuple kParts{Input{&LogicalSetOperation::left}, Input{&LogicalSetOperation::right}};
};

/// Computes `source` once, as far as it is asked for; every LogicalSharedScan of this number in `input` reads it. Columns: the input's.
struct LogicalShare {
  LogicalPtr input, source;
  std::uint32_t number = 0;
  std::string name;  // for EXPLAIN: "CTE t"
  static constexpr std::tuple kParts{Input{&LogicalShare::input}, Input{&LogicalShare::source}};
};
struct LogicalSharedScan {
  std::uint32_t number = 0;
  std::string name;
  std::vector<std::size_t> positions;  // columns of the source, parallel to `Logical::columns`
  static constexpr std::tuple kParts{};
};
/// WITH RECURSIVE: the rows of `left`, then those that `right` makes of the rows before, which it reads as the LogicalSharedScan of
/// this number; until there are none.
struct LogicalRecursiveUnion {
  LogicalPtr left, right;
  std::uint32_t number = 0;
  bool all = false;  // UNION ALL: rows that were there before come again
  static constexpr std::tuple kParts{Input{&LogicalRecursiveUnion::left}, Input{&LogicalRecursiveUnion::right}};
};

/// The source of a target column's value in INSERT.
struct InsertColumn {
  std::int16_t number;
  /// Over the source's columns, in the column's type (assignment cast applied). Null: from `sequence`.
  sql::ExpressionPtr value;
  sql::Oid sequence = 0;
  static constexpr std::tuple kParts{Expressions{&InsertColumn::value}};
};
struct BoundCheck {
  std::string name;
  sql::ExpressionPtr condition;  // over the new row: column ids are those of `new_row`
  std::string view = {};         // not empty: WITH CHECK OPTION of this view; NULL is no then
  static constexpr std::tuple kParts{Expressions{&BoundCheck::condition}};
};
/// A condition of row level security, or of a view that is written to. A row violates it if it is false or NULL.
struct PolicyCheck {
  enum class Row : std::uint8_t {
    kNew,       // the row as it is to be written; over the new row and the source's columns
    kConflict,  // the row that ON CONFLICT DO UPDATE has met; over the source's columns
    kTarget,    // the row that MERGE updates or deletes; over the source's columns
  } row = Row::kNew;
  std::string policy;  // a restrictive one; empty: no permissive policy allows the row
  sql::ExpressionPtr condition;
  std::string view = {};  // the view whose WHERE hides the row; empty: a policy
  static constexpr std::tuple kParts{Expressions{&PolicyCheck::condition}};
};
struct Assignment {
  std::int16_t number;
  sql::ExpressionPtr value;  // over the source's columns, in the column's type
  static constexpr std::tuple kParts{Expressions{&Assignment::value}};
};
/// ON CONFLICT DO UPDATE. The source gives the proposed row joined with the row that is there.
template <class Column>
struct ConflictUpdate {
  std::vector<Column> old_row;          // in the source: the target's live columns in order, then the hidden key; NULLs: there is none
  std::vector<Assignment> assignments;  // over the source's columns
  sql::ExpressionPtr condition;         // WHERE, over the source's columns; null: none
  std::vector<PolicyCheck> policy_checks = {};  // of the row that is there and of what it becomes
  static constexpr std::tuple kParts{Expressions{&ConflictUpdate::assignments}, Expressions{&ConflictUpdate::condition}, Expressions{&ConflictUpdate::policy_checks}};
};
struct LogicalInsert {
  std::shared_ptr<const sql::TableDef> table;
  LogicalPtr source;
  std::vector<InsertColumn> columns;       // every live column of the table, in order
  std::vector<LogicalColumn> new_row;      // ids under which checks and RETURNING see the new row, parallel to `columns`
  std::vector<Assignment> generated;       // generated columns, over `new_row`
  std::vector<BoundCheck> checks;
  std::vector<PolicyCheck> policy_checks;     // of proposed rows
  std::vector<sql::ExpressionPtr> returning;  // over `new_row`; parallel to `Logical::columns`
  enum class OnConflict : std::uint8_t { kError, kNothing, kUpdate } on_conflict = OnConflict::kError;
  std::optional<std::vector<std::int16_t>> conflict_columns;
  std::optional<ConflictUpdate<LogicalColumn>> conflict_update;  // kUpdate
  static constexpr std::tuple kParts{OfTable{&LogicalInsert::table}, Input{&LogicalInsert::source}, Expressions{&LogicalInsert::columns}, Expressions{&LogicalInsert::conflict_update}, Expressions{&LogicalInsert::policy_checks}, Expressions{&LogicalInsert::generated}, Expressions{&LogicalInsert::checks}, Expressions{&LogicalInsert::returning}};
};
struct LogicalUpdate {
  std::shared_ptr<const sql::TableDef> table;
  LogicalPtr source;                       // gives, among others, every live column and the hidden key of the target
  std::vector<LogicalColumn> old_row;      // the target's live columns in the source, in order (hidden key last when there is one)
  std::vector<Assignment> assignments;
  std::vector<LogicalColumn> new_row;
  std::vector<Assignment> generated;       // generated columns, over `new_row`
  std::vector<BoundCheck> checks;
  std::vector<PolicyCheck> policy_checks;
  std::vector<sql::ExpressionPtr> returning;  // over `new_row` (and other columns of the source)
  LogicalPtr bound = {};                      // the source before the rules (keep_sources)
  static constexpr std::tuple kParts{OfTable{&LogicalUpdate::table}, Input{&LogicalUpdate::source}, Expressions{&LogicalUpdate::assignments}, Expressions{&LogicalUpdate::policy_checks}, Expressions{&LogicalUpdate::generated}, Expressions{&LogicalUpdate::checks}, Expressions{&LogicalUpdate::returning}};
};
struct LogicalDelete {
  std::shared_ptr<const sql::TableDef> table;
  LogicalPtr source;
  std::vector<LogicalColumn> old_row;
  std::vector<sql::ExpressionPtr> returning;
  LogicalPtr bound = {};  // the source before the rules (keep_sources)
  static constexpr std::tuple kParts{OfTable{&LogicalDelete::table}, Input{&LogicalDelete::source}, Expressions{&LogicalDelete::returning}};
};
/// One WHEN of MERGE; all of it over the source's columns.
struct MergeAction {
  enum class Kind : std::uint8_t { kNothing, kInsert, kUpdate, kDelete } kind = Kind::kNothing;
  bool matched = false;
  sql::ExpressionPtr condition;         // null: always
  std::vector<InsertColumn> columns;    // kInsert: every live column of the table, in order
  std::vector<Assignment> assignments;  // kUpdate
  std::vector<PolicyCheck> policy_checks = {};
  static constexpr std::tuple kParts{Expressions{&MergeAction::condition}, Expressions{&MergeAction::columns}, Expressions{&MergeAction::assignments}, Expressions{&MergeAction::policy_checks}};
};
/// The source gives the rows to merge joined with the target's: where there is none, the old row is all NULL.
struct LogicalMerge {
  std::shared_ptr<const sql::TableDef> table;
  LogicalPtr source;
  std::vector<LogicalColumn> old_row;  // in the source: the target's live columns in order, then the hidden key where there is one
  std::vector<MergeAction> actions;    // the first one that fits a row is done
  std::vector<LogicalColumn> new_row;
  std::vector<Assignment> generated;   // over `new_row`
  std::vector<BoundCheck> checks;      // over `new_row`
  LogicalPtr bound = {};               // the source before the rules (keep_sources)
  static constexpr std::tuple kParts{OfTable{&LogicalMerge::table}, Input{&LogicalMerge::source}, Expressions{&LogicalMerge::actions}, Expressions{&LogicalMerge::generated}, Expressions{&LogicalMerge::checks}};
};

struct Logical {
  using Node = std::variant<LogicalScan, LogicalFunctionScan, LogicalSystemScan, LogicalValues, LogicalFilter, LogicalProject,
                            LogicalJoin, LogicalApply, LogicalAggregate, LogicalWindow, LogicalSort, LogicalLockRows, LogicalLimit, LogicalDistinct,
                            LogicalSetOperation, LogicalShare, LogicalSharedScan, LogicalRecursiveUnion, LogicalInsert, LogicalUpdate, LogicalDelete,
                            LogicalMerge>;
  Node node;
  std::vector<LogicalColumn> columns;
};

/// A bound statement: what the binder gives to the rules.
struct BoundStatement {
  LogicalPtr plan;
  std::vector<sql::Type> parameter_types;  // of $1…; slots from here on are the planner's own (correlations, init plans)
  std::uint32_t slot_count = 0;            // all slots
  ColumnId next_column = 0;                // first free id
  bool runs_functions = false;             // volatile functions in LANGUAGE sql are run for it: they may write
  sql::SizesAsked sizes_asked = sql::SizesAsked::kNone;  // by pg_relation_size() or its like
};

/// Text of the tree for tests of rules, one node a line.
std::string to_string(const LogicalPtr&);

}  // namespace redquel::planner
