#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "planner/tree/logical_plan.h"
#include "planner/tree/node_parts.h"
#include "planner/tree/node_traits.h"
#include "planner/tree/table_read.h"
#include "sql/catalog/catalog.h"
#include "sql/expressions/expression.h"

namespace redquel::planner {

struct PhysicalNode;
/// Immutable, cached, shared by runs, printed by EXPLAIN. Expressions refer to columns by position in the node's input.
using PhysicalPlan = std::shared_ptr<const PhysicalNode>;

// ---- Reading a table from Redis -------------------------------------------------------------------------------------------

/// pk = c, pk IN (…): one pipeline of HMGET.
struct KeyLookup {
  TableRead read;
  std::vector<std::vector<sql::ExpressionPtr>> keys;  // one value per key column
  static constexpr std::tuple kParts{OfTable{&KeyLookup::read}};
  static constexpr NodeTraits kTraits{.reads = Reads::kByKey, .over_changes = OverChanges::kAsItIs};
};
/// unique = c: the row key from the uniques hash, then the row, in one read-only script.
struct UniqueLookup {
  TableRead read;
  std::vector<std::int16_t> columns;
  std::vector<std::vector<sql::ExpressionPtr>> values;
  static constexpr std::tuple kParts{OfTable{&UniqueLookup::read}};
  static constexpr NodeTraits kTraits{.reads = Reads::kByValue, .over_changes = OverChanges::kAsItIs};
};
/// Equality index sets combined, and their rows.
struct SetScan {
  TableRead read;
  SetExpression sets;
  RowGoal goal;
  /// Only the rows are wanted that come first in the order of an index, as many as the goal says. The sets are exact. Gives at least
  /// these, in no order: by the cardinalities the index is walked until it has met enough members, or the members' places are compared.
  struct First {
    std::int16_t column;
    bool descending = false;
    enum class Nulls : std::uint8_t { kNone, kFirst, kLast } nulls = Nulls::kNone;
    bool ties = false;  // rows that tie with the last one are wanted, too
    std::optional<RangeBound> lower, upper;  // of the column
  };
  std::optional<First> first = {};
  static constexpr std::tuple kParts{OfTable{&SetScan::read}};
  static constexpr NodeTraits kTraits{.reads = Reads::kRows, .over_changes = OverChanges::kWithoutGoal, .walks = Walks::kPart};
};
/// A walk along an ordered index, in windows if a LIMIT above says how many rows it wants first.
struct OrderedScan {
  TableRead read;
  std::int16_t column = 0;
  std::optional<RangeBound> lower, upper;
  std::optional<PrefixBound> prefix;
  bool descending = false;
  enum class Nulls : std::uint8_t { kNone, kFirst, kLast } nulls = Nulls::kNone;  // rows of the NULL set are wanted there
  RowGoal goal;
  /// Nothing is fetched but columns of the primary key and the one that scores order: elements of the zset say it, no row is read.
  bool index_only = false;
  bool in_order = false;  // nodes above rely on the order
  /// Scores order timestamps and bigints only below 2^53, which the first read proves. Runs if a score is beyond. Null: nothing is to be proved.
  PhysicalPlan otherwise = {};
  /// The walk is given up after so many rows (WalkGivenUp), below a Choice; 0: never.
  std::size_t most_rows = 0;
  LeadingValues leading = {};  // the walk is of the rows with these values
  static constexpr std::tuple kParts{OfTable{&OrderedScan::read}, Fallback{&OrderedScan::otherwise}};
  static constexpr NodeTraits kTraits{.reads = Reads::kRows, .over_changes = OverChanges::kAnew, .walks = Walks::kTable};
};
/// The whole table in bounded chunks, in order of the all-rows zset; or the rows with some values in the first columns of a composite key.
struct FullScan {
  TableRead read;
  std::vector<sql::ExpressionPtr> key_start = {};  // these values; none: every row
  bool descending = false;
  RowGoal goal;
  bool index_only = false;  // only columns of the primary key are fetched: no row is read
  static constexpr std::tuple kParts{OfTable{&FullScan::read}};
  static constexpr NodeTraits kTraits{.reads = Reads::kRows, .over_changes = OverChanges::kWithoutGoal, .walks = Walks::kTable};
};

/// Rows of a table out of redquel's copy in memory, in no order.
struct MemoryScan {
  TableRead read;
  PhysicalPlan otherwise;  // the same columns of the same rows from Redis, where the copy does not serve
  /// `otherwise` reads only some rows, by an index: the copy is not filled for this scan, and it serves only where it is cheaper.
  bool is_part = false;
  /// Only the first rows in an order are wanted, as many as the goal says. Gives at least these.
  struct First {
    std::size_t position;  // in `read.numbers`
    bool descending = false, nulls_first = false;
    RowGoal goal;
  };
  std::optional<First> first = {};
  static constexpr std::tuple kParts{OfTable{&MemoryScan::read}, Fallback{&MemoryScan::otherwise}};
  static constexpr NodeTraits kTraits{.reads = Reads::kCopy};
};

/// Rows of a mapped table.
struct MappedScan {
  TableRead read;
  /// A column of the rows' identity with the values that the WHERE clause allows.
  struct Fixed {
    std::int16_t column;
    std::vector<sql::ExpressionPtr> values;  // in the column's type or an integer type
  };
  std::vector<Fixed> fixed;
  enum class Path : std::uint8_t {
    kKeys,    // all slots are fixed: the keys are known
    kScan,    // SCAN MATCH over the keyspace
    kLookup,  // `index` gives the slot for the values of its columns
    kSets,    // `sets` of declared indexes give the slot
    kOrder,   // `index`, a zset or list, gives the slot in the order of its column
    kRange,   // `index`, a zset, gives the slots between two scores
    kScores,  // layout zset: members of one key between two scores, or in their order
              // layout list: elements between two positions, or as many of the first or last ones as `goal` says
  } path = Path::kScan;
  sql::Oid index = 0;
  /// The form of members of sets and structures, stored form; empty: they are the member of layout set itself.
  std::string member;
  std::int16_t ordered_by = 0;             // kOrder, kRange, kScores
  std::optional<RangeBound> lower, upper;  // of it; kOrder, kRange, kScores
  bool wants_order = false;                // kScores: in order, `goal` rows; kOrder: behind the rows whose column is NULL
  std::vector<std::vector<sql::ExpressionPtr>> lookups;  // kLookup: a value for each column of the index
  std::optional<SetExpression> sets;                     // kSets
  bool descending = false;                               // kOrder, kScores
  RowGoal goal;
  static constexpr std::tuple kParts{OfTable{&MappedScan::read}};
  static constexpr NodeTraits kTraits{.reads = Reads::kForeign, .over_changes = OverChanges::kAnew};
};

/// Marks the place of a column of the old row that the source does not give: a hidden and unused one.
inline constexpr std::size_t kNotRead = static_cast<std::size_t>(-1);

// ---- Answers from cardinalities alone ---------------------------------------------------------------------------------------

/// A signed sum of cardinalities, read together.
struct CountTerm {
  int sign = 1;
  enum class Kind : std::uint8_t { kAllRows, kSets, kRange, kPrefix, kValues, kMembers } kind;
  SetExpression sets;                         // kSets: one set, or an intersection of sets (SINTERCARD); kMembers: any, counted by a script
  std::int16_t column = 0;                    // kRange, kPrefix; kValues: how many values it has
  std::optional<RangeBound> lower, upper;     // kRange
  std::optional<PrefixBound> prefix;          // kPrefix
  LeadingValues leading = {};                 // kRange: among the rows with these values
};
/// count(*), count(column) with index conditions. `fallback` counts rows where cardinalities cannot give the exact answer after
/// all (a bound beyond 2^53, an intersection that would hold Redis too long).
struct IndexCount {
  std::shared_ptr<const sql::TableDef> table;
  std::vector<CountTerm> terms;
  PhysicalPlan fallback;
  std::size_t outputs = 1;  // the same count, in so many columns
  bool may_repeat = false;  // `a IN ($1, $2)`: terms whose keys turn out to be equal count once
  static constexpr std::tuple kParts{OfTable{&IndexCount::table}, Fallback{&IndexCount::fallback}};
  static constexpr NodeTraits kTraits{.reads = Reads::kEntries, .over_changes = OverChanges::kAnew, .walks = Walks::kPart, .blocks = true};
};
/// min and max of an ordered column: the ends of its zset. `fallback` runs where an end is not exact.
struct IndexMinMax {
  std::shared_ptr<const sql::TableDef> table;
  struct End {
    std::int16_t column;
    bool maximum;
  };
  std::vector<End> ends;
  PhysicalPlan fallback;
  static constexpr std::tuple kParts{OfTable{&IndexMinMax::table}, Fallback{&IndexMinMax::fallback}};
  static constexpr NodeTraits kTraits{.reads = Reads::kEntries, .over_changes = OverChanges::kAnew, .walks = Walks::kPart, .blocks = true};
};
/// GROUP BY column with count(*) alone, or DISTINCT column: the values set, and SCARD of each.
struct IndexGroups {
  std::shared_ptr<const sql::TableDef> table;
  std::int16_t column;
  bool counts;              // false: DISTINCT
  std::size_t outputs = 0;  // count columns after the value
  PhysicalPlan fallback;
  std::vector<SetExpression> among = {};  // plain sets: only rows that are in all of them count (SINTERCARD)
  static constexpr std::tuple kParts{OfTable{&IndexGroups::table}, Fallback{&IndexGroups::fallback}};
  static constexpr NodeTraits kTraits{.reads = Reads::kEntries, .over_changes = OverChanges::kAnew};
};
/// Columns of the primary key, and integers that are scores of a zset, of the rows that sets hold exactly: members and scores say it
/// all, no row is read.
struct IndexKeys {
  std::shared_ptr<const sql::TableDef> table;
  std::string alias;
  SetExpression sets;
  std::vector<std::int16_t> numbers;  // the node's columns
  PhysicalPlan fallback;              // where the sets are too large for one script
  /// The sets are over the same part of the key and have short members (sql/catalog/member_form.h), which are combined as they are: `numbers`
  /// are columns of the other part, and its values the rows.
  bool by_parts = false;
  static constexpr std::tuple kParts{OfTable{&IndexKeys::table}, Fallback{&IndexKeys::fallback}};
  static constexpr NodeTraits kTraits{.reads = Reads::kEntries, .over_changes = OverChanges::kAnew};
};
/// One column that has equality sets, of all rows or of those with certain values: each value as often as its set has members, no row
/// is read. The node's only column.
struct IndexValues {
  std::shared_ptr<const sql::TableDef> table;
  std::string alias;
  std::int16_t column;
  std::vector<sql::ExpressionPtr> values;  // over parameters alone; empty: all values that there are, and NULL
  sql::ExpressionPtr condition;            // over the column; null: none
  PhysicalPlan fallback;                   // where there are too many values
  static constexpr std::tuple kParts{OfTable{&IndexValues::table}, Fallback{&IndexValues::fallback}};
  static constexpr NodeTraits kTraits{.reads = Reads::kEntries, .over_changes = OverChanges::kAnew, .walks = Walks::kPart};
};

/// Ranks of a few rows among all rows of their table, or of their zset if the table is mapped: how many scores come before theirs.
struct IndexRanks {
  /// rank(): rows with one score have one rank. row_number(): each row has a number of its own.
  enum class Rank : std::uint8_t { kRank, kRowNumber };
  std::shared_ptr<const sql::TableDef> table;
  PhysicalPlan input;                     // the rows
  std::vector<std::size_t> outputs;       // in the input: the node's columns but for the ranks behind them
  std::int16_t column = 0;                // whose values are the scores
  std::vector<std::int16_t> numbers;      // of the input's columns
  std::vector<Rank> ranks;
  bool descending = false, nulls_first = false;
  bool may_be_null = false;
  PhysicalPlan fallback;  // the same columns of at least these rows, used if scores cannot give the ranks
  static constexpr std::tuple kParts{OfTable{&IndexRanks::table}, Input{&IndexRanks::input}, Fallback{&IndexRanks::fallback}};
  static constexpr NodeTraits kTraits{.reads = Reads::kEntriesOfInput, .over_changes = OverChanges::kAnew};
};
/// count(*) of the members of one zset of a mapped table, or of those whose scores are between two values.
struct MappedCount {
  std::shared_ptr<const sql::TableDef> table;
  std::vector<MappedScan::Fixed> fixed;  // the slots of the key, one value each
  std::optional<RangeBound> lower, upper;
  std::size_t outputs = 1;  // the same count, in so many columns
  PhysicalPlan fallback;    // where a bound is no score
  static constexpr std::tuple kParts{OfTable{&MappedCount::table}, Fallback{&MappedCount::fallback}};
  static constexpr NodeTraits kTraits{.reads = Reads::kForeign, .over_changes = OverChanges::kAnew};
};

/// The values that conditions allow for a column that names the part of a row. Values are over parameters alone, in the column's type or another integer type.
struct PartLimit {
  std::int16_t column = 0;
  std::vector<sql::ExpressionPtr> equal = {};  // one of these; empty: there is no equality
  sql::ExpressionPtr lower = {}, upper = {};   // null: there is none
  bool lower_inclusive = false, upper_inclusive = false;
  bool only_null = false, not_null = false;
};

/// The parts of a table, read side by side: buckets of a cluster (sql/catalog/spread_table.h), or partitions.
struct Gather {
  std::shared_ptr<const sql::TableDef> table;
  std::vector<PhysicalPlan> parts;    // never empty
  std::vector<std::size_t> numbers;   // parallel to `parts`: which of TableDef::parts each reads, in their order
  std::vector<PartLimit> limits = {};  // only parts that may have rows within all of them are read
  enum class Combine : std::uint8_t {
    kAppend,  // the rows of all parts, in no order
    kMerge,   // in the order of `keys`, in which each part gives its rows
    kAdd,     // counts by group are added: a row for each group
  } combine = Combine::kAppend;
  std::vector<SortKey> keys = {};
  std::size_t group_columns = 0;  // kAdd: so many first columns name the group, the others are counts (int8); 0: one row
  /// Returns true if exactly one bucket is read.
  bool reads_one_bucket() const;
  static constexpr std::tuple kParts{Input{&Gather::parts}};
  static constexpr NodeTraits kTraits{};
};

// ---- Operators in the proxy -------------------------------------------------------------------------------------------------

struct PhysicalValues {
  std::vector<std::vector<sql::ExpressionPtr>> rows;
  static constexpr std::tuple kParts{};
  static constexpr NodeTraits kTraits{};
};
struct PhysicalFunctionScan {
  std::vector<TableFunctionCall> calls;
  bool with_ordinality = false;
  static constexpr std::tuple kParts{};
  static constexpr NodeTraits kTraits{};
};
/// The bounds on rows of a table of the schema redis, from the condition above it, before they are asked for: texts, over parameters
/// alone.
struct RowBounds {
  std::vector<sql::ExpressionPtr> names;  // the first column is one of these; empty: anything
  sql::ExpressionPtr pattern;             // the first column is LIKE this; null: anything
  sql::ExpressionPtr type;                // the column "type" is this; null: anything
};
struct PhysicalSystemScan {
  std::string schema, name;
  std::vector<std::size_t> positions;
  RowBounds bounds = {};
  static constexpr std::tuple kParts{};
  static constexpr NodeTraits kTraits{};
};
struct PhysicalFilter {
  PhysicalPlan input;
  sql::ExpressionPtr condition;
  static constexpr std::tuple kParts{Input{&PhysicalFilter::input}};
  static constexpr NodeTraits kTraits{.is_row_wise = true};
};
struct PhysicalProject {
  PhysicalPlan input;
  std::vector<sql::ExpressionPtr> expressions;
  static constexpr std::tuple kParts{Input{&PhysicalProject::input}};
  static constexpr NodeTraits kTraits{.is_row_wise = true};
};
/// Columns: the left's, then the right's (semi and anti: the left's). Builds on the right.
struct HashJoin {
  JoinKind kind;
  PhysicalPlan left, right;
  std::vector<sql::ExpressionPtr> left_keys, right_keys;  // same types, pairwise compared by =
  sql::ExpressionPtr residual;                            // over left then right columns; null: none
  static constexpr std::tuple kParts{Input{&HashJoin::left}, Input{&HashJoin::right}};
  static constexpr NodeTraits kTraits{};
};
struct NestedLoopJoin {
  JoinKind kind;
  PhysicalPlan left, right;
  sql::ExpressionPtr condition;  // over left then right columns; null: none
  static constexpr std::tuple kParts{Input{&NestedLoopJoin::left}, Input{&NestedLoopJoin::right}};
  static constexpr NodeTraits kTraits{};
};
/// For each batch of the outer input, rows of a table by key, unique or equality index, fetched in one pipeline.
struct LookupJoin {
  JoinKind kind;  // inner, left, semi, anti
  PhysicalPlan outer;
  TableRead read;
  enum class By : std::uint8_t { kPrimaryKey, kUnique, kSet, kKeyStart } by;
  std::vector<std::int16_t> columns;             // of the key, unique or set structure; kKeyStart: the first ones of the key
  std::vector<sql::ExpressionPtr> values;        // over the outer's columns, in the columns' types
  sql::ExpressionPtr residual;                   // over outer then inner columns; holds the whole join condition
  static constexpr std::tuple kParts{Input{&LookupJoin::outer}, OfTable{&LookupJoin::read}};
  static constexpr NodeTraits kTraits{.reads = Reads::kJoined, .over_changes = OverChanges::kAnew, .walks = Walks::kPart};
};
/// For each batch of the outer input the rows of a mapped table whose keys it names, in one pipeline; or those that a declared structure
/// gives for it: `inner.path` is kKeys, or kLookup or kSets with `inner.index`.
struct MappedJoin {
  JoinKind kind;  // inner, left, semi, anti
  PhysicalPlan outer;
  MappedScan inner;  // what is fixed for all rows
  struct Key {
    std::int16_t column;
    sql::ExpressionPtr value;  // over the outer's columns
  };
  std::vector<Key> keys;        // of the rows' keys, or of the index
  sql::ExpressionPtr residual;  // over outer then inner columns; holds the whole join condition
  static constexpr std::tuple kParts{Input{&MappedJoin::outer}, OfTable{&MappedJoin::inner}};
  static constexpr NodeTraits kTraits{.reads = Reads::kForeign, .over_changes = OverChanges::kAsItIs};
};
/// A join whose outer rows decide how it runs: up to `most_lookups` of them are joined by `lookup`, more of them by `hash`.
struct AdaptiveJoin {
  PhysicalPlan outer, right;  // right: the whole inner table
  PhysicalPlan lookup;        // a LookupJoin of `outer`
  PhysicalPlan hash;          // a HashJoin of `outer` and `right`; the same columns
  std::size_t most_lookups = 0;
  static constexpr std::tuple kParts{Input{&AdaptiveJoin::outer}, Input{&AdaptiveJoin::right}, Form{&AdaptiveJoin::lookup}, Form{&AdaptiveJoin::hash}};
  static constexpr NodeTraits kTraits{.walks = Walks::kPart};
};
/// One of two plans with the same rows, chosen when it runs: the first rows of a walk in the wanted order, or all rows that pass, sorted.
struct Choice {
  PhysicalPlan walk, otherwise;
  /// Counts the rows that pass, or those that they are joined with; null: not known. The walk is given up if it gets long.
  PhysicalPlan count;
  double counted_rows = 0, rows_for_each = 0;  // the rows of the counted table; those that `otherwise` reads for each counted one
  RowGoal goal;
  bool is_cut = false;  // the walk reads some first rows only: if too few of them pass, `otherwise` runs
  static constexpr std::tuple kParts{Input{&Choice::walk}, Input{&Choice::otherwise}, Input{&Choice::count}};
  static constexpr NodeTraits kTraits{};
};
struct PhysicalApply {
  LogicalApply::Kind kind;
  JoinKind join;
  PhysicalPlan input, subquery;
  sql::ExpressionPtr comparison;  // over input then subquery columns
  bool all = false;
  struct Correlation {
    std::uint32_t slot;
    std::size_t position;
  };
  std::vector<Correlation> correlations;
  static constexpr std::tuple kParts{Input{&PhysicalApply::input}, Input{&PhysicalApply::subquery}};
  static constexpr NodeTraits kTraits{};
};
struct PhysicalAggregate {
  PhysicalPlan input;
  std::vector<sql::ExpressionPtr> group_by;
  std::vector<AggregateCall> calls;
  bool scalar = false;
  bool in_order = false;  // rows of a group come one after another: a group is complete when another one begins
  static constexpr std::tuple kParts{Input{&PhysicalAggregate::input}};
  static constexpr NodeTraits kTraits{.blocks = true};
};
struct PhysicalSort {
  PhysicalPlan input;
  std::vector<SortKey> keys;
  std::size_t presorted = 0;         // the input comes ordered by so many leading keys (groups of ties are sorted)
  bool presorted_by_form = false;    // … by the ordered form of the key only (inexact scores, cut members)
  RowGoal goal;                      // never exact
  static constexpr std::tuple kParts{Input{&PhysicalSort::input}};
  static constexpr NodeTraits kTraits{.blocks = true};
};
struct PhysicalWindow {
  PhysicalPlan input;
  std::vector<sql::ExpressionPtr> partition_by;
  std::vector<SortKey> order_by;
  std::vector<WindowCall> functions;
  static constexpr std::tuple kParts{Input{&PhysicalWindow::input}};
  static constexpr NodeTraits kTraits{.blocks = true};
};
/// The source of a node that changes or locks rows, to evaluate it again for a row that another transaction has changed
/// (planner/recheck.h).
struct RecheckSource {
  LogicalPtr bound;               // the source before the rules; null: foreign tables, whose statements run again
  std::vector<ColumnId> columns;  // of the planned source, in order
  std::vector<ColumnId> targets;  // for each table whose rows are changed or locked, one column of its scan
};
struct PhysicalLockRows {
  PhysicalPlan input;
  struct Mark {
    std::shared_ptr<const sql::TableDef> table;
    std::string alias;
    RowLock lock;
    std::vector<std::size_t> positions;  // in the input, parallel to
    std::vector<std::int16_t> numbers;   // the columns whose values are compared; 0 is the hidden row key
  };
  std::vector<Mark> marks;
  RowGoal goal;  // no more rows than offset + limit are locked
  RecheckSource recheck = {};
  static constexpr std::tuple kParts{Input{&PhysicalLockRows::input}};
  static constexpr NodeTraits kTraits{};
};
struct PhysicalLimit {
  PhysicalPlan input;
  sql::ExpressionPtr limit, offset;
  bool with_ties = false;
  std::vector<SortKey> tie_keys;
  static constexpr std::tuple kParts{Input{&PhysicalLimit::input}};
  static constexpr NodeTraits kTraits{};
};
struct PhysicalDistinct {
  PhysicalPlan input;
  std::vector<sql::ExpressionPtr> on;  // empty: all columns
  static constexpr std::tuple kParts{Input{&PhysicalDistinct::input}};
  static constexpr NodeTraits kTraits{};
};
struct PhysicalSetOperation {
  LogicalSetOperation::Kind kind;
  bool all;
  PhysicalPlan left, right;
  static constexpr std::tuple kParts{Input{&PhysicalSetOperation::left}, Input{&PhysicalSetOperation::right}};
  static constexpr NodeTraits kTraits{};
};

struct PhysicalShare {
  PhysicalPlan input, source;
  std::uint32_t number = 0;
  std::string name;
  static constexpr std::tuple kParts{Input{&PhysicalShare::input}, Input{&PhysicalShare::source}};
  static constexpr NodeTraits kTraits{};
};
struct PhysicalSharedScan {
  std::uint32_t number = 0;
  std::string name;
  std::vector<std::size_t> positions;
  static constexpr std::tuple kParts{};
  static constexpr NodeTraits kTraits{};
};
struct PhysicalRecursiveUnion {
  PhysicalPlan left, right;
  std::uint32_t number = 0;
  bool all = false;
  static constexpr std::tuple kParts{Input{&PhysicalRecursiveUnion::left}, Input{&PhysicalRecursiveUnion::right}};
  static constexpr NodeTraits kTraits{};
};

// ---- Writes: the logical node with positions instead of ids -----------------------------------------------------------------

struct PhysicalInsert {
  std::shared_ptr<const sql::TableDef> table;
  PhysicalPlan source;
  std::vector<InsertColumn> columns;          // every live column; values over the source's columns
  std::vector<Assignment> generated;          // generated columns, over the new row
  std::vector<BoundCheck> checks;             // over the new row
  std::vector<sql::ExpressionPtr> returning;  // over the new row
  bool has_returning = false;
  LogicalInsert::OnConflict on_conflict = LogicalInsert::OnConflict::kError;
  std::optional<std::vector<std::int16_t>> conflict_columns;
  std::optional<ConflictUpdate<std::size_t>> conflict_update;
  std::vector<PolicyCheck> policy_checks = {};  // over the new row followed by the source's columns
  static constexpr std::tuple kParts{OfTable{&PhysicalInsert::table}, Input{&PhysicalInsert::source}};
  static constexpr NodeTraits kTraits{.command = "INSERT"};
};
struct PhysicalUpdate {
  std::shared_ptr<const sql::TableDef> table;
  PhysicalPlan source;
  std::vector<std::size_t> old_row;           // positions in the source (or kNotRead): live columns in order, then the hidden key if there is one
  std::vector<Assignment> assignments;        // values over the source's columns
  std::vector<Assignment> generated;          // generated columns, over the new row followed by the source's columns
  std::vector<BoundCheck> checks;             // over the new row followed by the source's columns
  std::vector<sql::ExpressionPtr> returning;  // over the new row followed by the source's columns
  bool has_returning = false;
  /// Positions in the table of the integers to which rows found by key are added, where that is all that happens and nothing else
  /// depends on them (`n = n + c`). Empty: it is not such an UPDATE.
  std::vector<std::size_t> added = {};
  /// The same, also where indexes have these columns: one script that has not read the row before moves its entries. Outside of transactions.
  std::vector<std::size_t> added_unread = {};
  /// A row found by key, to which integers are added or whose new values do not depend on it: where the statement stands for itself, one
  /// script reads, verifies and writes.
  bool may_write_unread = false;
  std::vector<PolicyCheck> policy_checks = {};  // over the new row followed by the source's columns
  RecheckSource recheck = {};
  static constexpr std::tuple kParts{OfTable{&PhysicalUpdate::table}, Input{&PhysicalUpdate::source}};
  static constexpr NodeTraits kTraits{.command = "UPDATE"};
};
struct PhysicalDelete {
  std::shared_ptr<const sql::TableDef> table;
  PhysicalPlan source;
  std::vector<std::size_t> old_row;
  std::vector<sql::ExpressionPtr> returning;  // over the source's columns
  bool has_returning = false;
  RecheckSource recheck = {};
  static constexpr std::tuple kParts{OfTable{&PhysicalDelete::table}, Input{&PhysicalDelete::source}};
  static constexpr NodeTraits kTraits{.command = "DELETE"};
};

struct PhysicalMerge {
  std::shared_ptr<const sql::TableDef> table;
  PhysicalPlan source;
  std::vector<std::size_t> old_row;  // positions in the source; all NULL there where no row is matched
  std::vector<MergeAction> actions;  // over the source's columns
  std::vector<Assignment> generated;  // over the new row
  std::vector<BoundCheck> checks;     // over the new row
  RecheckSource recheck = {};
  static constexpr std::tuple kParts{OfTable{&PhysicalMerge::table}, Input{&PhysicalMerge::source}};
  static constexpr NodeTraits kTraits{.command = "MERGE"};
};

/// INSERT, UPDATE or DELETE of a view: triggers INSTEAD OF take each row.
struct PhysicalViewWrite {
  sql::TriggerDef::Event event = sql::TriggerDef::Event::kInsert;
  std::shared_ptr<const sql::TableDef> view;  // as view_rows() gives it
  PhysicalPlan source;
  std::vector<std::size_t> old_row;           // positions in the source, parallel to the view's columns; INSERT: none
  std::vector<sql::ExpressionPtr> new_row;    // over the source's columns, parallel to the view's columns; DELETE: none
  std::vector<std::int16_t> assigned;         // columns that UPDATE assigns
  std::vector<BoundCheck> checks;             // of views above, over the new row followed by the source's columns
  std::vector<sql::ExpressionPtr> returning;  // INSERT and UPDATE: over the new row followed by the source's columns; DELETE: over the source's
  bool has_returning = false;
  static constexpr std::tuple kParts{Input{&PhysicalViewWrite::source}};
  static constexpr NodeTraits kTraits{.command = "INSTEAD OF"};
};

struct PhysicalColumn {
  std::string name;
  sql::Type type;
  sql::Oid table = 0;
  std::int16_t attribute = 0;
};

struct PhysicalNode {
  using Node =
      std::variant<KeyLookup, UniqueLookup, SetScan, OrderedScan, FullScan, MappedScan, IndexCount, IndexMinMax, IndexGroups, PhysicalValues,
                   PhysicalFunctionScan, PhysicalSystemScan, PhysicalFilter, PhysicalProject, HashJoin, NestedLoopJoin, LookupJoin, MappedJoin,
                   PhysicalApply, PhysicalAggregate, PhysicalWindow, PhysicalSort, PhysicalLockRows, PhysicalLimit, PhysicalDistinct, PhysicalSetOperation,
                   PhysicalShare, PhysicalSharedScan, PhysicalRecursiveUnion,
                   IndexKeys, IndexValues, IndexRanks, MappedCount, AdaptiveJoin, Choice, MemoryScan, Gather,
                   PhysicalInsert, PhysicalUpdate, PhysicalDelete, PhysicalMerge, PhysicalViewWrite>;
  Node node;
  std::vector<PhysicalColumn> columns;
};

/// The traits of the node's kind.
const NodeTraits& traits_of(const PhysicalNode&);
/// The table that the node itself reads or writes; null: none.
const std::shared_ptr<const sql::TableDef>* table_of(const PhysicalNode&);
/// Tables that the plan reads or writes, each once; instead of a table in several buckets its parts.
std::vector<std::shared_ptr<const sql::TableDef>> tables_of(const PhysicalPlan&);
/// Returns true if the node writes. Only that of a view has no table.
bool is_write(const PhysicalNode&);
/// Returns the name of the SQL command of a node that writes.
const char* write_command(const PhysicalNode&);
/// The node that writes what the statement itself says, not its WITH queries; null: the statement is a query.
const PhysicalNode* main_write(const PhysicalNode& plan);
/// Returns true if the plan writes elsewhere, too, or reads while it writes (subqueries in RETURNING). Then all of it happens at once,
/// over the data of before.
bool is_compound_write(const PhysicalNode& plan);
/// Returns true if the plan may write rows of several buckets of one table.
bool writes_several_parts(const PhysicalNode& plan);
/// The direct inputs, in the order EXPLAIN prints them.
std::vector<PhysicalPlan> inputs_of(const PhysicalNode&);
/// The plans that may run instead of the node: its fallback, or the forms that it takes.
std::vector<PhysicalPlan> fallbacks_of(const PhysicalNode&);
std::vector<PhysicalPlan> forms_of(const PhysicalNode&);
/// Returns the node below all nodes that only filter rows and compute columns.
const PhysicalNode& below_row_wise(const PhysicalNode&);

}  // namespace redquel::planner
