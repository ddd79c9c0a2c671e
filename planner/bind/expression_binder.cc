#include "planner/bind/expression_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "parser/deparse.h"
#include "planner/bind/bind_type.h"
#include "planner/bind/collation.h"
#include "planner/bind/domain.h"
#include "planner/bind/missing_name.h"
#include "planner/bind/name_lookup.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/relation_lookup.h"
#include "planner/bind/row_shape.h"
#include "planner/bind/sql_function.h"
#include "planner/bind/variable_lookup.h"
#include "sql/error.h"
#include "sql/interrupts.h"
#include "sql/functions/polymorphic.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/array_value.h"
#include "sql/types/bit_string.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

constexpr std::array<std::string_view, 6> kSystemColumns = {"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"};

/// An integer constant has the smallest of int4, int8 and numeric that holds it.
ExpressionPtr number_constant(std::string_view text, std::optional<std::uint32_t> offset) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) {
    if (value >= INT32_MIN && value <= INT32_MAX) {
      return sql::make_expression(sql::kInt4, sql::Constant{static_cast<std::int32_t>(value)}, offset);
    }
    return sql::make_expression(sql::kInt8, sql::Constant{value}, offset);
  }
  return sql::make_expression(sql::kNumeric, sql::Constant{sql::parse_value(sql::kNumeric, text, {})}, offset);
}

}  // namespace

bool is_collatable(sql::Type type) {
  const sql::Oid value = sql::is_array_type(type.oid) ? sql::type_info(type.oid).element : type.oid;
  return sql::type_info(value).category == sql::TypeCategory::kString || value == sql::oid::kUnknown;
}

ExpressionPtr ExpressionBinder::bind(const ast::Expression& expression) {
  sql::check_stack_depth();
  sql::note_analysis();
  if (known_ != nullptr && !known_->empty()) {
    const auto found = std::ranges::find(*known_, parser::to_sql(expression), [](const auto& known) { return known.first; });
    if (found != known_->end()) return found->second;
  }
  return with_derived_collation(std::visit([&](const auto& kind) { return node(kind, expression); }, expression.node));
}

ExpressionPtr ExpressionBinder::bind_boolean(const ast::Expression& expression, std::string_view construct) {
  return coerce_to_boolean(state_, bind(expression), construct);
}

ExpressionBinder::Operands ExpressionBinder::bind_all(const ast::Expressions& expressions) {
  Operands bound;
  bound.reserve(expressions.size());
  for (const ast::ExpressionPtr& expression : expressions) bound.push_back(bind(*expression));
  return bound;
}

// ---- literals
// ---------------------------------------------------------------------------------------------------------------

ExpressionPtr ExpressionBinder::node(const ast::NullLiteral&, const Whole& whole) {
  return sql::make_expression(sql::kUnknown, sql::Constant{}, start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::BooleanLiteral& literal, const Whole& whole) {
  return sql::make_expression(sql::kBool, sql::Constant{literal.value}, start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::IntegerLiteral& literal, const Whole& whole) {
  return sql::make_expression(sql::kInt4, sql::Constant{literal.value}, start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::NumericLiteral& literal, const Whole& whole) {
  return number_constant(literal.text, start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::StringLiteral& literal, const Whole& whole) {
  return sql::make_expression(sql::kUnknown, sql::Constant{literal.value}, start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::BitStringLiteral& literal, const Whole& whole) {
  try {
    return sql::make_expression(sql::kBit, sql::Constant{sql::parse_bits(literal.text)}, start(whole));
  } catch (SqlError& error) {
    error.set_position(start(whole));
    throw;
  }
}

namespace {

/// Definitions call parameters by their names, and by the function's where a name might be a column's.
bool sees_relations(const QueryLevel& level) {
  return !level.range_table.empty() || (level.outer != nullptr && sees_relations(*level.outer));
}

void note_parameter(NameUses* names, const ast::ColumnRef& reference, std::string_view parameter, const sql::FunctionDef& function,
                    const QueryLevel& level) {
  if (names != nullptr) names->columns[&reference] = NameUses::parameter_use(function, parameter, sees_relations(level));
}

void note_parameter(NameUses& names, const ast::ParameterRef& reference, const sql::FunctionDef& function, const QueryLevel& level) {
  std::int32_t number = 0;
  for (const sql::FunctionDef::Parameter& parameter : function.parameters) {
    if (parameter.mode == sql::FunctionDef::Parameter::Mode::kOut || ++number != reference.number) continue;
    if (!parameter.name.empty()) names.parameters[&reference] = NameUses::parameter_use(function, parameter.name, sees_relations(level));
    return;
  }
}

}  // namespace

ExpressionPtr ExpressionBinder::node(const ast::ParameterRef& parameter, const Whole& whole) {
  if (state_.variables != nullptr && state_.variables->numbers_are_variables) return numbered_variable(*state_.variables, parameter.number);
  if (state_.function != nullptr) {
    const ExpressionPtr value = function_parameter(*state_.function, parameter.number, start(whole));
    if (state_.names != nullptr) note_parameter(*state_.names, parameter, *state_.function->definition, level_);
    return with_offset(value, start(whole));
  }
  return state_.parameters.reference(parameter.number, start(whole));
}

// ---- names
// ------------------------------------------------------------------------------------------------------------------

ExpressionPtr ExpressionBinder::use(const ExpressionPtr& value, QueryLevel& level,
                                    std::optional<std::uint32_t> offset) {
  ExpressionPtr located = with_offset(value, offset);
  if (&level == &level_) return located;
  return correlate(state_, *level.frames.back(), located);
}

namespace {

/// Definitions cannot speak of what changes with every version of a row.
void check_system_column(Clause clause, std::string_view name, std::optional<std::uint32_t> offset) {
  const bool is_index = clause == Clause::kIndexExpression || clause == Clause::kIndexPredicate;
  if (std::ranges::find(kSystemColumns, name) == kSystemColumns.end() || (name == "tableoid" && !is_index)) return;
  if (is_index) throw SqlError(sqlstate::kFeatureNotSupported, "index creation on system columns is not supported");
  if (clause == Clause::kCheck) {
    throw SqlError(sqlstate::kInvalidColumnReference, fmt::format("system column \"{}\" reference in check constraint is invalid", name))
        .at(offset);
  }
  if (clause == Clause::kGenerated) {
    throw SqlError(sqlstate::kInvalidColumnReference, fmt::format("cannot use system column \"{}\" in column generation expression", name))
        .at(offset);
  }
}

}  // namespace

ExpressionPtr ExpressionBinder::node(const ast::ColumnRef& column, const Whole& whole) {
  const std::optional<std::uint32_t> offset = start(whole);
  if (level_.clause == Clause::kDefault) {
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot use column reference in DEFAULT expression").at(offset);
  }
  if (state_.variables != nullptr) {
    if (const ExpressionPtr variable = variable_value(column, offset)) return variable;
  }
  const ColumnName name = split_column_name(state_, column.names, column.star, offset);
  check_system_column(level_.clause, name.column, offset);
  if (column.star) {
    const auto found = find_relation(state_, level_, name.schema, name.relation, offset);
    if (!found) {
      if (const ExpressionPtr row = parameter_row(name)) return with_offset(row, offset);
      throw_missing_relation(state_, level_, name.schema, name.relation, offset);
    }
    return relation_value(column, *found, offset);
  }
  if (name.relation.empty()) {
    if (const auto found = find_column(level_, name.column, offset)) {
      if (state_.names != nullptr) state_.names->note_column(column, *found->relation, name.column, *found->level);
      mark_read(*found->relation, name.column);
      return use(found->value, *found->level, offset);
    }
    if (state_.function != nullptr) {
      if (const ExpressionPtr value = function_parameter(*state_.function, {}, name.column)) {
        note_parameter(state_.names, column, name.column, *state_.function->definition, level_);
        return with_offset(value, offset);
      }
    }
    if (const auto found = find_relation(state_, level_, {}, name.column, offset))
      return relation_value(column, *found, offset);
  } else {
    const auto found = find_relation(state_, level_, name.schema, name.relation, offset);
    if (!found && state_.function != nullptr && name.schema.empty()) {
      if (const ExpressionPtr value = function_parameter(*state_.function, name.relation, name.column)) {
        note_parameter(state_.names, column, name.column, *state_.function->definition, level_);
        return with_offset(value, offset);
      }
    }
    if (const ExpressionPtr row = found ? nullptr : parameter_row(name)) return select_field(row, std::string(name.column), offset);
    if (!found) throw_missing_relation(state_, level_, name.schema, name.relation, offset);
    if (const ExpressionPtr value = find_in_relation(*found->relation, name.column, offset)) {
      if (state_.names != nullptr) state_.names->note_column(column, *found->relation, name.column, *found->level);
      mark_read(*found->relation, name.column);
      return use(value, *found->level, offset);
    }
    if (const ExpressionPtr value = function_of_row(column, whole)) return value;
  }
  const bool has_table = std::ranges::any_of(level_.range_table, [](const RelationPtr& relation) { return relation->table != nullptr; });
  if (std::ranges::find(kSystemColumns, name.column) != kSystemColumns.end() && has_table) {
    throw sql::not_supported(fmt::format("system column {}", name.column), offset)
        .hint("Rows have no versions. xmin is computed from the values of a row and shows whether it has changed.");
  }
  throw_missing_column(level_, name.relation, name.column, offset);
}

ExpressionPtr ExpressionBinder::parameter_row(const ColumnName& name) {
  if (state_.function == nullptr) return nullptr;
  ExpressionPtr row = function_parameter(*state_.function, name.schema, name.relation);
  return row && sql::is_row_type(row->type.oid) ? row : nullptr;
}

// ---- casts and collations
// ---------------------------------------------------------------------------------------------------

namespace {

/// The table whose row type is meant, where that is no type (row_types.h): a type of that name comes first.
sql::CatalogSnapshot::TablePtr row_type_table(const sql::CatalogSnapshot& catalog, const ast::TypeName& name,
                                              const std::vector<std::string>& search_path) {
  if (name.names.size() > 2 || !name.array_bounds.empty() || !name.modifiers.empty() || name.percent_type) return nullptr;
  const std::string_view schema = name.names.size() == 2 ? std::string_view(name.names[0]) : std::string_view();
  if (schema == "pg_catalog" || (schema.empty() && sql::find_type(name.names[0]) != nullptr)) return nullptr;
  if (catalog.find_user_type(schema, name.names.back(), search_path)) return nullptr;
  const auto table = catalog.find_table(schema, name.names.back(), search_path);
  return table && table->row_array != 0 ? nullptr : table;
}

}  // namespace

ExpressionPtr ExpressionBinder::node(const ast::TypeCast& cast, const Whole& whole) {
  const auto [type, domain] = declared_type(state_, cast.type);
  if (const auto table = row_type_table(state_.catalog, cast.type, state_.settings.search_path)) {
    return table_row(state_, *table, bind(*cast.argument), token(whole));
  }
  if (state_.names != nullptr) {
    const sql::Type shown = domain == 0 ? type : sql::Type{domain};
    state_.names->cast_types[&cast] = {type_in_words(shown), shown.modifier >= 0, domain != 0};
  }
  const auto* literal = std::get_if<ast::ArrayLiteral>(&cast.argument->node);
  const bool literal_of_type = literal != nullptr && sql::is_array_type(type.oid) && !sql::is_vector_type(type.oid);
  ExpressionPtr operand = literal_of_type ? array_literal(*literal, sql::array_under(type), *cast.argument) : bind(*cast.argument);
  if (domain != 0 && ParameterTypes::is_undecided(*operand)) operand = state_.parameters.decide(operand, sql::Type{domain});
  // A polymorphic type means that of the value, where it is one that it can stand for.
  if (sql::is_polymorphic(type.oid) && !is_unknown(*operand)) {
    const sql::Oid given[] = {operand->type.oid}, declared[] = {type.oid};
    if (sql::match_polymorphic(declared, given)) return with_offset(operand, start(whole));
    throw SqlError(sqlstate::kCannotCoerce, fmt::format("cannot cast type {} to {}", sql::format_type(sql::Type{given[0]}), sql::format_type(type)))
        .at(token(whole));
  }
  const ExpressionPtr value = with_offset(coerce(state_, operand, type, sql::CastContext::kExplicit, token(whole)), start(whole));
  if (state_.names != nullptr) {
    parser::QueryNames::CastType& shown = state_.names->cast_types.at(&cast);
    const auto* converted = std::get_if<sql::CastCall>(&value->node);
    shown.is_call = converted != nullptr && (converted->method == sql::CastCall::Method::kFunction || converted->method == sql::CastCall::Method::kModifier);
    shown.is_nothing = domain == 0 && literal == nullptr && operand->type.oid == type.oid && (type.modifier < 0 || operand->type == type);
  }
  return into_domain(state_.catalog, state_.settings, *operand, value, domain);
}

ExpressionPtr ExpressionBinder::node(const ast::Collate& collate, const Whole& whole) {
  ExpressionPtr operand = bind(*collate.argument);
  const auto offset = token(whole);
  if (!is_collatable(operand->type)) {
    throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("collations are not supported by type {}", sql::format_type(operand->type)))
        .at(offset);
  }
  const bool plain = collate.collation.size() == 1 || collate.collation[0] == "pg_catalog";
  const sql::Oid known = plain ? find_collation(collate.collation.back()) : 0;
  if (known == 0) {
    throw SqlError(sqlstate::kUndefinedObject,
                   fmt::format("collation \"{}\" for encoding \"UTF8\" does not exist", fmt::join(collate.collation, ".")))
        .at(offset);
  }
  return with_offset(with_collation(resolve_unknown(state_, operand), {sql::Collation::Strength::kExplicit, known}), offset);
}

// ---- what has no place in a scalar expression, or is not built
// --------------------------------------------------------------

ExpressionPtr ExpressionBinder::node(const ast::DefaultValue&, const Whole& whole) {
  throw SqlError(sqlstate::kSyntaxError, "DEFAULT is not allowed in this context").at(start(whole));
}

ExpressionPtr ExpressionBinder::node(const ast::CurrentOf&, const Whole& whole) {
  throw sql::not_supported("WHERE CURRENT OF", start(whole));
}

}  // namespace redquel::planner
