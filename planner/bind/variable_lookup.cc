// Names of variables of a procedural language in SQL (manual 43.11.1).

#include "planner/bind/variable_lookup.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/expression_binder.h"
#include "planner/bind/name_lookup.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;
using Variable = VariableScope::Variable;

namespace {

/// Returns true if the names mean the variable or, with `field`, the field of it.
bool means(const Variable& variable, const std::vector<std::string>& names, bool is_field) {
  const std::size_t words = names.size() - (is_field ? 1 : 0);
  if (is_field ? variable.field != names.back() : !variable.field.empty()) return false;
  if (words == 1) return variable.name == names[0];
  return words == 2 && variable.block == names[0] && variable.name == names[1];
}

}  // namespace

ExpressionPtr variable_reference(const Variable& variable) {
  return sql::make_expression(variable.type, sql::ParameterRef{variable.parameter});
}

ExpressionPtr find_variable(const VariableScope& scope, const std::vector<std::string>& names, bool star) {
  if (names.empty() || names.size() > 3) return nullptr;
  for (const Variable& variable : scope.variables) {
    if (means(variable, names, false) || (!star && names.size() > 1 && means(variable, names, true))) return variable_reference(variable);
  }
  return nullptr;
}

ExpressionPtr numbered_variable(const VariableScope& scope, std::int32_t number) {
  if (const ExpressionPtr value = find_variable(scope, {fmt::format("${}", number)}, false)) return value;
  throw SqlError(sqlstate::kUndefinedParameter, fmt::format("there is no parameter ${}", number));
}

std::vector<const Variable*> fields_of_variable(const VariableScope& scope, const std::vector<std::string>& names) {
  std::vector<const Variable*> fields;
  for (const Variable& variable : scope.variables) {
    const bool is_same = names.size() == 1 ? variable.name == names[0] : names.size() == 2 && variable.block == names[0] && variable.name == names[1];
    const bool is_new = std::ranges::none_of(fields, [&](const Variable* other) { return other->field == variable.field; });
    if (is_same && is_new && !variable.field.empty()) fields.push_back(&variable);
  }
  std::ranges::stable_sort(fields, {}, &Variable::place);
  return fields;
}

ExpressionPtr ExpressionBinder::variable_value(const ast::ColumnRef& column, std::optional<std::uint32_t> offset) {
  const VariableScope& scope = *state_.variables;
  const std::vector<std::string>& names = column.names;
  const ExpressionPtr value = find_variable(scope, names, column.star);
  const bool is_record = !value && !column.star && names.size() == 2 && std::ranges::find(scope.records, names[0]) != scope.records.end();
  if (!value && !is_record) return nullptr;
  if (value && scope.conflict == VariableScope::Conflict::kVariable) return value;
  const ColumnName name = split_column_name(state_, names, column.star, offset);
  bool is_column = false;
  if (column.star) {
    is_column = find_relation(state_, level_, name.schema, name.relation, offset).has_value();
  } else if (name.relation.empty()) {
    is_column = find_column(level_, name.column, offset) || find_relation(state_, level_, {}, name.column, offset);
  } else {
    const auto found = find_relation(state_, level_, name.schema, name.relation, offset);
    is_column = found && find_in_relation(*found->relation, name.column, offset);
  }
  if (!is_column && is_record) {
    throw SqlError(sqlstate::kUndefinedColumn, fmt::format("record \"{}\" has no field \"{}\"", names[0], names[1]));
  }
  if (!is_column) return value;
  if (!value || scope.conflict == VariableScope::Conflict::kColumn) return nullptr;
  throw SqlError(sqlstate::kAmbiguousColumn, fmt::format("column reference \"{}\" is ambiguous", fmt::join(names, ".")))
      .detail("It could refer to either a PL/pgSQL variable or a table column.");
}

}  // namespace redquel::planner
