#pragma once

#include "parser/ast_expression.h"

namespace redquel::parser::ast {

/// A table, view, sequence or index by name. Empty strings: not given.
struct RelationName {
  std::string catalog;
  std::string schema;
  std::string name;
  std::uint32_t offset = 0;
};

struct Alias {
  std::string name;
  std::vector<std::string> columns;
};

/// A column of a column definition list: `AS t(a int, b text)`, CREATE TYPE … AS (…).
struct RecordColumn {
  std::string name;
  TypeName type;
  QualifiedName collation;  // empty: none
  std::uint32_t offset = 0;
};

// --- FROM ----------------------------------------------------------------------------------------------------------

using FromItemPtr = std::unique_ptr<const FromItem>;

struct TableRef {
  RelationName name;
  bool only = false;
  std::optional<Alias> alias;
};

struct SubqueryRef {
  QueryPtr query;
  bool lateral = false;
  std::optional<Alias> alias;
};

struct FunctionItem {
  ExpressionPtr call;  // a FunctionCall or anything that PostgreSQL's func_expr allows (COALESCE, current_date …)
  std::vector<RecordColumn> columns;  // inside ROWS FROM (f() AS (a int))
};

struct FunctionRef {
  std::vector<FunctionItem> functions;
  bool lateral = false;
  bool rows_from = false;
  bool with_ordinality = false;
  std::optional<Alias> alias;
  std::vector<RecordColumn> columns;  // f() AS t(a int, b text)
};

enum class JoinKind { kInner, kLeft, kRight, kFull, kCross };

struct Join {
  JoinKind kind = JoinKind::kInner;
  bool natural = false;
  FromItemPtr left;
  FromItemPtr right;
  std::vector<std::string> using_columns;
  std::string using_alias;     // USING (…) AS x
  ExpressionPtr on;            // may be null
  std::optional<Alias> alias;  // (a JOIN b …) AS x
};

struct TableSample {
  FromItemPtr relation;  // a TableRef
  QualifiedName method;
  Expressions arguments;
  ExpressionPtr repeatable;  // may be null
};

struct FromItem {
  std::uint32_t offset = 0;  // of the table's name, the function's name …
  std::variant<TableRef, SubqueryRef, FunctionRef, Join, TableSample> node;
};

// --- SELECT --------------------------------------------------------------------------------------------------------

/// An entry of a select list or RETURNING list.
struct Target {
  ExpressionPtr value;
  std::string name;  // AS name, else empty
  std::uint32_t offset = 0;
};

enum class GroupingSetKind { kEmpty, kRollup, kCube, kSets };

/// An element of GROUP BY: an expression (an implicit Row inside ROLLUP, CUBE and GROUPING SETS is a list of them), or
/// a nested grouping set.
using GroupElement = std::variant<ExpressionPtr, std::unique_ptr<const GroupingSet>>;

struct GroupingSet {
  GroupingSetKind kind = GroupingSetKind::kEmpty;  // kEmpty: ()
  std::vector<GroupElement> elements;
  std::uint32_t offset = 0;
};

enum class SetOperator { kNone, kUnion, kIntersect, kExcept };

enum class LockStrength { kForKeyShare, kForShare, kForNoKeyUpdate, kForUpdate };
enum class LockWait { kBlock, kSkipLocked, kNoWait };

struct LockingClause {
  LockStrength strength = LockStrength::kForUpdate;
  LockWait wait = LockWait::kBlock;
  std::vector<RelationName> relations;  // OF …; empty: all
};

enum class Materialization { kDefault, kAlways, kNever };

struct SearchClause {
  std::vector<std::string> columns;
  bool breadth_first = false;
  std::string sequence_column;
  std::uint32_t offset = 0;
};

struct CycleClause {
  std::vector<std::string> columns;
  std::string mark_column;
  ExpressionPtr mark_value;    // TRUE unless written
  ExpressionPtr mark_default;  // FALSE unless written
  std::string path_column;
  std::uint32_t offset = 0;
};

struct CommonTableExpression {
  std::string name;
  std::vector<std::string> columns;
  Materialization materialization = Materialization::kDefault;
  std::unique_ptr<const Statement> statement;  // Select, Insert, Update, Delete
  std::optional<SearchClause> search;
  std::optional<CycleClause> cycle;
  std::uint32_t offset = 0;
};

struct WithClause {
  bool recursive = false;
  std::vector<CommonTableExpression> expressions;
  std::uint32_t offset = 0;
};

enum class Persistence { kPermanent, kTemporary, kUnlogged };
enum class OnCommit { kNone, kPreserveRows, kDeleteRows, kDrop };

/// An integer beyond int4, or a number with a point, as it is written (a sign included).
struct NumberText {
  std::string text;
};
struct StarOption {};  // FORCE_QUOTE *

enum class OptionAction { kNone, kSet, kAdd, kDrop };

/// A generic option: WITH (ttl = '1 hour'), EXPLAIN (ANALYZE), COPY … (FORMAT csv), START WITH 5, OPTIONS (SET a 'b') …
/// Words that are not numbers are strings, `true`, `on` and the like included.
struct Option {
  std::string name_space;  // toast.x; else empty
  std::string name;        // as the grammar calls it, e.g. "increment", "transaction_isolation"
  std::variant<std::monostate, bool, std::int64_t, NumberText, std::string, TypeName, std::vector<std::string>,
               StarOption>
      value;  // monostate: no value was given
  OptionAction action = OptionAction::kNone;
  std::uint32_t offset = 0;
};

/// The table that SELECT INTO, CREATE TABLE AS and CREATE MATERIALIZED VIEW make.
struct IntoClause {
  RelationName relation;
  Persistence persistence = Persistence::kPermanent;
  std::vector<std::string> columns;
  std::string access_method;
  std::vector<Option> options;
  OnCommit on_commit = OnCommit::kNone;
  std::string tablespace;
  bool with_no_data = false;
};

/// One of three shapes: a select list, VALUES rows, or a set operation of two queries. ORDER BY, LIMIT, locking and
/// WITH belong to any of them; with a set operation they apply to its result.
struct Select {
  std::uint32_t offset = 0;  // of the first thing in it that has a position (PostgreSQL keeps none for SELECT itself)

  std::optional<WithClause> with;
  std::vector<SortKey> order_by;
  ExpressionPtr limit_count;   // may be null; LIMIT ALL is a NullLiteral
  ExpressionPtr limit_offset;  // may be null
  bool with_ties = false;
  std::vector<LockingClause> locking;

  bool distinct = false;
  Expressions distinct_on;  // empty: plain DISTINCT
  std::vector<Target> targets;
  std::optional<IntoClause> into;
  std::vector<FromItem> from;
  ExpressionPtr where;  // may be null
  bool group_distinct = false;
  std::vector<GroupElement> group_by;
  ExpressionPtr having;  // may be null
  std::vector<WindowDefinition> windows;

  std::vector<Expressions> values;  // not empty: VALUES

  SetOperator set_operator = SetOperator::kNone;
  bool set_all = false;
  QueryPtr left;   // null unless a set operation
  QueryPtr right;  // null unless a set operation
};

}  // namespace redquel::parser::ast
