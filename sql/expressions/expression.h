#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql/datum.h"
#include "sql/functions/function.h"
#include "sql/types/type.h"

namespace redquel::sql {

struct Expression;
class ConstantSet;
/// Bound expressions are immutable and shared between plans.
using ExpressionPtr = std::shared_ptr<const Expression>;

struct Constant {
  Datum value;
};

/// A column of the input. While planning, `column` is the query-wide id of the column; in a physical plan it is the
/// position in the input batch (`map_columns` turns one into the other).
struct ColumnRef {
  std::uint32_t column;
  std::string name;  // for EXPLAIN and messages
};

/// Slot of EvaluationContext::parameters, from 0: $1 is slot 0.
struct ParameterRef {
  std::uint32_t slot;
};

struct FunctionCall {
  const ScalarFunction* function;
  std::vector<ExpressionPtr> arguments;
};

/// To the expression's type. `function` is null for I/O conversions (through the text form) and relabelling.
struct CastCall {
  enum class Method : std::uint8_t { kFunction, kRelabel, kInputOutput, kModifier };
  Method method;
  const CastFunction* function = nullptr;
  bool is_explicit = false;  // explicit casts to varchar(n) truncate, assignments refuse
  ExpressionPtr operand;
};

struct Logical {
  enum class Kind : std::uint8_t { kAnd, kOr, kNot };
  Kind kind;
  std::vector<ExpressionPtr> operands;
};

struct NullTest {
  ExpressionPtr operand;
  bool negated;  // IS NOT NULL
};

/// IS [NOT] TRUE | FALSE | UNKNOWN
struct BooleanTest {
  enum class Kind : std::uint8_t { kTrue, kFalse, kUnknown };
  Kind kind;
  bool negated;
  ExpressionPtr operand;
};

/// Both forms of CASE; the simple form is bound as `operand = when`. Branches are evaluated only for the rows that
/// reach them.
struct CaseCall {
  struct Branch {
    ExpressionPtr condition, result;
  };
  std::vector<Branch> branches;
  ExpressionPtr otherwise;  // never null: ELSE NULL is a constant
};

struct CoalesceCall {
  std::vector<ExpressionPtr> arguments;
};

struct GreatestLeast {
  bool greatest;
  std::vector<ExpressionPtr> arguments;
};

/// a IS [NOT] DISTINCT FROM b; `equal` is the operator = of the operands' type.
struct DistinctTest {
  const ScalarFunction* equal;
  ExpressionPtr left, right;
  bool negated;  // IS NOT DISTINCT FROM
};

struct NullIfCall {
  const ScalarFunction* equal;
  ExpressionPtr left, right;
};

/// operand [NOT] IN (list) with operands of one type; `equal` is its operator =.
struct InListTest {
  const ScalarFunction* equal;
  ExpressionPtr operand;
  std::vector<ExpressionPtr> list;
  bool negated;
  /// Made by `fold_constants` of a long list of constants: where the rows look instead of comparing one by one.
  std::shared_ptr<const ConstantSet> constants = nullptr;
};

/// operand op ANY (array) or op ALL (array): over the elements of an array that is only known when rows are there.
/// `element` is the type of its elements, op's right operand.
struct ArrayTest {
  const ScalarFunction* comparison;
  Type element;
  ExpressionPtr operand, array;
  bool all;
};

/// A value on its way into a domain, of the domain's base type, or into a type whose values hold values of domains: 23502, 23514 where
/// a domain does not allow it. A condition sees the value as column 0 of a batch of its own, a part's test the elements or fields.
struct DomainTest {
  struct Check {
    std::string name;
    ExpressionPtr condition;
  };
  /// A part of an array is each of its elements, a part of a row the field at that place.
  struct Part {
    std::size_t field = 0;
    ExpressionPtr test;  // a DomainTest of column 0
  };
  std::string schema, domain;
  bool not_null = false;
  std::vector<Part> parts;
  std::vector<Check> checks;
  ExpressionPtr operand;
};

/// The collation that a value's order is known to have at bind time (manual 24.2.1).
struct Collation {
  enum class Strength : std::uint8_t { kNone, kImplicit, kConflict, kExplicit };  // kConflict: of several implicit ones
  Strength strength = Strength::kNone;
  Oid oid = 0;  // of pg_collation; 0: the database's
  Oid other = 0;  // kConflict: the one that `oid` conflicts with
};

struct Expression {
  using Node = std::variant<Constant, ColumnRef, ParameterRef, FunctionCall, CastCall, Logical, NullTest, BooleanTest,
                            CaseCall, CoalesceCall, GreatestLeast, DistinctTest, NullIfCall, InListTest, ArrayTest, DomainTest>;
  Type type;
  Node node;
  std::optional<std::uint32_t> offset;  // byte offset in the statement, for errors found at run time by the planner
  Collation collation = {};             // as the binder derived it; nothing else looks at it
};

template <class Node>
ExpressionPtr make_expression(Type type, Node node, std::optional<std::uint32_t> offset = {}) {
  return std::make_shared<const Expression>(Expression{type, Expression::Node(std::move(node)), offset});
}
ExpressionPtr make_constant(Type type, Datum value);
ExpressionPtr make_column(Type type, std::uint32_t column, std::string name);
/// AND of the conditions; null pointer when there is none, the condition itself when there is one.
ExpressionPtr conjunction(std::vector<ExpressionPtr> conditions);
/// The conditions that a (possibly nested) AND is made of.
std::vector<ExpressionPtr> split_conjunction(const ExpressionPtr& condition);

/// The direct children in order of evaluation.
void for_each_child(const Expression&, const std::function<void(const ExpressionPtr&)>&);
/// A copy whose direct children are what `change` makes of them (the same object where nothing changes).
ExpressionPtr map_children(const ExpressionPtr&, const std::function<ExpressionPtr(const ExpressionPtr&)>& change);
/// A copy with every ColumnRef replaced.
ExpressionPtr map_columns(const ExpressionPtr&,
                          const std::function<ExpressionPtr(const Expression&, const ColumnRef&)>& change);
void collect_columns(const Expression&, std::vector<std::uint32_t>& columns);
/// Neither columns nor parameters nor stable/volatile functions.
bool is_foldable(const Expression&);
bool is_volatile(const Expression&);
bool references_parameters(const Expression&);
/// Structural equality, as GROUP BY needs it.
bool equal(const Expression&, const Expression&);
std::size_t hash(const Expression&);
/// Returns the text that EXPLAIN prints: `(dept = 7) AND (salary > $1)`.
std::string to_string(const Expression&);

}  // namespace redquel::sql
