#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/tree/logical_plan.h"
#include "planner/tree/table_read.h"
#include "sql/catalog/catalog.h"
#include "sql/expressions/expression.h"

namespace redquel::planner {

/// A condition on one column that an index structure may answer. Values hold neither columns nor volatile functions; they are in
/// the column's type or, for integer columns, in any integer type.
struct ColumnCondition {
  enum class Kind : std::uint8_t { kEqual, kNotEqual, kIn, kLess, kLessEqual, kGreater, kGreaterEqual, kIsNull, kIsNotNull, kPrefix, kEntries };
  Kind kind;
  std::int16_t column;
  std::vector<sql::ExpressionPtr> values;  // kIn: the list; kIsNull, kIsNotNull, kPrefix: none; else one
  std::string prefix;                      // kPrefix
  bool exact = true;  // false: more rows satisfy it than the original condition (LIKE 'a%b', (a, b) > (1, 2) as a >= 1)
  std::optional<EntryCondition> entries = {};  // kEntries
};

/// Returns true for comparisons that the set of a value answers.
bool is_equality(ColumnCondition::Kind kind);
/// Returns true for comparisons that a range of an ordered index answers.
bool is_range(ColumnCondition::Kind kind);

/// A WHERE clause with negations pushed down to its leaves: what access paths are made of.
struct Condition {
  enum class Kind : std::uint8_t { kAnd, kOr, kColumn, kNotTrue, kOpaque };  // not true: the one operand is false or NULL
  Kind kind = Kind::kOpaque;  // opaque: no index can know
  std::vector<Condition> operands;
  ColumnCondition column;
};

/// Number of the table column that a column id stands for; nullopt: not a column of this scan.
using ColumnNumber = std::function<std::optional<std::int16_t>(ColumnId)>;
/// The number of a computed column that an expression is, or that stands for a column here; nullopt: it is none.
using ExpressionNumber = std::function<std::optional<std::int16_t>(const sql::Expression&)>;

/// Reads an expression as a condition over one scan's columns. Never fails: what it does not know is opaque.
Condition analyse_condition(const sql::Expression&, const sql::TableDef&, const ColumnNumber&, const ExpressionNumber& = {});
/// The AND of several.
Condition analyse_conditions(const std::vector<sql::ExpressionPtr>&, const sql::TableDef&, const ColumnNumber&,
                             const ExpressionNumber& = {});
/// The operands of an AND, or the condition itself.
const std::vector<Condition>& conjuncts(const Condition& condition, std::vector<Condition>& single);

/// No columns, not volatile: a value that is known when the statement starts.
bool is_run_time_constant(const sql::Expression&);

}  // namespace redquel::planner
