#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/bind/array_parts.h"
#include "planner/bind/query_level.h"
#include "planner/bind/row_shape.h"

namespace redquel::sql {
struct ResolvedFunction;
}

namespace redquel::planner {

struct ColumnName;
struct FoundRelation;
struct SqlFunctionCall;

/// Binds expressions of one query level: names become columns, calls get their overload, types meet. Subqueries and
/// aggregates stay in the level as pending ones. Spread over expression_binder.cc (names, literals, casts),
/// operator_binder.cc, conditional_binder.cc, function_binder.cc and sublink_binder.cc.
class ExpressionBinder {
 public:
  ExpressionBinder(BindState& state, QueryLevel& level) : state_(state), level_(level) {}

  /// The result may be of type unknown: an untyped literal or parameter.
  sql::ExpressionPtr bind(const parser::ast::Expression&);
  /// A condition: 42804 "argument of WHERE must be type boolean, not type …".
  sql::ExpressionPtr bind_boolean(const parser::ast::Expression&, std::string_view construct);
  /// `SELECT a, b …` where a row of `count` values is wanted: one value per column. `too_many` and `too_few` are the
  /// messages of 42601 at `offset`.
  std::vector<sql::ExpressionPtr> bind_row_subquery(const parser::ast::SubLink&, std::size_t count,
                                                    const std::string& too_many, const std::string& too_few,
                                                    std::optional<std::uint32_t> offset);
  /// The items of ROW(…) or of a list of VALUES, t.* as the columns of t. `keeps_default`: DEFAULT is a null pointer, as in
  /// UPDATE … SET (a, b) = (1, DEFAULT); else 42601.
  std::vector<sql::ExpressionPtr> row_items(const parser::ast::Expressions&, bool keeps_default = false);
  /// The row that a function's parameter is, as `parameter` or `function.parameter` names it; nullptr: there is none.
  sql::ExpressionPtr parameter_row(const ColumnName&);
  /// The variable that the name means, where it does not mean a column; null: none. 42702 where it may mean both.
  sql::ExpressionPtr variable_value(const parser::ast::ColumnRef& column, std::optional<std::uint32_t> offset);
  /// The fields of `(row).*`. 42809; 0A000 for records of which nothing is known.
  std::vector<RowField> expanded_row(const parser::ast::Indirection&, std::optional<std::uint32_t> offset);
  /// Subscripts and slices that follow each other. 42804, 54000.
  ArraySubscripts array_subscripts(std::span<const parser::ast::IndirectionStep> steps);
  /// (row).field. 42809, 42703; 0A000 for records of which nothing is known.
  sql::ExpressionPtr select_field(const sql::ExpressionPtr& row, const std::string& field, std::optional<std::uint32_t> offset);
  /// Values that were bound before, by their text. An expression that is written as one of them is the same value: bound again, its
  /// subqueries would be others. `known` outlives the binder.
  using KnownValues = std::vector<std::pair<std::string, sql::ExpressionPtr>>;
  void repeat(const KnownValues& known) { known_ = &known; }
  /// `function(arguments)` with arguments that are bound already. `shown`: as in sql::resolve_function().
  sql::ExpressionPtr call(std::string_view function, std::vector<sql::ExpressionPtr> arguments, std::optional<std::uint32_t> offset,
                          std::string_view shown = {});

 private:
  using Whole = parser::ast::Expression;
  using Operands = std::vector<sql::ExpressionPtr>;

  sql::ExpressionPtr node(const parser::ast::NullLiteral&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::BooleanLiteral&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::IntegerLiteral&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::NumericLiteral&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::StringLiteral&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::BitStringLiteral&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::ColumnRef&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::ParameterRef&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::TypeCast&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::Collate&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::Row&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::ArrayLiteral&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::Indirection&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::GroupingCall&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::DefaultValue&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::CurrentOf&, const Whole&);

  sql::ExpressionPtr node(const parser::ast::OperatorCall&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::ArrayComparison&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::DistinctFrom&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::InList&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::Like&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::Between&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::And&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::Or&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::Not&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::NullTest&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::BooleanTest&, const Whole&);

  sql::ExpressionPtr node(const parser::ast::NullIf&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::Case&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::Coalesce&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::MinMax&, const Whole&);

  sql::ExpressionPtr node(const parser::ast::FunctionCall&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::SqlValueFunction&, const Whole&);
  sql::ExpressionPtr node(const parser::ast::SubLink&, const Whole&);

  /// exprLocation of the expression, and the place of its own token.
  std::optional<std::uint32_t> start(const Whole& whole) const { return state_.position(whole.start); }
  std::optional<std::uint32_t> token(const Whole& whole) const { return state_.position(whole.offset); }

  /// A column of this or an outer level, as this level sees it.
  sql::ExpressionPtr use(const sql::ExpressionPtr& value, QueryLevel& level, std::optional<std::uint32_t> offset);
  Operands bind_all(const parser::ast::Expressions&);
  sql::ExpressionPtr call_resolved(const sql::ResolvedFunction&, Operands arguments, std::optional<std::uint32_t> offset);
  struct CallArguments {
    Operands values;            // in the order of the function's parameters; the keys of WITHIN GROUP come last
    sql::ExpressionPtr filter;  // nullptr: the call has no FILTER
  };
  /// Binds the arguments and the condition of FILTER, before the function is looked up: their errors come first.
  CallArguments bind_call_arguments(const parser::ast::FunctionCall&, std::string_view name, std::optional<std::uint32_t> offset);
  /// Returns nullptr if the call has no FILTER.
  sql::ExpressionPtr bind_filter(const parser::ast::FunctionCall&);
  /// Returns what a relation's name means as a value: a row, or the scalar that a function returns.
  sql::ExpressionPtr relation_value(const parser::ast::ColumnRef&, const FoundRelation&,
                                    std::optional<std::uint32_t> offset);
  /// A row of the relation as one value.
  sql::ExpressionPtr whole_row(const Relation&, bool null_extended, QueryLevel& level, std::optional<std::uint32_t> offset);
  /// The value behind the first `count` subscripts and fields.
  sql::ExpressionPtr follow_steps(const parser::ast::Indirection&, std::size_t count, std::optional<std::uint32_t> offset);
  /// t.f where f is a function in LANGUAGE sql over rows of t: f(t); null: it is none.
  sql::ExpressionPtr function_of_row(const parser::ast::ColumnRef&, const Whole&);
  sql::ExpressionPtr compare(std::string_view name, const sql::ExpressionPtr& left, const sql::ExpressionPtr& right,
                             std::optional<std::uint32_t> offset);
  /// Element by element, as the SQL standard defines =, <>, <, … of rows.
  sql::ExpressionPtr compare_rows(std::string_view name, const Operands& left, const Operands& right,
                                  std::optional<std::uint32_t> offset);
  sql::ExpressionPtr distinct_test(const sql::ExpressionPtr& left, const sql::ExpressionPtr& right, bool negated,
                                   const Whole&);
  /// The form of IN's list in PostgreSQL: items, an array of them, or an array that is written as one literal.
  enum class Listed : std::uint8_t { kItems, kArray, kLiteral };
  sql::ExpressionPtr in_list(const sql::ExpressionPtr& operand, const Operands& list, bool negated, const Whole&, Listed listed = Listed::kItems);
  Operands coerce_to_common(const Operands&, std::string_view construct, sql::Type& type);

  /// The right side of ANY and ALL: an untyped literal is an array over the left side's type. 42809.
  sql::ExpressionPtr bind_array(const parser::ast::Expression&, sql::Type operand, std::optional<std::uint32_t> offset);
  sql::ExpressionPtr array_test(const std::string& name, sql::ExpressionPtr operand, sql::ExpressionPtr array, bool all, const Whole&);
  /// `wanted`: the array type that a cast around it names.
  sql::ExpressionPtr array_literal(const parser::ast::ArrayLiteral&, std::optional<sql::Type> wanted, const Whole&);
  sql::ExpressionPtr array_subquery(PendingSubquery pending, const Whole&);

  sql::ExpressionPtr bind_aggregate(const parser::ast::FunctionCall&, const std::string& name, const Whole&);
  /// rank(…) WITHIN GROUP and its kin, made of counts.
  sql::ExpressionPtr bind_hypothetical_set(const parser::ast::FunctionCall&, const std::string& name, const Whole&);
  sql::ExpressionPtr add_aggregate(QueryLevel& owner, PendingAggregate pending, std::optional<std::uint32_t> offset);
  sql::ExpressionPtr bind_window_call(const parser::ast::FunctionCall&, const std::string& name, const Whole&);
  /// Calls that are no plain function; null: this is none of them.
  sql::ExpressionPtr bind_special_call(const parser::ast::FunctionCall&, const std::string& name, const Whole&);
  /// Returns the depth of nested set-returning calls.
  std::size_t set_returning_depth(const sql::Expression&) const;
  /// A call of a function in LANGUAGE sql; null: a built-in function is meant.
  sql::ExpressionPtr bind_call(const parser::ast::FunctionCall&, const Whole&);
  sql::ExpressionPtr bind_sql_call(const parser::ast::FunctionCall&, const Whole&);
  sql::ExpressionPtr bind_set_returning(const parser::ast::FunctionCall&, const std::string& name, const Whole&);
  sql::ExpressionPtr run_set_returning(const SqlFunctionCall&, const Whole&);
  /// The columns of a set-returning call as one value.
  sql::ExpressionPtr row_of_columns(sql::Type type, const std::vector<LogicalColumn>& columns, bool null_extended, const Whole&);
  /// Returns true if evaluation at this place can wait for a function whose body is run.
  bool runs_in_place() const;
  /// 0A000 "set-returning functions are not allowed in WHERE".
  void check_set_returning_allowed(const Whole&) const;
  /// Returns the node that runs the set-returning calls of that depth side by side; the arguments then read slots.
  PendingSubquery& pending_set_returning(const std::string& name, Operands& arguments);
  /// The level whose rows the aggregate runs over: that of the innermost column in it.
  QueryLevel& aggregate_level(const parser::ast::FunctionCall&);
  QueryLevel& grouping_level(const parser::ast::GroupingCall&);
  sql::ExpressionPtr add_subquery(PendingSubquery pending, std::optional<std::uint32_t> offset);
  Operands fields_of_row(PendingSubquery pending, const LogicalPtr& plan, std::optional<std::uint32_t> offset);
  void check_subquery_allowed(const Whole&) const;

  BindState& state_;
  QueryLevel& level_;
  const KnownValues* known_ = nullptr;
};

/// 42803 where a clause is computed before there are groups. `what`: "aggregate functions".
void check_aggregate_allowed(const QueryLevel&, std::string_view what, std::optional<std::uint32_t> offset);

/// Returns true if the type has a collation: text, varchar, char(n), name.
bool is_collatable(sql::Type type);

/// rank, dense_rank, percent_rank, cume_dist.
bool is_hypothetical_set(std::string_view function);
/// Returns true for mode and percentile_….
bool is_ordered_set(std::string_view aggregate);

/// Throws 42809 if the aggregate needs WITHIN GROUP and has none, or has one and takes none.
void check_within_group(const parser::ast::FunctionCall&, std::string_view name, std::optional<std::uint32_t> offset);
/// Throws 42809 if an aggregate is called without arguments and without *.
void check_star(const parser::ast::FunctionCall&, std::optional<std::uint32_t> offset);

/// Throws 0A000 or 42809 if the call of a window function has a part that only aggregates take.
void check_window_function_call(const parser::ast::FunctionCall&, std::optional<std::uint32_t> offset);

/// Throws 42809 if the call of a plain function has DISTINCT, ORDER BY, FILTER, OVER or another part that only aggregates take.
void check_plain_call(const parser::ast::FunctionCall&, std::optional<std::uint32_t> offset);

/// Returns the name for the function table: without pg_catalog, with any other schema in front ("redquel.check_indexes"). 3F000 if the
/// schema does not exist.
std::string function_name(const BindState&, const parser::ast::QualifiedName&, std::optional<std::uint32_t> offset);

}  // namespace redquel::planner
