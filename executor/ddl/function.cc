#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "executor/ddl/catalog_draft.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_parts.h"
#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/bind_type.h"
#include "planner/bind/sql_function.h"
#include "sql/error.h"

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

std::string text_of(const ast::Option& option) {
  if (const auto* text = std::get_if<std::string>(&option.value)) return *text;
  if (const auto* type = std::get_if<ast::TypeName>(&option.value); type != nullptr && !type->names.empty()) return type->names.back();
  return {};
}

bool is_true(const ast::Option* option) {
  const auto* flag = option == nullptr ? nullptr : std::get_if<bool>(&option->value);
  return flag != nullptr && *flag;
}

/// 0A000 for languages that are not built, 42704 for those that PostgreSQL does not know either.
void check_language(const ast::CreateFunction& statement) {
  const ast::Option* language = find_option(statement, "language");
  if (language == nullptr) {
    if (statement.sql_body) return;
    throw SqlError("42P13", "no language specified");
  }
  const std::string name = text_of(*language);
  if (name == "sql") return;
  for (const std::string_view known : {"plpgsql", "c", "internal"}) {
    if (name == known) throw sql::not_supported(fmt::format("LANGUAGE {}", name));
  }
  throw SqlError("42704", fmt::format("language \"{}\" does not exist", name));
}

sql::Type bind_type(const CatalogDraft& draft, const ast::TypeName& name) {
  return planner::bind_type(name, draft.catalog(), draft.session().search_path);
}

sql::Type parameter_type(const CatalogDraft& draft, const ast::TypeName& name) {
  const sql::Type type = bind_type(draft, name);
  // Nothing would keep a user's type from being dropped under the function.
  if (sql::type_info(type.oid).category == sql::TypeCategory::kPseudo || type.oid >= sql::kFirstUserOid) {
    throw sql::not_supported(fmt::format("SQL function with type {}", sql::format_type(type)), name.offset);
  }
  return sql::Type{type.oid};  // modifiers mean nothing here
}

void read_parameters(const CatalogDraft& draft, const ast::CreateFunction& statement, FunctionDef& function) {
  if (statement.parameters.size() > kParameters) {
    throw SqlError("54023", fmt::format("functions cannot have more than {} arguments", kParameters));
  }
  bool had_default = false;
  for (const ast::FunctionParameter& parameter : statement.parameters) {
    const sql::Type type = parameter_type(draft, parameter.type);
    if (parameter.mode == ast::ParameterMode::kVariadic) throw sql::not_supported("VARIADIC parameter", parameter.type.offset);
    const bool is_input = parameter.mode == ast::ParameterMode::kIn || parameter.mode == ast::ParameterMode::kInOut;
    const bool is_output = parameter.mode != ast::ParameterMode::kIn;
    if (is_output) function.columns.push_back({parameter.name, type});
    if (!is_input) {
      if (parameter.default_value) throw SqlError("42P13", "only input parameters can have default values");
      continue;
    }
    const bool twice = !parameter.name.empty() && std::ranges::any_of(function.parameters, [&](const FunctionDef::Parameter& other) {
      return other.name == parameter.name;
    });
    if (twice) throw SqlError("42P13", fmt::format("parameter name \"{}\" used more than once", parameter.name));
    if (had_default && !parameter.default_value) {
      throw SqlError("42P13", "input parameters after one with a default value must also have defaults");
    }
    had_default = parameter.default_value != nullptr;
    function.parameters.push_back({parameter.name, type, had_default ? parser::to_sql(*parameter.default_value) : std::string()});
  }
}

/// What the function gives: RETURNS, OUT parameters, RETURNS TABLE.
void read_result(const CatalogDraft& draft, const ast::CreateFunction& statement, FunctionDef& function) {
  function.table_syntax = std::ranges::any_of(
      statement.parameters, [](const ast::FunctionParameter& parameter) { return parameter.mode == ast::ParameterMode::kTable; });
  if (function.columns.size() == 1 && !function.table_syntax) {
    function.result = function.columns[0].type;
  } else if (function.columns.empty()) {
    if (!statement.return_type) throw SqlError("42P13", "function result type must be specified");
    ast::TypeName plain;
    plain.names = statement.return_type->names;
    plain.array_bounds = statement.return_type->array_bounds;
    plain.percent_type = statement.return_type->percent_type;
    plain.offset = statement.return_type->offset;
    if (plain.names.back() == "trigger") throw SqlError("42P13", "SQL functions cannot return type trigger");
    function.result = parameter_type(draft, plain);
  } else {
    function.result = sql::Type{sql::oid::kRecord};
  }
  function.returns_set = function.table_syntax || (statement.return_type && statement.return_type->set_of);
  if (function.columns.size() == 1) {
    // One output column is the result itself, under its own name.
    function.result = function.columns[0].type;
  }
}

/// The one query that the body must be.
std::string read_body(const ast::CreateFunction& statement) {
  const auto refuse = [](const ast::Statement& other) {
    return sql::not_supported(fmt::format("{} in an SQL function", parser::command_tag(other)));
  };
  if (statement.return_expression) return "SELECT " + parser::to_sql(*statement.return_expression);
  if (statement.sql_body) {
    if (statement.body.size() != 1) throw sql::not_supported("SQL function of several statements");
    const auto* query = std::get_if<ast::Select>(&statement.body[0]->node);
    if (query == nullptr) throw refuse(*statement.body[0]);
    return parser::to_sql(*query);
  }
  const ast::Option* body = find_option(statement, "as");
  if (body == nullptr) throw SqlError("42P13", "no function body specified");
  const auto* texts = std::get_if<std::vector<std::string>>(&body->value);
  const std::string text = texts != nullptr ? texts->at(0) : text_of(*body);
  if (texts != nullptr && texts->size() != 1) throw SqlError("42P13", "only one AS item needed for language \"sql\"");
  const auto statements = parser::parse(text);
  if (statements.size() != 1) throw sql::not_supported("SQL function of several statements");
  const auto* query = std::get_if<ast::Select>(&statements[0].statement.node);
  if (query == nullptr || query->into) throw refuse(statements[0].statement);
  return text;
}

std::string read_options(const ast::CreateFunction& statement, FunctionDef& function) {
  if (find_option(statement, "window") != nullptr) throw sql::not_supported("WINDOW function");
  if (find_option(statement, "set") != nullptr) throw sql::not_supported("SET in CREATE FUNCTION");
  if (find_option(statement, "transform") != nullptr) throw sql::not_supported("TRANSFORM");
  function.strict = is_true(find_option(statement, "strict"));
  if (const ast::Option* volatility = find_option(statement, "volatility")) {
    const std::string word = text_of(*volatility);
    function.volatility = word == "immutable" ? FunctionDef::Volatility::kImmutable
                          : word == "stable"  ? FunctionDef::Volatility::kStable
                                              : FunctionDef::Volatility::kVolatile;
  }
  // Words of pg_get_functiondef(), in its order. Who calls is who owns: there is nothing to define.
  std::string words;
  const auto add = [&](std::string_view word) { words += fmt::format(" {}", word); };
  if (const ast::Option* parallel = find_option(statement, "parallel")) {
    const std::string word = text_of(*parallel);
    if (word == "safe") add("PARALLEL SAFE");
    else if (word == "restricted") add("PARALLEL RESTRICTED");
    else if (word != "unsafe") throw SqlError("42601", "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE");
  }
  if (is_true(find_option(statement, "security"))) add("SECURITY DEFINER");
  return words;
}

bool same_result(const FunctionDef& a, const FunctionDef& b) {
  return a.result == b.result && a.returns_set == b.returns_set &&
         std::ranges::equal(a.columns, b.columns,
                            [](const auto& x, const auto& y) { return x.name == y.name && x.type == y.type; });
}

void make_function(CatalogDraft& draft, const ast::CreateFunction& statement) {
  if (statement.procedure) throw sql::not_supported("CREATE PROCEDURE");
  check_language(statement);
  const ast::RelationName name = relation_name(statement.name);
  FunctionDef function;
  function.schema = creation_schema(draft, name);
  function.name = name.name;
  function.owner = draft.session().user;
  read_parameters(draft, statement, function);
  read_result(draft, statement, function);
  function.options = read_options(statement, function);
  function.standard_body = statement.sql_body;
  function.body = read_body(statement);
  planner::check_function(function, draft.catalog(), bind_settings(draft.session()));
  if (const auto existing = find_same_function(draft, function)) {
    if (!statement.replace) {
      throw SqlError("42723", fmt::format("function \"{}\" already exists with same argument types", function.name));
    }
    if (!same_result(*existing, function)) {
      throw SqlError("42P13", "cannot change return type of existing function")
          .hint(fmt::format("Use DROP FUNCTION {} first.", planner::signature_of(*existing)));
    }
    function.oid = existing->oid;
    function.comment = existing->comment;
  } else {
    function.oid = draft.new_oid();
  }
  draft.put(std::move(function));
}

/// The functions that a name in DROP FUNCTION means.
std::vector<std::shared_ptr<const FunctionDef>> functions_named(const CatalogDraft& draft, const ast::ObjectName& object) {
  const ast::RelationName name = relation_name(object.names);
  std::vector<sql::Type> types;
  for (const ast::TypeName& type : object.argument_types) types.push_back(bind_type(draft, type));
  std::vector<std::shared_ptr<const FunctionDef>> found;
  for (const auto& [oid, function] : draft.catalog().functions) {
    const auto& path = draft.session().search_path;
    const bool visible = name.schema.empty() ? std::ranges::find(path, function->schema) != path.end() : function->schema == name.schema;
    if (!visible || function->name != name.name) continue;
    const bool fits = !object.arguments_given ||
                      std::ranges::equal(function->parameters, types, [](const FunctionDef::Parameter& parameter, sql::Type type) {
                        return parameter.type.oid == type.oid;
                      });
    if (fits) found.push_back(function);
  }
  return found;
}

}  // namespace

std::shared_ptr<const FunctionDef> find_same_function(const CatalogDraft& draft, const FunctionDef& function) {
  for (const auto& [oid, other] : draft.catalog().functions) {
    const bool same = other->schema == function.schema && other->name == function.name &&
                      std::ranges::equal(other->parameters, function.parameters,
                                         [](const auto& a, const auto& b) { return a.type.oid == b.type.oid; });
    if (same) return other;
  }
  return nullptr;
}

std::shared_ptr<const FunctionDef> require_function(const CatalogDraft& draft, const ast::ObjectName& object) {
  const auto found = functions_named(draft, object);
  if (found.size() == 1) return found[0];
  if (found.size() > 1) {
    throw SqlError("42725", fmt::format("function name \"{}\" is not unique", fmt::join(object.names, ".")))
        .hint("Specify the argument list to select the function unambiguously.");
  }
  const std::string shown = fmt::format("{}", fmt::join(object.names, "."));
  std::string types;
  for (const ast::TypeName& type : object.argument_types) types += (types.empty() ? "" : ", ") + sql::format_type(bind_type(draft, type));
  throw SqlError("42883", object.arguments_given ? fmt::format("function {}({}) does not exist", shown, types)
                                                 : fmt::format("could not find a function named \"{}\"", shown));
}

asio::awaitable<void> run(DdlContext& context, const ast::CreateFunction& statement) {
  const MakeDraft make = [&statement](CatalogDraft& draft) { make_function(draft, statement); };
  co_await change_catalog(context, make);
}

void drop_functions(CatalogDraft& draft, const ast::Drop& statement) {
  for (const ast::ObjectName& object : statement.names) {
    if (statement.if_exists && functions_named(draft, object).empty()) {
      std::string types;  // as they were written
      for (const ast::TypeName& type : object.argument_types) {
        types += (types.empty() ? "" : ",") + fmt::format("{}", fmt::join(type.names, ".")) + (type.array_bounds.empty() ? "" : "[]");
      }
      draft.notice("00000", fmt::format("function {}({}) does not exist, skipping", fmt::join(object.names, "."), types));
    } else {
      draft.drop_function(require_function(draft, object)->oid);
    }
  }
}

}  // namespace redquel::executor
