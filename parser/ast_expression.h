#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "parser/ast_nodes.h"

/// The syntax tree as values: no types, no catalog. Every offset is a byte offset (0-based) into the text that was given to parse(). Names
/// are as PostgreSQL's scanner leaves them: folded to lower case unless quoted.
namespace redquel::parser::ast {

/// Never null unless the member's comment says so.
using ExpressionPtr = std::unique_ptr<const Expression>;
using Expressions = std::vector<ExpressionPtr>;
using QueryPtr = std::unique_ptr<const Select>;

/// `schema.name` as its parts; the last one is the object's own name.
using QualifiedName = std::vector<std::string>;

/// A type as it is spelled. Types with a grammar of their own come as PostgreSQL names them: `int` is pg_catalog.int4,
/// `char(3)` pg_catalog.bpchar(3), `timestamp with time zone` pg_catalog.timestamptz. `serial` stays the bare name.
struct TypeName {
  QualifiedName names;
  /// `numeric(10,2)`: two constants. For pg_catalog.interval PostgreSQL's raw pair: field mask (INTERVAL_MASK bits,
  /// 0x7fff for all), then the precision if given.
  Expressions modifiers;
  /// One entry per `[]`, -1 where no size is given.
  std::vector<std::int32_t> array_bounds;
  bool set_of = false;
  bool percent_type = false;  // table.column%TYPE
  std::uint32_t offset = 0;
};

enum class SortDirection { kDefault, kAscending, kDescending, kUsing };
enum class SortNulls { kDefault, kFirst, kLast };

struct SortKey {
  ExpressionPtr value;
  SortDirection direction = SortDirection::kDefault;
  SortNulls nulls = SortNulls::kDefault;
  QualifiedName using_operator;  // for kUsing
  std::uint32_t offset = 0;      // of the USING operator, else of the expression
};

enum class FrameMode { kRange, kRows, kGroups };
enum class FrameBound { kUnboundedPreceding, kOffsetPreceding, kCurrentRow, kOffsetFollowing, kUnboundedFollowing };
enum class FrameExclusion { kNoOthers, kCurrentRow, kGroup, kTies };

struct WindowFrame {
  bool explicit_frame = false;  // false: the default frame, nothing was written
  bool between = false;         // written as BETWEEN … AND …
  FrameMode mode = FrameMode::kRange;
  FrameBound start = FrameBound::kUnboundedPreceding;
  FrameBound end = FrameBound::kCurrentRow;
  ExpressionPtr start_offset;  // null unless start is an offset
  ExpressionPtr end_offset;    // null unless end is an offset
  FrameExclusion exclusion = FrameExclusion::kNoOthers;
};

/// An entry of the WINDOW clause (`name` is set) or an OVER clause. `OVER w` has only `name`; `OVER (w …)` has `base`.
struct WindowDefinition {
  std::string name;
  std::string base;
  Expressions partition_by;
  std::vector<SortKey> order_by;
  WindowFrame frame;
  std::uint32_t offset = 0;
};

// --- the kinds of expression ---------------------------------------------------------------------------------------

struct NullLiteral {};
/// TRUE and FALSE (an unnamed target of this kind is named "bool").
struct BooleanLiteral {
  bool value = false;
};
/// Fits int4. A minus sign directly before a constant is part of it, as in PostgreSQL's grammar.
struct IntegerLiteral {
  std::int32_t value = 0;
};
/// A number with point or exponent, or an integer beyond int4, possibly with a minus sign. Of the integers PostgreSQL
/// makes int4 (-2147483648), int8 or numeric, the first that fits.
struct NumericLiteral {
  std::string text;
};
/// A quoted string: of type unknown.
struct StringLiteral {
  std::string value;
};
/// B'101' has text "b101", X'1F' has text "x1F".
struct BitStringLiteral {
  std::string text;
};

/// `a`, `t.a`, `s.t.a`, `*`, `t.*`.
struct ColumnRef {
  QualifiedName names;
  bool star = false;
};

/// `$1` is number 1.
struct ParameterRef {
  std::int32_t number = 0;
};

struct Argument {
  ExpressionPtr value;
  std::string name;  // `name => value`, else empty
  std::uint32_t offset = 0;
};

struct FunctionCall {
  QualifiedName name;
  std::vector<Argument> arguments;
  bool star = false;          // count(*)
  bool distinct = false;      // count(DISTINCT x)
  bool variadic = false;      // the last argument is VARIADIC
  bool within_group = false;  // order_by is that of WITHIN GROUP
  /// Written in SQL's own syntax (EXTRACT, TRIM, SUBSTRING … FROM, AT TIME ZONE, OVERLAPS …); `name` is then
  /// pg_catalog's function and the arguments are in its order.
  bool sql_syntax = false;
  std::vector<SortKey> order_by;
  ExpressionPtr filter;                          // may be null
  std::unique_ptr<const WindowDefinition> over;  // OVER w or OVER (…); null: no window
};

/// `left op right`; a prefix operator has no left. The name is qualified only by OPERATOR(schema.op).
struct OperatorCall {
  QualifiedName name;
  ExpressionPtr left;  // null: prefix operator
  ExpressionPtr right;
};

/// `left op ANY (array)` and `left op ALL (array)`.
struct ArrayComparison {
  QualifiedName name;
  bool all = false;
  ExpressionPtr left;
  ExpressionPtr array;
};

/// `left IS [NOT] DISTINCT FROM right`; negated: NOT DISTINCT.
struct DistinctFrom {
  bool negated = false;
  ExpressionPtr left;
  ExpressionPtr right;
};

struct NullIf {
  ExpressionPtr left;
  ExpressionPtr right;
};

/// `argument [NOT] IN (items)`; a subquery there is a SubLink.
struct InList {
  bool negated = false;
  ExpressionPtr argument;
  Expressions items;
};

enum class LikeKind { kLike, kILike, kSimilarTo };

struct Like {
  LikeKind kind = LikeKind::kLike;
  bool negated = false;
  ExpressionPtr argument;
  ExpressionPtr pattern;
  ExpressionPtr escape;  // may be null
};

struct Between {
  bool negated = false;
  bool symmetric = false;
  ExpressionPtr argument;
  ExpressionPtr low;
  ExpressionPtr high;
};

/// Two or more arguments: `a AND b AND c` is one And.
struct And {
  Expressions arguments;
};
struct Or {
  Expressions arguments;
};
struct Not {
  ExpressionPtr argument;
};

struct NullTest {
  bool negated = false;  // IS NOT NULL
  ExpressionPtr argument;
};

enum class TruthValue { kTrue, kFalse, kUnknown };

/// `argument IS [NOT] TRUE|FALSE|UNKNOWN`.
struct BooleanTest {
  bool negated = false;
  TruthValue value = TruthValue::kTrue;
  ExpressionPtr argument;
};

struct CaseWhen {
  ExpressionPtr condition;  // or the value compared with Case::argument
  ExpressionPtr result;
  std::uint32_t offset = 0;
};

struct Case {
  ExpressionPtr argument;  // null: searched CASE
  std::vector<CaseWhen> whens;
  ExpressionPtr otherwise;  // null: no ELSE
};

struct Coalesce {
  Expressions arguments;
};

struct MinMax {
  bool greatest = false;  // else LEAST
  Expressions arguments;
};

/// CAST(x AS t), x::t, t 'literal'.
struct TypeCast {
  ExpressionPtr argument;
  TypeName type;
};

struct Collate {
  ExpressionPtr argument;
  QualifiedName collation;
};

enum class SubLinkKind { kExists, kScalar, kArray, kAny, kAll };

/// A subquery in an expression. `x IN (SELECT …)` is kAny with an empty operator; NOT IN is Not around it.
struct SubLink {
  SubLinkKind kind = SubLinkKind::kScalar;
  ExpressionPtr test;           // kAny and kAll only; a Row for row-wise comparison
  QualifiedName operator_name;  // kAny and kAll; empty: IN
  QueryPtr query;
};

/// ROW(a, b) or, implicitly, (a, b).
struct Row {
  Expressions items;
  bool explicit_row = false;
};

/// ARRAY[a, b]; nested brackets are nested ArrayLiterals.
struct ArrayLiteral {
  Expressions items;
};

struct FieldStep {
  std::string name;
};
struct StarStep {};
struct SubscriptStep {
  ExpressionPtr index;
};
struct SliceStep {
  ExpressionPtr lower;  // may be null: [:n]
  ExpressionPtr upper;  // may be null: [n:]
};
using IndirectionStep = std::variant<FieldStep, StarStep, SubscriptStep, SliceStep>;

/// `base[1].field[2:3]`, `(base).*`.
struct Indirection {
  ExpressionPtr base;
  std::vector<IndirectionStep> steps;
};

enum class ValueFunction {
  kCurrentDate,
  kCurrentTime,
  kCurrentTimestamp,
  kLocalTime,
  kLocalTimestamp,
  kCurrentRole,
  kCurrentUser,
  kUser,
  kSessionUser,
  kCurrentCatalog,
  kCurrentSchema
};

/// current_date, current_timestamp(3), current_user … : functions without parentheses.
struct SqlValueFunction {
  ValueFunction function = ValueFunction::kCurrentDate;
  std::optional<std::int32_t> precision;
};

/// grouping(a, b).
struct GroupingCall {
  Expressions arguments;
};

/// DEFAULT in VALUES or SET.
struct DefaultValue {};

/// WHERE CURRENT OF cursor.
struct CurrentOf {
  std::string cursor;
};

struct Expression {
  /// The offset of the token that names the construct: the operator, the function's name, the column, CASE … (PostgreSQL's `location`).
  std::uint32_t offset = 0;
  /// The offset of the leftmost token, which PostgreSQL's exprLocation() reports: "argument of WHERE must be type boolean".
  std::uint32_t start = 0;
  std::variant<NullLiteral, BooleanLiteral, IntegerLiteral, NumericLiteral, StringLiteral, BitStringLiteral, ColumnRef,
               ParameterRef, FunctionCall, OperatorCall, ArrayComparison, DistinctFrom, NullIf, InList, Like, Between,
               And, Or, Not, NullTest, BooleanTest, Case, Coalesce, MinMax, TypeCast, Collate, SubLink, Row,
               ArrayLiteral, Indirection, SqlValueFunction, GroupingCall, DefaultValue, CurrentOf>
      node;
};

}  // namespace redquel::parser::ast
