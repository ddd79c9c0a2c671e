#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/default_privileges.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/definition_rights.h"
#include "executor/ddl/dependents.h"
#include "executor/ddl/extension.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/function_options.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/type_lookup.h"
#include "executor/roles/access.h"
#include "executor/runtime/body_error.h"
#include "executor/runtime/function_settings.h"
#include "executor/runtime/plpgsql_declarations.h"
#include "executor/runtime/session_context.h"
#include "parser/deparse.h"
#include "parser/option_value.h"
#include "parser/parse.h"
#include "planner/bind/bind_type.h"
#include "planner/bind/function_body.h"
#include "planner/bind/sql_function.h"
#include "sql/error.h"
#include "sql/functions/polymorphic.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::FunctionDef;
using sql::SqlError;

namespace {

constexpr std::size_t kParameters = 100;

const ast::Option* find_option(const ast::CreateFunction& statement, std::string_view name) {
  const auto found = std::ranges::find(statement.options, name, &ast::Option::name);
  return found == statement.options.end() ? nullptr : &*found;
}

bool is_true(const ast::Option* option) {
  const auto* flag = option == nullptr ? nullptr : std::get_if<bool>(&option->value);
  return flag != nullptr && *flag;
}

/// Returns the language. 0A000 for languages that are not built, 42704 for those that PostgreSQL does not know either.
std::string language_of(const ast::CreateFunction& statement) {
  const ast::Option* language = find_option(statement, "language");
  if (language == nullptr) {
    if (statement.sql_body) return "sql";
    throw SqlError(sqlstate::kInvalidFunctionDefinition, "no language specified");
  }
  const std::string name = parser::option_text(*language).value_or("");
  if (name == "sql") return name;
  if (name == "plpgsql") {
    if (!statement.sql_body) return name;
    throw SqlError(sqlstate::kInvalidFunctionDefinition, "inline SQL function body only valid for language SQL");
  }
  for (const std::string_view known : {"c", "internal"}) {
    if (name == known) throw sql::not_supported(fmt::format("LANGUAGE {}", name));
  }
  throw SqlError(sqlstate::kUndefinedObject, fmt::format("language \"{}\" does not exist", name));
}

/// Errors have no position, as in PostgreSQL.
planner::DeclaredType bind_declared(const CatalogDraft& draft, const ast::TypeName& name) {
  planner::DeclaredType declared;
  check_type_schema(draft, name);
  without_positions([&] { declared = planner::bind_declared_type(name, draft.catalog(), draft.session().search_path); });
  return declared;
}

sql::Type bind_type(const CatalogDraft& draft, const ast::TypeName& name) { return bind_declared(draft, name).type; }

/// The type of a parameter or result; modifiers mean nothing there. 42P13 for pseudo-types that only C knows.
sql::Type parameter_type(CatalogDraft& draft, const ast::TypeName& name, bool is_result, const std::string& language) {
  planner::DeclaredType declared;
  try {
    declared = bind_declared(draft, name);
  } catch (const SqlError& error) {
    if (is_result || error.sqlstate() != sqlstate::kUndefinedObject) throw;
    throw SqlError(sqlstate::kUndefinedObject,
                   fmt::format("type {}{} does not exist", fmt::join(name.names, "."), name.array_bounds.empty() ? "" : "[]"));
  }
  require_type_usage(draft, declared);
  const sql::Type type = declared.type;
  if (name.percent_type) {
    draft.notice(sqlstate::kSuccessfulCompletion,
                 fmt::format("type reference {}%TYPE converted to {}", fmt::join(name.names, "."), sql::format_type(sql::Type{type.oid})));
  }
  const bool is_pseudo = sql::type_info(type.oid).category == sql::TypeCategory::kPseudo;
  const bool is_row = type.oid == sql::oid::kRecord;
  const bool is_plpgsql = language == "plpgsql";
  const bool is_allowed = sql::is_polymorphic(type.oid) || (is_result && (type.oid == sql::oid::kVoid || is_row)) ||
                          (is_plpgsql && (is_result ? is_trigger_type(sql::Type{type.oid}) : is_row));
  if (!is_pseudo || is_allowed) return sql::Type{type.oid};
  if (is_plpgsql) {
    throw SqlError(sqlstate::kFeatureNotSupported,
                   fmt::format("PL/pgSQL functions cannot {} type {}", is_result ? "return" : "accept", sql::format_type(type)));
  }
  throw SqlError(sqlstate::kInvalidFunctionDefinition, is_result ? fmt::format("SQL functions cannot return type {}", sql::format_type(type))
                                    : fmt::format("SQL functions cannot have arguments of type {}", sql::format_type(type)));
}

/// The table or view whose rows `RETURNS name` means, where they have no type (row_types.h); 0: a type is meant.
sql::Oid row_type_relation(const CatalogDraft& draft, const ast::TypeName& name) {
  if (name.names.size() > 2 || !name.array_bounds.empty() || !name.modifiers.empty() || name.percent_type) return 0;
  const std::string schema = name.names.size() == 2 ? name.names[0] : std::string();
  const auto& path = draft.session().search_path;
  if (schema == "pg_catalog" || (schema.empty() && sql::find_type(name.names[0]) != nullptr)) return 0;
  if (draft.catalog().find_user_type(schema, name.names.back(), path)) return 0;
  if (const auto table = draft.catalog().find_table(schema, name.names.back(), path)) return table->row_array != 0 ? 0 : table->oid;
  const auto view = draft.catalog().find_view(schema, name.names.back(), path);
  return view ? view->oid : 0;
}

FunctionDef::Parameter::Mode mode_of(ast::ParameterMode mode) {
  switch (mode) {
    case ast::ParameterMode::kInOut:
      return FunctionDef::Parameter::Mode::kInOut;
    case ast::ParameterMode::kOut:
      return FunctionDef::Parameter::Mode::kOut;
    case ast::ParameterMode::kVariadic:
      return FunctionDef::Parameter::Mode::kVariadic;
    default:
      return FunctionDef::Parameter::Mode::kIn;
  }
}

void check_variadic(sql::Type type) {
  const bool is_array = sql::is_array_type(type.oid) || type.oid == sql::oid::kAnyArray || type.oid == sql::oid::kAnyCompatibleArray;
  if (!is_array) throw SqlError(sqlstate::kInvalidFunctionDefinition, "VARIADIC parameter must be an array");
}

/// An untyped constant is of the parameter's type, and says so (where no search path decides what the type's name means).
std::string default_text(const ast::Expression& written, sql::Type type) {
  constexpr sql::Oid kFirstOwnType = 16384;
  const bool untyped = std::holds_alternative<ast::StringLiteral>(written.node) || std::holds_alternative<ast::NullLiteral>(written.node);
  return parser::to_sql(written) + (untyped && type.oid < kFirstOwnType && !sql::is_polymorphic(type.oid) ? "::" + sql::format_type(type) : "");
}

void read_parameters(CatalogDraft& draft, const ast::CreateFunction& statement, FunctionDef& function) {
  if (statement.parameters.size() > kParameters) {
    throw SqlError(sqlstate::kTooManyArguments, fmt::format("functions cannot have more than {} arguments", kParameters));
  }
  using Mode = ast::ParameterMode;
  bool had_default = false;
  for (const ast::FunctionParameter& parameter : statement.parameters) {
    const sql::Type type = parameter_type(draft, parameter.type, parameter.mode == Mode::kOut || parameter.mode == Mode::kTable, function.language);
    const bool is_input = parameter.mode != Mode::kOut && parameter.mode != Mode::kTable;
    const bool is_output = parameter.mode == Mode::kOut || parameter.mode == Mode::kTable || parameter.mode == Mode::kInOut;
    if (function.is_variadic() && is_input) {
      throw SqlError(sqlstate::kInvalidFunctionDefinition, "VARIADIC parameter must be the last input parameter");
    }
    if (parameter.mode == Mode::kVariadic) check_variadic(type);
    const auto same_name = [&](const auto& other) { return !parameter.name.empty() && other.name == parameter.name; };
    const bool twice = (is_input && std::ranges::any_of(function.parameters, same_name)) ||
                       (is_output && std::ranges::any_of(function.columns, same_name));
    if (twice) throw SqlError(sqlstate::kInvalidFunctionDefinition, fmt::format("parameter name \"{}\" used more than once", parameter.name));
    if (is_output) function.columns.push_back({parameter.name, type});
    if (!is_input && parameter.default_value) throw SqlError(sqlstate::kInvalidFunctionDefinition, "only input parameters can have default values");
    // Arguments of CALL stand for them, too.
    if (!is_input && !(function.procedure && parameter.mode == Mode::kOut)) continue;
    if (is_input && had_default && !parameter.default_value) {
      throw SqlError(sqlstate::kInvalidFunctionDefinition, "input parameters after one with a default value must also have defaults");
    }
    had_default = had_default || parameter.default_value != nullptr;
    function.parameters.push_back({parameter.name, type, parameter.default_value ? default_text(*parameter.default_value, type) : std::string(),
                                   mode_of(parameter.mode)});
  }
}

/// 42P13: only arguments say what polymorphic types are, and only ranges say which range it is.
void check_polymorphic(const FunctionDef& function, sql::Type result) {
  if (!sql::is_polymorphic(result.oid)) return;
  const std::string name = sql::format_type(result);
  const bool is_range = name.ends_with("range"), is_compatible = name.starts_with("anycompatible");
  const bool said = std::ranges::any_of(function.parameters, [&](const auto& parameter) {
    const std::string given = sql::format_type(sql::Type{parameter.type.oid});
    return sql::is_polymorphic(parameter.type.oid) && given.starts_with("anycompatible") == is_compatible && (!is_range || given.ends_with("range"));
  });
  if (said) return;
  constexpr std::string_view kAny = "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange";
  constexpr std::string_view kCompatible =
      "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange";
  std::string_view needed = is_compatible ? kCompatible : kAny;
  if (is_range) needed = is_compatible ? "anycompatiblerange or anycompatiblemultirange" : "anyrange or anymultirange";
  throw SqlError(sqlstate::kInvalidFunctionDefinition, "cannot determine result data type")
      .detail(fmt::format("A result of type {} requires at least one input of type {}.", name, needed));
}

/// Reads the function's result: RETURNS, OUT parameters, RETURNS TABLE.
void read_result(CatalogDraft& draft, const ast::CreateFunction& statement, FunctionDef& function) {
  function.table_syntax = std::ranges::any_of(
      statement.parameters, [](const ast::FunctionParameter& parameter) { return parameter.mode == ast::ParameterMode::kTable; });
  if (function.procedure) {
    function.result = sql::Type{function.columns.empty() ? sql::oid::kVoid : sql::oid::kRecord};
    return;
  }
  std::optional<sql::Type> written;
  if (statement.return_type && !function.table_syntax) {
    ast::TypeName plain;
    plain.names = statement.return_type->names;
    plain.array_bounds = statement.return_type->array_bounds;
    plain.percent_type = statement.return_type->percent_type;
    plain.offset = statement.return_type->offset;
    if (plain.names.back() == "trigger" && function.language == "sql") throw SqlError(sqlstate::kInvalidFunctionDefinition, "SQL functions cannot return type trigger");
    function.result_relation = row_type_relation(draft, plain);
    written = function.result_relation != 0 ? sql::Type{sql::oid::kRecord} : parameter_type(draft, plain, true, function.language);
  }
  function.returns_set = function.table_syntax || (statement.return_type && statement.return_type->set_of);
  if (function.columns.empty()) {
    if (!written) throw SqlError(sqlstate::kInvalidFunctionDefinition, "function result type must be specified");
    function.result = *written;
    return check_polymorphic(function, function.result);
  }
  for (const FunctionDef::Column& column : function.columns) check_polymorphic(function, column.type);
  // One output column is the result itself, under its own name.
  function.result = function.columns.size() == 1 ? function.columns[0].type : sql::Type{sql::oid::kRecord};
  if (written && (written->oid != function.result.oid || function.result_relation != 0)) {
    throw SqlError(sqlstate::kInvalidFunctionDefinition,
                   fmt::format("function result type must be {} because of OUT parameters", sql::format_type(function.result)));
  }
}

/// The body's text; statements of BEGIN ATOMIC as they are deparsed.
std::string read_body(const ast::CreateFunction& statement, FunctionDef& function) {
  if (statement.sql_body && find_option(statement, "as") != nullptr) {
    throw SqlError(sqlstate::kInvalidFunctionDefinition, "duplicate function body specified");
  }
  if (statement.sql_body && std::ranges::any_of(function.parameters, [](const auto& p) { return sql::is_polymorphic(p.type.oid); })) {
    throw SqlError(sqlstate::kInvalidFunctionDefinition, "SQL function with unquoted function body cannot have polymorphic arguments");
  }
  if (statement.return_expression) return "SELECT " + parser::to_sql(*statement.return_expression);
  if (statement.sql_body) {
    function.atomic_body = true;
    std::string text;
    for (const auto& one : statement.body) text += (text.empty() ? "" : ";\n") + parser::to_sql(*one);
    return text;
  }
  const ast::Option* body = find_option(statement, "as");
  if (body == nullptr) throw SqlError(sqlstate::kInvalidFunctionDefinition, "no function body specified");
  const auto* texts = std::get_if<std::vector<std::string>>(&body->value);
  const std::string text = texts != nullptr ? texts->at(0) : parser::option_text(*body).value_or("");
  if (texts != nullptr && texts->size() != 1) throw SqlError(sqlstate::kInvalidFunctionDefinition, fmt::format("only one AS item needed for language \"{}\"", function.language));
  return text;
}

bool same_result(const FunctionDef& a, const FunctionDef& b) {
  return a.result == b.result && a.returns_set == b.returns_set && a.result_relation == b.result_relation &&
         std::ranges::equal(a.columns, b.columns,
                            [](const auto& x, const auto& y) { return x.name == y.name && x.type == y.type; });
}

/// 42P13 for what CREATE OR REPLACE may not change.
void check_replacement(const FunctionDef& before, const FunctionDef& after) {
  const std::string kind = after.procedure ? "PROCEDURE" : "FUNCTION";
  const std::string hint = fmt::format("Use DROP {} {} first.", kind, planner::signature_of(before, ","));
  if (before.procedure != after.procedure || before.window != after.window) {
    throw SqlError(sqlstate::kWrongObjectType, "cannot change routine kind")
        .detail(fmt::format("\"{}\" is a {}.", before.name, before.procedure ? "procedure" : before.window ? "window function" : "function"));
  }
  if (!same_result(before, after)) {
    const bool out_only = before.result == after.result && before.returns_set == after.returns_set;
    SqlError error(sqlstate::kInvalidFunctionDefinition, after.procedure && !out_only ? "cannot change whether a procedure has output parameters"
                                                         : "cannot change return type of existing function");
    if (out_only) throw std::move(error).detail("Row type defined by OUT parameters is different.").hint(hint);
    throw std::move(error).hint(hint);
  }
  for (std::size_t i = 0; i < std::min(before.parameters.size(), after.parameters.size()); ++i) {
    const FunctionDef::Parameter& from = before.parameters[i];
    const FunctionDef::Parameter& to = after.parameters[i];
    if (!from.name.empty() && from.name != to.name) {
      throw SqlError(sqlstate::kInvalidFunctionDefinition, fmt::format("cannot change name of input parameter \"{}\"", from.name)).hint(hint);
    }
    if (!from.default_sql.empty() && to.default_sql.empty()) {
      throw SqlError(sqlstate::kInvalidFunctionDefinition, "cannot remove parameter defaults from existing function").hint(hint);
    }
  }
}

/// Parses a body in PL/pgSQL, and looks up the types of its variables. Those of polymorphic parameters are known by each call only.
void check_plpgsql(const FunctionDef& function, const CatalogDraft& draft) {
  if (is_trigger_type(function.result) && !function.parameters.empty()) {
    throw SqlError(sqlstate::kInvalidFunctionDefinition, "trigger functions cannot have declared arguments")
        .hint("The arguments of the trigger can be accessed through TG_NARGS and TG_ARGV instead.")
        .context(fmt::format("compilation of PL/pgSQL function \"{}\" near line 1", function.name));
  }
  declare_plpgsql(function, !function.columns.empty(), draft.catalog(), draft.session());
}

void make_function(CatalogDraft& draft, const ast::CreateFunction& statement) {
  FunctionDef function;
  function.language = language_of(statement);
  const ast::RelationName name = relation_name(statement.name);
  function.schema = creation_schema(draft, name);
  function.name = name.name;
  take_ownership(draft, sql::AclKind::kFunction, function);
  function.procedure = statement.procedure;
  read_parameters(draft, statement, function);
  read_result(draft, statement, function);
  function.window = is_true(find_option(statement, "window"));
  if (find_option(statement, "transform") != nullptr) throw sql::not_supported("TRANSFORM");
  apply_function_options(function, statement.options, draft.session());
  function.standard_body = statement.sql_body;
  function.body = read_body(statement, function);
  if (const auto existing = find_same_function(draft, function)) {
    if (!statement.replace) {
      throw SqlError(sqlstate::kDuplicateFunction, fmt::format("function \"{}\" already exists with same argument types", function.name));
    }
    require_creation(draft.catalog(), draft.session(), function.schema);
    check_replacement(*existing, function);
    function.oid = existing->oid;
    function.comment = existing->comment;
    function.extension = existing->extension;
    function.owner = existing->owner;
    function.acl = existing->acl;
  } else {
    function.oid = draft.new_oid();
  }
  // Dumps restore functions before the objects that bodies name. Bodies in SQL-standard form are bound at once.
  const auto& show = draft.session().show;
  const bool is_checked = function.standard_body || !show || show("check_function_bodies").value_or("on") != "off";
  // It may call itself.
  const auto made = std::make_shared<const FunctionDef>(function);
  draft.put(std::move(function));
  const FunctionSettings settings(draft.session(), *made);
  if (!is_checked) return;
  try {
    if (made->language == "sql") planner::check_function(made, draft.catalog(), bind_settings(draft.session()));
    else check_plpgsql(*made, draft);
  } catch (const SqlError& error) {
    throw BodyError(error, made->body);
  }
}

std::string_view kind_name(ast::ObjectType kind) {
  return kind == ast::ObjectType::kProcedure ? "procedure" : kind == ast::ObjectType::kRoutine ? "routine" : "function";
}

/// The functions that a name in DROP FUNCTION means.
std::vector<std::shared_ptr<const FunctionDef>> functions_named(const CatalogDraft& draft, const ast::ObjectName& object, ast::ObjectType kind) {
  const ast::RelationName name = relation_name(object.names);
  if (!is_system_schema(name.schema)) require_schema_usage(draft.session(), draft.catalog(), name.schema);
  std::vector<sql::Type> types;
  for (const ast::TypeName& type : object.argument_types) types.push_back(bind_type(draft, type));
  std::vector<std::shared_ptr<const FunctionDef>> found;
  for (const auto& [oid, function] : draft.catalog().functions) {
    if (!sql::means_function_of(name.schema, function->schema, draft.session().search_path) || function->name != name.name) continue;
    const auto same = [](const FunctionDef::Parameter& parameter, sql::Type type) { return parameter.type.oid == type.oid; };
    std::vector<FunctionDef::Parameter> inputs = function->parameters;
    std::erase_if(inputs, [](const FunctionDef::Parameter& parameter) { return parameter.mode == FunctionDef::Parameter::Mode::kOut; });
    const bool fits = !object.arguments_given || std::ranges::equal(function->parameters, types, same) || std::ranges::equal(inputs, types, same);
    const bool wanted = object.arguments_given || kind == ast::ObjectType::kRoutine || function->procedure == (kind == ast::ObjectType::kProcedure);
    if (fits && wanted) found.push_back(function);
  }
  return found;
}

}  // namespace

bool is_routine(ast::ObjectType kind) {
  return kind == ast::ObjectType::kFunction || kind == ast::ObjectType::kProcedure || kind == ast::ObjectType::kRoutine;
}

std::shared_ptr<const FunctionDef> find_same_function(const CatalogDraft& draft, const FunctionDef& function) {
  // OUT parameters of a procedure are not part of its signature.
  const auto inputs_of = [](const FunctionDef& definition) {
    std::vector<sql::Oid> types;
    for (const FunctionDef::Parameter& parameter : definition.parameters) {
      if (parameter.mode != FunctionDef::Parameter::Mode::kOut) types.push_back(parameter.type.oid);
    }
    return types;
  };
  const std::vector<sql::Oid> inputs = inputs_of(function);
  for (const sql::Oid oid : draft.catalog().functions.labelled(sql::name_label(function.schema, function.name))) {
    const std::shared_ptr<const FunctionDef>& other = draft.catalog().functions.at(oid);
    if (inputs_of(*other) == inputs) return other;
  }
  return nullptr;
}

std::shared_ptr<const FunctionDef> require_function(const CatalogDraft& draft, const ast::ObjectName& object, ast::ObjectType kind) {
  const auto found = functions_named(draft, object, kind);
  const std::string_view called = kind_name(kind);
  const std::string shown = fmt::format("{}", fmt::join(object.names, "."));
  if (found.size() == 1) {
    const bool wrong = kind != ast::ObjectType::kRoutine && found[0]->procedure != (kind == ast::ObjectType::kProcedure);
    if (wrong) throw SqlError(sqlstate::kWrongObjectType, fmt::format("{} is not a {}", planner::signature_of(*found[0]), called));
    return found[0];
  }
  if (found.size() > 1) {
    throw SqlError(sqlstate::kAmbiguousFunction, fmt::format("{} name \"{}\" is not unique", called, shown))
        .hint(fmt::format("Specify the argument list to select the {} unambiguously.", called));
  }
  std::string types;
  for (const ast::TypeName& type : object.argument_types) types += (types.empty() ? "" : ", ") + sql::format_type(bind_type(draft, type));
  throw SqlError(sqlstate::kUndefinedFunction, object.arguments_given ? fmt::format("{} {}({}) does not exist", called, shown, types)
                                                 : fmt::format("could not find a {} named \"{}\"", called, shown));
}

asio::awaitable<void> run(DdlContext& context, const ast::CreateFunction& statement) {
  const MakeDraft make = [&statement](CatalogDraft& draft) { make_function(draft, statement); };
  co_await change_catalog(context, make);
}

void drop_functions(CatalogDraft& draft, const ast::Drop& statement) {
  std::vector<DropObject> targets;
  for (const ast::ObjectName& object : statement.names) {
    if (statement.if_exists && skips_missing_place(draft, object)) continue;
    if (statement.if_exists && functions_named(draft, object, statement.object).empty()) {
      std::string types;  // as they were written
      for (const ast::TypeName& type : object.argument_types) {
        types += (types.empty() ? "" : ",") + fmt::format("{}", fmt::join(type.names, ".")) + (type.array_bounds.empty() ? "" : "[]");
      }
      draft.notice(sqlstate::kSuccessfulCompletion,
                   fmt::format("{} {}({}) does not exist, skipping", kind_name(statement.object), fmt::join(object.names, "."), types));
    } else {
      targets.push_back({DropObject::Kind::kFunction, require_function(draft, object, statement.object)->oid});
    }
  }
  if (targets.empty()) return;
  require_drop_rights(draft, targets);
  for (const DropObject& target : targets) check_no_member(draft, *draft.catalog().functions.at(target.oid));
  const DependentChanges rights_are_checked;
  drop_dependents(draft, targets, statement.cascade);
  for (const DropObject& target : targets) {
    if (draft.catalog().functions.contains(target.oid)) draft.drop_function(target.oid);
  }
}

}  // namespace redquel::executor
