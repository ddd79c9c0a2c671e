#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parser/ast.h"
#include "planner/bind/bind.h"
#include "planner/bind/parameter_types.h"
#include "planner/bind/requirements.h"
#include "planner/bind/variable_scope.h"
#include "sql/expressions/coerce.h"
#include "sql/functions/resolve.h"
#include "sql/relation_sizes.h"

namespace redquel::planner {

/// The arguments of a call of an SQL function, as its body sees them.
struct FunctionScope {
  const sql::FunctionDef* definition = nullptr;
  std::vector<sql::ExpressionPtr> arguments;  // parallel to its parameters, in their types
  const FunctionScope* outer = nullptr;       // the function that calls it
};

/// The state that all query levels of one statement share while it is bound.
class BindState {
 public:
  BindState(const sql::CatalogSnapshot& catalog, const BindSettings& settings, std::vector<sql::Type> declared_types,
            std::uint32_t first_slot);

  const sql::CatalogSnapshot& catalog;
  const BindSettings& settings;
  ParameterTypes parameters;
  /// Expressions that the catalog stores have offsets of their own text: they mean nothing to the client.
  bool keeps_positions = true;
  /// The WITH clause of the statement itself: the only one whose queries may write.
  const parser::ast::WithClause* statement_with = nullptr;
  /// The function whose body is being bound; null: none.
  const FunctionScope* function = nullptr;
  /// The variables that names may mean; null: none.
  const VariableScope* variables = nullptr;
  /// The uses in the statement's own text; null inside stored texts, and if they are not collected.
  NameUses* names = nullptr;
  /// The function in whose body the statement stands; `function` begins with it.
  std::unique_ptr<const FunctionScope> statement_function;
  /// COLLATE is written somewhere, or columns with a collation of their own are read: expressions are checked for conflicts.
  bool has_collations = false;
  /// The depth of expressions that are being bound within each other.
  std::size_t expression_depth = 0;
  /// The rights that the statement needs, and the role as which its parts are bound.
  RequirementList requirements;
  /// For another role the plan might be another one.
  bool depends_on_role = false;
  /// Names with a schema are those of the statement's own text: the role needs USAGE on the schema.
  bool checks_schemas = true;
  /// Tables whose policies' subqueries are being bound.
  std::vector<sql::Oid> policy_tables;
  /// Volatile functions are run for the statement.
  bool runs_functions = false;
  /// By functions that return sizes.
  sql::SizesAsked sizes_asked = sql::SizesAsked::kNone;
  /// Name of the first column of each bound subquery: the default name of `SELECT (SELECT …)`.
  std::map<const parser::ast::SubLink*, std::string> subquery_names;
  /// The fields of columns of type record whose rows were made where all of them are known: `(q.r).f1` over
  /// `(SELECT ROW(1, 2) AS r) q`.
  std::map<ColumnId, std::vector<sql::ResultColumn>> record_fields;

  ColumnId new_column() { return next_column_++; }
  ColumnId next_column() const { return next_column_; }
  /// A parameter slot of the planner's own, after those of $1….
  std::uint32_t new_slot() { return next_slot_++; }
  std::uint32_t next_slot() const { return next_slot_; }
  std::uint32_t first_slot() const { return first_slot_; }

  /// The role whose rights count for the part that is being bound: that of the session, or the owner of the view around it.
  sql::Oid bound_role() const { return requirements.bound_as.value_or(settings.role); }

  std::optional<std::uint32_t> position(std::uint32_t offset) const {
    return keeps_positions ? std::optional<std::uint32_t>(offset) : std::nullopt;
  }
  /// Trees of stored queries that bound parts refer to while the statement is bound.
  void keep_alive(std::shared_ptr<const void> tree) { trees_.push_back(std::move(tree)); }
  /// Counts one bound query: inlined WITH queries can double at every step. 54000 beyond a bound.
  void count_query();

 private:
  ColumnId next_column_ = 0;
  std::uint32_t first_slot_, next_slot_;
  std::size_t queries_ = 0;
  std::vector<std::shared_ptr<const void>> trees_;
};

/// sql::coerce, and a parameter of unknown type takes the target's. 42846 where there is no such cast.
sql::ExpressionPtr coerce(BindState&, const sql::ExpressionPtr&, sql::Type target, sql::CastContext,
                          std::optional<std::uint32_t> offset = {});
/// nullptr where there is no such cast.
sql::ExpressionPtr try_coerce(BindState&, const sql::ExpressionPtr&, sql::Type target, sql::CastContext);
/// 42804 "argument of WHERE must be type boolean, not type integer".
sql::ExpressionPtr coerce_to_boolean(BindState&, const sql::ExpressionPtr&, std::string_view construct);
/// Unknown literals and parameters that no context has typed become text, as in a select list.
sql::ExpressionPtr resolve_unknown(BindState&, const sql::ExpressionPtr&);
inline bool is_unknown(const sql::Expression& expression) { return expression.type.oid == sql::oid::kUnknown; }

/// The type of CASE, UNION … over these (42804 "CASE types integer and text cannot be matched").
sql::Type common_type(const std::vector<sql::ExpressionPtr>&, std::string_view construct);
/// An operand of such a construct in the type of all of them.
sql::ExpressionPtr in_common_type(BindState&, const sql::ExpressionPtr&, sql::Type common);
/// Returns the operator for these types, perhaps that of an extension in the search path. 42883, 42725.
sql::ResolvedFunction resolve_any_operator(BindState&, std::string_view name, std::optional<sql::Type> left, sql::Type right,
                                           std::optional<std::uint32_t> offset);
/// `left name right` with the overload chosen and the operands converted; a prefix operator has no left. 42883, 42725.
sql::ExpressionPtr make_operator(BindState&, std::string_view name, const sql::ExpressionPtr& left,
                                 const sql::ExpressionPtr& right, std::optional<std::uint32_t> offset);
/// 54001 when an expression that must appear several times has grown out of proportion (nested BETWEEN SYMMETRIC).
void check_repeatable(const sql::Expression&);

inline sql::ExpressionPtr make_boolean(sql::Logical::Kind kind, std::vector<sql::ExpressionPtr> operands,
                                       std::optional<std::uint32_t> offset = {}) {
  return sql::make_expression(sql::kBool, sql::Logical{kind, std::move(operands)}, offset);
}

}  // namespace redquel::planner
