#include "planner/bind/bind_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/bind/name_uses.h"
#include "sql/error.h"
#include "sql/extensions/extension.h"
#include "sql/functions/candidates.h"
#include "sql/functions/object_names.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/text_io.h"

namespace redquel::planner {

using sql::CastContext;
using sql::ExpressionPtr;
using sql::SqlError;
using sql::Type;

namespace {

constexpr std::size_t kQueries = 10'000;
constexpr std::size_t kRepeatableNodes = 5'000;

void count_nodes(const sql::Expression& expression, std::size_t& left) {
  sql::check_stack_depth();
  if (left == 0) throw SqlError(sqlstate::kStatementTooComplex, "expression is too complex");
  --left;
  sql::for_each_child(expression, [&](const ExpressionPtr& child) { count_nodes(*child, left); });
}

}  // namespace

BindState::BindState(const sql::CatalogSnapshot& snapshot, const BindSettings& bind_settings,
                     std::vector<Type> declared_types, std::uint32_t first_slot)
    : catalog(snapshot),
      settings(bind_settings),
      parameters(std::move(declared_types), bind_settings.parameters),
      variables(bind_settings.variables.get()),
      names(bind_settings.names),
      first_slot_(first_slot),
      next_slot_(first_slot) {
  if (variables != nullptr) keeps_positions = false;
  if (!settings.function) return;
  std::vector<ExpressionPtr> arguments;
  for (const sql::FunctionDef::Parameter& parameter : settings.function->parameters) {
    arguments.push_back(sql::make_expression(parameter.type, sql::ParameterRef{static_cast<std::uint32_t>(arguments.size())}));
  }
  statement_function = std::make_unique<const FunctionScope>(FunctionScope{settings.function.get(), std::move(arguments), nullptr});
  function = statement_function.get();
  keeps_positions = names != nullptr;  // literals are noted by them
}

void BindState::count_query() {
  if (++queries_ > kQueries) throw SqlError(sqlstate::kProgramLimitExceeded, fmt::format("statement has more than {} queries", kQueries));
}

namespace {

/// Names of objects come as text: they are looked up when the statement runs.
Type parameter_type(Type wanted) { return sql::shows_object_names(wanted.oid) ? sql::kText : wanted; }

/// An untyped literal that names an object of the catalog, as its oid: 'emp'::regclass; or several, '{emp,dept}'::regclass[]. nullptr: it is
/// something else.
ExpressionPtr read_object_name(const BindState& state, const ExpressionPtr& expression, Type target) {
  const auto* constant = std::get_if<sql::Constant>(&expression->node);
  if (!is_unknown(*expression) || constant == nullptr || sql::is_null(constant->value)) return nullptr;
  sql::EvaluationContext context;
  context.settings = &state.settings.session;
  context.user = state.checks_schemas ? state.settings.user : std::string(sql::kBootstrapRole);  // stored texts may name any schema
  context.database = state.settings.database;
  context.search_path = state.settings.search_path;
  context.catalog = &state.catalog;
  try {
    if (!sql::is_object_name_type(target.oid)) {
      std::string oids = sql::read_object_names(target, std::get<std::string>(constant->value), context);
      return sql::make_expression(target, sql::Constant{std::move(oids)}, expression->offset);
    }
    const sql::Oid oid = sql::parse_object_name(target, std::get<std::string>(constant->value), context);
    if (state.names != nullptr && expression->offset) state.names->objects[*expression->offset] = {target, oid};
    return sql::make_expression(target, sql::Constant{static_cast<std::int32_t>(oid)}, expression->offset);
  } catch (SqlError& error) {
    error.set_position(expression->offset);
    throw;
  }
}

}  // namespace

namespace {

/// Operators begin where their first operand does: how many calls begin there.
std::uint32_t calls_at(const sql::Expression& expression, std::uint32_t offset) {
  if (expression.offset != offset) return 0;
  if (const auto* cast = std::get_if<sql::CastCall>(&expression.node); cast != nullptr && !cast->is_explicit) {
    return calls_at(*cast->operand, offset);
  }
  const auto* call = std::get_if<sql::FunctionCall>(&expression.node);
  if (call == nullptr) return 0;
  return 1 + (call->arguments.empty() ? 0 : calls_at(*call->arguments[0], offset));
}

/// An untyped literal as a value of a type: PostgreSQL shows what the type's input function made of it.
parser::QueryNames::Literal read_literal(const BindState& state, const sql::Datum& written, Type target) {
  const bool is_interval = target.oid == sql::oid::kInterval;  // its modifier says how the text is read
  parser::QueryNames::Literal literal{.type = type_in_words(is_interval ? target : Type{target.oid}), .text = std::nullopt};
  if (sql::is_null(written) || sql::shows_object_names(target.oid)) return literal;
  const Type read_as = is_interval ? target : Type{target.oid};
  try {
    const sql::Datum value = sql::parse_value(read_as, std::get<std::string>(written), state.settings.session, state.settings.now);
    literal.text = sql::format_value(Type{target.oid}, value);
  } catch (const SqlError&) {
    return literal;  // the caller reports the error
  }
  const std::string& text = *literal.text;
  const bool is_positive = !text.empty() && text[0] >= '0' && text[0] <= '9';
  if (target.oid == sql::oid::kBool) {
    literal.text = text == "t" || text == "true" ? "true" : "false";
    literal.is_bare = true;
  } else if (target.oid == sql::oid::kInt4) {
    literal.is_bare = is_positive;
  } else if (target.oid == sql::oid::kNumeric) {
    literal.is_bare = is_positive && text.find('.') != std::string::npos;
  }
  return literal;
}

/// Stored queries say the type of every literal, and what operands are converted to.
void note_type(BindState& state, const sql::Expression& expression, Type target, CastContext context) {
  if (state.names == nullptr || !expression.offset || target.oid == sql::oid::kUnknown) return;
  if (is_unknown(expression)) {
    const auto* constant = std::get_if<sql::Constant>(&expression.node);
    if (constant != nullptr) state.names->literals[*expression.offset] = read_literal(state, constant->value, target);
  } else if (context == CastContext::kImplicit && expression.type.oid != target.oid) {
    state.names->casts[*expression.offset + (calls_at(expression, *expression.offset) << 24)] = type_in_words(Type{target.oid});  // SqlWriter::implicit_cast
  }
}

}  // namespace

ExpressionPtr coerce(BindState& state, const ExpressionPtr& expression, Type target, CastContext context,
                     std::optional<std::uint32_t> offset) {
  note_type(state, *expression, target, context);
  if (sql::shows_object_names(target.oid)) {
    if (ExpressionPtr named = read_object_name(state, expression, target)) return named;
  }
  if (ParameterTypes::is_undecided(*expression) && target.oid != sql::oid::kUnknown) {
    return sql::coerce(state.parameters.decide(expression, parameter_type(target)), target, context, state.settings.session, offset,
                       state.settings.now);
  }
  return sql::coerce(expression, target, context, state.settings.session, offset, state.settings.now);
}

ExpressionPtr try_coerce(BindState& state, const ExpressionPtr& expression, Type target, CastContext context) {
  note_type(state, *expression, target, context);
  if (sql::shows_object_names(target.oid)) {
    if (ExpressionPtr named = read_object_name(state, expression, target)) return named;
  }
  if (ParameterTypes::is_undecided(*expression) && target.oid != sql::oid::kUnknown) {
    return sql::try_coerce(state.parameters.decide(expression, parameter_type(target)), target, context, state.settings.session,
                           state.settings.now);
  }
  return sql::try_coerce(expression, target, context, state.settings.session, state.settings.now);
}

ExpressionPtr coerce_to_boolean(BindState& state, const ExpressionPtr& expression, std::string_view construct) {
  if (expression->type.oid == sql::oid::kBool) return expression;
  if (ExpressionPtr result = try_coerce(state, expression, sql::kBool, CastContext::kAssignment)) return result;
  throw SqlError(sqlstate::kDatatypeMismatch,
                 fmt::format("argument of {} must be type boolean, not type {}", construct, sql::format_type(Type{expression->type.oid})))
      .at(expression->offset);
}

ExpressionPtr resolve_unknown(BindState& state, const ExpressionPtr& expression) {
  return is_unknown(*expression) ? coerce(state, expression, sql::kText, CastContext::kImplicit) : expression;
}

Type common_type(const std::vector<ExpressionPtr>& expressions, std::string_view construct) {
  std::vector<Type> types;
  std::vector<std::optional<std::uint32_t>> offsets;
  for (const ExpressionPtr& expression : expressions) {
    types.push_back(expression->type);
    offsets.push_back(expression->offset);
  }
  return sql::resolve_common_type(types, construct, offsets);
}

ExpressionPtr in_common_type(BindState& state, const ExpressionPtr& expression, Type common) {
  const ExpressionPtr result = coerce(state, expression, common, CastContext::kImplicit);
  // The blanks of a char(n) are part of its value where its length is not known any more.
  const bool loses_length = result->type.oid == sql::oid::kBpchar && result->type.modifier >= 0 && common.modifier < 0;
  if (!loses_length) return result;
  return sql::make_expression(common, sql::CastCall{sql::CastCall::Method::kRelabel, nullptr, false, result},
                              result->offset);
}

namespace {

/// Returns an operator of an extension, and notes the use of its function; nullopt: there is none for these types. `name`: "%", in any schema, so
/// that stored queries need no search path, or "public.%".
std::optional<sql::ResolvedFunction> extension_operator(BindState& state, std::string_view name, Type left, Type right) {
  const std::size_t point = name.rfind('.');
  const std::string_view schema = point == std::string_view::npos ? std::string_view() : name.substr(0, point);
  if (!schema.empty()) name.remove_prefix(point + 1);
  const std::vector<std::vector<sql::Oid>> texts{{sql::oid::kText, sql::oid::kText}};
  const sql::Oid given[] = {left.oid, right.oid};
  if (sql::choose_candidate(texts, given).outcome != sql::Choice::Outcome::kFound) return std::nullopt;
  for (const auto& [oid, definition] : state.catalog.extensions) {
    const sql::Extension* extension = sql::find_extension(definition.name);
    if (extension == nullptr || (!schema.empty() && definition.schema != schema)) continue;
    const auto row = std::ranges::find(extension->operators, name, &sql::ExtensionOperator::name);
    if (row == extension->operators.end()) continue;
    for (const auto& [number, function] : state.catalog.functions) {
      if (function->extension != oid || function->body != row->source) continue;
      if (state.names != nullptr) state.names->operators.insert(number);
      return sql::ResolvedFunction{sql::find_extension_function(*function), {sql::kText, sql::kText}, function->result};
    }
  }
  return std::nullopt;
}

}  // namespace

sql::ResolvedFunction resolve_any_operator(BindState& state, std::string_view name, std::optional<Type> left, Type right,
                                           std::optional<std::uint32_t> offset) {
  try {
    return sql::resolve_operator(name, left, right, offset);
  } catch (const SqlError&) {
    std::optional<sql::ResolvedFunction> found = left ? extension_operator(state, name, *left, right) : std::nullopt;
    if (!found || found->function == nullptr) throw;
    return *std::move(found);
  }
}

ExpressionPtr make_operator(BindState& state, std::string_view name, const ExpressionPtr& left,
                            const ExpressionPtr& right, std::optional<std::uint32_t> offset) {
  const std::optional<Type> left_type = left ? std::optional<Type>(left->type) : std::nullopt;
  const sql::ResolvedFunction resolved = resolve_any_operator(state, name, left_type, right->type, offset);
  std::vector<ExpressionPtr> arguments;
  if (left) arguments.push_back(coerce(state, left, resolved.arguments[0], CastContext::kImplicit));
  arguments.push_back(coerce(state, right, resolved.arguments.back(), CastContext::kImplicit));
  const std::optional<std::uint32_t> start = left && left->offset ? left->offset : offset;
  return sql::make_expression(resolved.result, sql::FunctionCall{resolved.function, std::move(arguments)}, start);
}

void check_repeatable(const sql::Expression& expression) {
  std::size_t left = kRepeatableNodes;
  count_nodes(expression, left);
}

}  // namespace redquel::planner
