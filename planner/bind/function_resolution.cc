// Resolution of a call to a function in LANGUAGE sql (manual 10.3, 38.5.6).

#include <fmt/format.h>

#include <algorithm>

#include "parser/parse.h"
#include "planner/bind/built_in_call.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/named_arguments.h"
#include "planner/bind/relation_lookup.h"
#include "planner/bind/sql_function.h"
#include "sql/error.h"
#include "sql/functions/array_subscript.h"
#include "sql/functions/candidates.h"
#include "sql/functions/polymorphic.h"
#include "sql/functions/resolve.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::FunctionDef;
using sql::SqlError;
using Mode = FunctionDef::Parameter::Mode;

namespace {

using FunctionPtr = std::shared_ptr<const FunctionDef>;

/// Those that the name can mean. Of two with the same parameters the one whose schema comes first in the path.
std::vector<FunctionPtr> functions_named(const BindState& state, const ast::QualifiedName& name) {
  const std::string written = name.size() > 1 ? name[name.size() - 2] : "";
  std::vector<std::string> schemas = state.settings.search_path;
  if (!written.empty() && written != "pg_temp") schemas = {written};
  std::vector<FunctionPtr> found;
  for (const std::string& schema : schemas) {
    if (!sql::means_function_of(written, schema, state.settings.search_path)) continue;
    for (const sql::Oid oid : state.catalog.functions.labelled(sql::name_label(schema, name.back()))) {
      const FunctionPtr& function = state.catalog.functions.at(oid);
      const bool hidden = std::ranges::any_of(found, [&](const FunctionPtr& other) {
        return std::ranges::equal(other->parameters, function->parameters,
                                  [](const auto& a, const auto& b) { return a.type.oid == b.type.oid; });
      });
      if (!hidden) found.push_back(function);
    }
  }
  return found;
}

/// One way to understand a call.
struct Candidate {
  FunctionPtr function;
  std::vector<std::size_t> places;    // which parameter each written argument is for
  std::vector<sql::Oid> signature;    // of the written arguments
  bool expanded = false;              // the last arguments become the array of a VARIADIC parameter
};

sql::Oid element_of(sql::Oid array) {
  if (array == sql::oid::kAnyArray) return sql::oid::kAnyElement;
  if (array == sql::oid::kAnyCompatibleArray) return sql::oid::kAnyCompatible;
  if (array == sql::oid::kAny) return array;
  return sql::type_info(array).element;
}

/// The arguments of a call that say something.
using Written = std::vector<const ast::Argument*>;

/// nullopt: the function does not take such arguments.
std::optional<Candidate> candidate(const FunctionPtr& function, const ast::FunctionCall& call, const Written& written) {
  Candidate result{.function = function};
  const std::size_t count = function->parameters.size();
  const bool is_named = std::ranges::any_of(written, [](const ast::Argument* argument) { return !argument->name.empty(); });
  result.expanded = function->is_variadic() && !call.variadic && !is_named;
  if (call.variadic && !function->is_variadic()) return std::nullopt;
  std::vector<bool> given(count, false);
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::size_t place = i;
    if (!written[i]->name.empty()) {
      const auto found = std::ranges::find(function->parameters, written[i]->name, &FunctionDef::Parameter::name);
      place = static_cast<std::size_t>(found - function->parameters.begin());
    }
    if (result.expanded) place = std::min(place, count - 1);
    if (place >= count || (given[place] && !(result.expanded && place + 1 == count))) return std::nullopt;
    given[place] = true;
    const sql::Oid type = function->parameters[place].type.oid;
    result.places.push_back(place);
    result.signature.push_back(result.expanded && place + 1 == count ? element_of(type) : type);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (given[i]) continue;
    if (function->parameters[i].default_sql.empty()) return std::nullopt;
    if (function->parameters[i].mode == Mode::kVariadic) result.expanded = false;
  }
  return result;
}

std::string written_call(const ast::FunctionCall& call, const Written& written, const std::vector<ExpressionPtr>& bound) {
  std::string types;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    if (i > 0) types += ", ";
    if (!written[i]->name.empty()) types += written[i]->name + " => ";
    types += sql::format_type(sql::Type{bound[i]->type.oid});
  }
  return fmt::format("{}({})", fmt::join(call.name, "."), types);
}

/// The one that a call with these types means. 42883, 42725.
Candidate choose(std::vector<Candidate> candidates, const ast::FunctionCall& call, const Written& written,
                 const std::vector<ExpressionPtr>& bound, std::optional<std::uint32_t> offset, bool procedure) {
  // Of two functions with equal arguments the one in the earlier schema wins, then the one without VARIADIC. Defaults do not count.
  std::vector<Candidate> distinct;
  std::vector<bool> is_ambiguous;
  for (Candidate& one : candidates) {
    const auto same = std::ranges::find(distinct, one.signature, &Candidate::signature);
    if (same == distinct.end()) {
      distinct.push_back(std::move(one));
      is_ambiguous.push_back(false);
    } else if (same->function->schema == one.function->schema && (same->expanded || !one.expanded)) {
      is_ambiguous[static_cast<std::size_t>(same - distinct.begin())] = same->expanded == one.expanded;
      if (!one.expanded) *same = std::move(one);
    }
  }
  std::vector<std::vector<sql::Oid>> signatures;
  for (const Candidate& one : distinct) signatures.push_back(one.signature);
  std::vector<sql::Oid> types;
  for (const ExpressionPtr& argument : bound) types.push_back(argument->type.oid);
  sql::Choice choice{sql::Choice::Outcome::kNone};
  // Without arguments there is nothing to choose by.
  if (!types.empty()) choice = sql::choose_candidate(signatures, types);
  if (types.empty() && distinct.size() == 1) choice = {sql::Choice::Outcome::kFound, 0};
  if (types.empty() && distinct.size() > 1) choice = {sql::Choice::Outcome::kAmbiguous, 0};
  if (choice.outcome == sql::Choice::Outcome::kFound && is_ambiguous[choice.index]) choice.outcome = sql::Choice::Outcome::kAmbiguous;
  const std::string_view kind = procedure ? "procedure" : "function";
  if (choice.outcome == sql::Choice::Outcome::kNone) {
    throw SqlError(sqlstate::kUndefinedFunction, fmt::format("{} {} does not exist", kind, written_call(call, written, bound)))
        .hint(fmt::format("No {} matches the given name and argument types. You might need to add explicit type casts.", kind))
        .at(offset);
  }
  if (choice.outcome == sql::Choice::Outcome::kAmbiguous) {
    throw SqlError(sqlstate::kAmbiguousFunction, fmt::format("{} {} is not unique", kind, written_call(call, written, bound)))
        .hint(fmt::format("Could not choose a best candidate {}. You might need to add explicit type casts.", kind))
        .at(offset);
  }
  return std::move(distinct[choice.index]);
}

/// Stored text of a default, in the parameter's type.
ExpressionPtr default_value(BindState& state, const FunctionDef::Parameter& parameter) {
  const auto written = std::make_shared<const ast::ExpressionPtr>(parser::parse_expression(parameter.default_sql));
  state.keep_alive(written);
  const Scoped positions(state.keeps_positions, false);
  QueryLevel level;
  const ExpressionPtr value = ExpressionBinder(state, level).bind(**written);
  if (sql::is_polymorphic(parameter.type.oid)) return value;  // an untyped literal takes the type that the others give
  return coerce(state, value, parameter.type, sql::CastContext::kAssignment);
}

/// ARRAY[…] of the values for a VARIADIC parameter.
ExpressionPtr variadic_array(BindState& state, const std::vector<ExpressionPtr>& items, sql::Type array) {
  const sql::Type element{sql::type_info(array.oid).element};
  std::vector<ExpressionPtr> converted;
  for (const ExpressionPtr& item : items) converted.push_back(coerce(state, item, element, sql::CastContext::kImplicit));
  return sql::make_expression(array, sql::FunctionCall{&sql::array_constructor(), std::move(converted)});
}

std::vector<FunctionDef::Column> columns_of_type(const sql::CatalogSnapshot& catalog, const FunctionDef& function) {
  std::vector<FunctionDef::Column> columns;
  if (const auto table = catalog.find_table(function.result_relation)) {
    for (const sql::ColumnDef& column : table->columns) {
      if (!column.hidden) columns.push_back({column.name, column.type});
    }
  } else if (const auto view = catalog.find_view(function.result_relation)) {
    for (const sql::ViewDef::Column& column : view->columns) columns.push_back({column.name, column.type});
  } else if (sql::is_composite_type(function.result.oid)) {
    const sql::UserType& composite = sql::user_type(function.result.oid);
    for (const sql::CompositeField& field : composite.fields) columns.push_back({field.name, field.type});
  }
  return columns;
}

}  // namespace

bool is_sql_function(const BindState& state, const ast::QualifiedName& name) {
  return !state.catalog.functions.empty() && !functions_named(state, name).empty();
}

bool fits_better_than_built_in(const BindState& state, const ast::FunctionCall& call, const std::vector<ExpressionPtr>& bound) {
  if (bound.empty()) return false;
  std::vector<std::vector<sql::Oid>> signatures;
  const auto add = [&](const std::vector<sql::Oid>& signature) {
    const bool is_new = signature.size() == bound.size() && std::ranges::find(signatures, signature) == signatures.end();
    if (is_new) signatures.push_back(signature);
  };
  for (const sql::ScalarFunction* function : sql::find_functions(call.name.back())) {
    if (!function->variadic) add(function->arguments);
  }
  for (const sql::TableFunction* function : sql::find_table_functions(call.name.back())) add(function->arguments);
  const std::size_t built_in = signatures.size();
  Written written;
  for (const ast::Argument& argument : call.arguments) written.push_back(&argument);
  for (const FunctionPtr& function : functions_named(state, call.name)) {
    if (const std::optional<Candidate> one = candidate(function, call, written)) add(one->signature);
  }
  if (signatures.size() == built_in) return false;
  std::vector<sql::Oid> types;
  for (const ExpressionPtr& argument : bound) types.push_back(argument->type.oid);
  const sql::Choice choice = sql::choose_candidate(signatures, types);
  return choice.outcome == sql::Choice::Outcome::kFound && choice.index >= built_in;
}

bool means_built_in(const BindState& state, const ast::FunctionCall& call, const std::vector<ExpressionPtr>& bound) {
  const bool is_possible = call.name.size() == 1 && sql::function_name_exists(call.name[0]) && is_built_in_call(call.name[0], bound);
  return is_possible && !fits_better_than_built_in(state, call, bound);
}

bool returns_rows(const FunctionDef& function) {
  return function.columns.size() > 1 || function.result_relation != 0 || sql::is_row_type(function.result.oid);
}

FunctionPtr concrete_function(const sql::CatalogSnapshot& catalog, FunctionPtr function, std::span<const sql::Type> arguments) {
  const bool fills_columns = function->columns.empty() && (function->result_relation != 0 || sql::is_composite_type(function->result.oid));
  const bool is_generic = std::ranges::any_of(function->parameters, [](const auto& parameter) { return sql::is_polymorphic(parameter.type.oid); });
  const bool lacks_names = function->columns.size() > 1 && std::ranges::any_of(function->columns, [](const auto& column) { return column.name.empty(); });
  if (!fills_columns && !is_generic && !lacks_names) return function;
  auto concrete = std::make_shared<FunctionDef>(*function);
  for (std::size_t i = 0; lacks_names && i < concrete->columns.size(); ++i) {
    if (concrete->columns[i].name.empty()) concrete->columns[i].name = fmt::format("column{}", i + 1);
  }
  if (fills_columns) concrete->columns = columns_of_type(catalog, *function);
  if (!is_generic) return concrete;
  std::vector<sql::Oid> declared, given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    declared.push_back(function->parameters[i].type.oid);
    given.push_back(arguments[i].oid);
  }
  const sql::PolymorphicTypes types = sql::match_polymorphic(declared, given).value_or(sql::PolymorphicTypes{});
  const auto replace = [&](sql::Type& type) {
    if (!sql::is_polymorphic(type.oid)) return;
    const sql::Oid actual = types.actual(type.oid);
    if (actual == 0) {
      const bool is_compatible = type.oid == sql::oid::kAnyCompatibleRange || type.oid == sql::oid::kAnyCompatibleMultirange;
      const bool gives_range = is_compatible && function->result.oid == sql::oid::kAnyCompatibleRange;  // ranges come first
      throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("could not determine polymorphic type {}because input has type unknown",
                                                              is_compatible ? sql::format_type(gives_range ? function->result : type) + " " : ""));
    }
    type = sql::Type{actual};
  };
  for (FunctionDef::Parameter& parameter : concrete->parameters) replace(parameter.type);
  for (FunctionDef::Column& column : concrete->columns) replace(column.type);
  replace(concrete->result);
  return concrete;
}

SqlFunctionCall resolve_sql_function(BindState& state, const ast::FunctionCall& call, std::vector<ExpressionPtr> bound,
                                     std::optional<std::uint32_t> offset, bool procedure) {
  check_argument_names(state, call.arguments);
  Written written;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    // Drivers give the results of functions, too, parameters of no type.
    if (procedure || !is_output_parameter(*bound[i])) written.push_back(&call.arguments[i]);
  }
  if (!procedure) drop_output_parameters(bound);
  if (call.name.size() > 1) check_schema_usage(state, call.name[call.name.size() - 2], offset);
  std::vector<Candidate> candidates;
  for (const FunctionPtr& function : functions_named(state, call.name)) {
    if (std::optional<Candidate> one = candidate(function, call, written)) candidates.push_back(*std::move(one));
  }
  const Candidate chosen = choose(std::move(candidates), call, written, bound, offset, procedure);
  const FunctionDef& function = *chosen.function;
  if (function.procedure != procedure) {
    const std::string shown = written_call(call, written, bound);
    if (function.procedure) {
      throw SqlError(sqlstate::kWrongObjectType, fmt::format("{} is a procedure", shown)).hint("To call a procedure, use CALL.").at(offset);
    }
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("{} is not a procedure", shown)).hint("To call a function, use SELECT.").at(offset);
  }
  if (!function.window) check_plain_call(call, offset);
  const std::size_t count = function.parameters.size();
  std::vector<std::vector<ExpressionPtr>> given(count);
  for (std::size_t i = 0; i < bound.size(); ++i) given[chosen.places[i]].push_back(bound[i]);
  // Types first: polymorphic parameters take theirs from all arguments together.
  std::vector<ExpressionPtr> values(count);
  std::vector<sql::Type> types(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (given[i].empty()) values[i] = default_value(state, function.parameters[i]);
    else if (!chosen.expanded || i + 1 < count) values[i] = given[i][0];
    if (values[i]) types[i] = values[i]->type;
  }
  if (!values.empty() && !values.back()) {
    // All elements meet in one type.
    std::vector<sql::Type> elements;
    for (const ExpressionPtr& item : given.back()) elements.push_back(sql::Type{item->type.oid});
    const std::optional<sql::Type> common = sql::find_common_type(elements);
    const sql::Oid declared = function.parameters.back().type.oid;
    sql::Oid element = sql::is_polymorphic(declared) && common ? common->oid : element_of(declared);
    if (element == sql::oid::kUnknown) element = sql::oid::kText;
    types.back() = sql::Type{sql::array_type_over(element)};
  }
  if (function.acl) state.requirements.add_function(function.oid);
  if (state.names != nullptr) state.names->functions[&call] = function.oid;
  SqlFunctionCall result{concrete_function(state.catalog, chosen.function, types), {}};
  try {
    for (std::size_t i = 0; i < count; ++i) {
      const sql::Type type = result.function->parameters[i].type;
      result.arguments.push_back(values[i] ? coerce(state, values[i], type, sql::CastContext::kImplicit) : variadic_array(state, given[i], type));
    }
    return result;
  } catch (SqlError& error) {
    error.set_position(offset);
    throw;
  }
}

std::string signature_of(const FunctionDef& function, std::string_view between) {
  std::string types;
  for (const FunctionDef::Parameter& parameter : function.parameters) {
    types.append(types.empty() ? "" : between).append(sql::format_type(sql::Type{parameter.type.oid}));
  }
  return fmt::format("{}({})", function.name, types);
}

}  // namespace redquel::planner
