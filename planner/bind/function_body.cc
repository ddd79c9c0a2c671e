#include "planner/bind/function_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "parser/parse.h"
#include "planner/bind/missing_arbiter.h"
#include "planner/bind/sql_function.h"
#include "sql/error.h"
#include "sql/expressions/coerce.h"
#include "sql/functions/polymorphic.h"
#include "sql/functions/row_functions.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ExpressionPtr;
using sql::FunctionDef;
using sql::SqlError;

namespace {

bool is_data_statement(const ast::Statement& statement) {
  const auto& node = statement.node;
  return std::holds_alternative<ast::Select>(node) || std::holds_alternative<ast::Insert>(node) ||
         std::holds_alternative<ast::Update>(node) || std::holds_alternative<ast::Delete>(node) ||
         std::holds_alternative<ast::Merge>(node);
}

SqlError mismatch(const FunctionDef& function, std::string detail) {
  return SqlError(sqlstate::kInvalidFunctionDefinition,
                  fmt::format("return type mismatch in function declared to return {}", sql::format_type(function.result)))
      .detail(std::move(detail));
}

ExpressionPtr in_type(std::size_t position, sql::Type from, sql::Type to, const sql::SessionSettings& settings) {
  const ExpressionPtr column = sql::make_column(from, static_cast<std::uint32_t>(position), "");
  return sql::try_coerce(column, to, sql::CastContext::kAssignment, settings);
}


ExpressionPtr record_of(const std::vector<std::string>& names, std::vector<ExpressionPtr> fields) {
  std::string text;
  for (const std::string& name : names) sql::append_array_element(name, text);
  sql::finish_array_text(text);
  fields.insert(fields.begin(), sql::make_constant(sql::kTextArray, text));
  return sql::make_expression(sql::Type{sql::oid::kRecord}, sql::FunctionCall{&sql::named_row_constructor(), std::move(fields)});
}

bool is_polymorphic(const FunctionDef& function) {
  return std::ranges::any_of(function.parameters, [](const auto& parameter) { return sql::is_polymorphic(parameter.type.oid); });
}

/// The texts of the oids of the function's columns.
ExpressionPtr declared_types(const FunctionDef& function) {
  std::string text;
  for (const FunctionDef::Column& column : function.columns)
    sql::append_array_element(std::to_string(column.type.oid), text);
  sql::finish_array_text(text);
  return sql::make_constant(sql::kTextArray, text);
}

}  // namespace

bool is_whole_row(const FunctionDef& function, const std::vector<sql::Type>& types) {
  if (types.size() != 1 || !sql::is_row_type(types[0].oid) || !sql::is_row_type(function.result.oid)) return false;
  return types[0].oid == function.result.oid || types[0].oid == sql::oid::kRecord ||
         function.result.oid == sql::oid::kRecord;
}

std::vector<ExpressionPtr> fields_of_row(const FunctionDef& function, const ExpressionPtr& row,
                                         const sql::SessionSettings& settings) {
  const ExpressionPtr converted = sql::try_coerce(row, function.result, sql::CastContext::kAssignment, settings);
  const bool is_record = function.result.oid == sql::oid::kRecord;
  std::vector<ExpressionPtr> fields;
  for (std::size_t i = 0; i < function.columns.size(); ++i) {
    std::vector<ExpressionPtr> arguments = {converted, sql::make_constant(sql::kInt4, static_cast<std::int32_t>(i))};
    if (is_record) arguments.push_back(declared_types(function));
    const sql::ScalarFunction& field = is_record ? sql::declared_field() : sql::row_field();
    fields.push_back(sql::make_expression(function.columns[i].type, sql::FunctionCall{&field, std::move(arguments)}));
  }
  return fields;
}

std::vector<BodyStatement> parse_function_body(const FunctionDef& function) {
  std::vector<BodyStatement> statements;
  for (const parser::ParsedStatement& one : parser::parse(function.body)) {
    std::string text = function.body.substr(one.offset, one.length);
    // Alone, so that its offsets are those of its own text.
    std::shared_ptr<const ast::Statement> statement = parser::parse_statement(text);
    statements.push_back({std::move(text), std::move(statement)});
  }
  return statements;
}

bool is_one_query(const FunctionDef& function) {
  if (function.language != "sql") return false;
  const auto statements = parser::parse(function.body);
  if (statements.size() != 1) return false;
  const auto* query = std::get_if<ast::Select>(&statements[0].statement->node);
  if (query == nullptr || query->into) return false;
  return !query->with || std::ranges::all_of(query->with->expressions, [](const ast::CommonTableExpression& with) {
    return std::holds_alternative<ast::Select>(with.statement->node);
  });
}

void check_result_types(const FunctionDef& function, const std::optional<std::vector<sql::Type>>& types,
                        const sql::SessionSettings& settings) {
  if (function.result.oid == sql::oid::kVoid || (function.procedure && function.columns.empty())) return;
  if (!types) throw mismatch(function, "Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.");
  if (!returns_rows(function)) {
    if (types->size() != 1) throw mismatch(function, "Final statement must return exactly one column.");
    if (in_type(0, (*types)[0], function.result, settings)) return;
    throw mismatch(function, fmt::format("Actual return type is {}.", sql::format_type(sql::Type{(*types)[0].oid})));
  }
  if (function.columns.empty() || is_whole_row(function, *types)) return;  // any record
  for (std::size_t i = 0; i < types->size(); ++i) {
    if (i >= function.columns.size()) throw mismatch(function, "Final statement returns too many columns.");
    const sql::Type wanted = function.columns[i].type;
    if (in_type(i, (*types)[i], wanted, settings)) continue;
    throw mismatch(function, fmt::format("Final statement returns {} instead of {} at column {}.", sql::format_type(sql::Type{(*types)[i].oid}),
                                         sql::format_type(sql::Type{wanted.oid}), i + 1));
  }
  if (types->size() < function.columns.size()) throw mismatch(function, "Final statement returns too few columns.");
}

std::vector<ExpressionPtr> function_results(const FunctionDef& function, const std::vector<sql::ResultColumn>& rows, bool as_value,
                                            const sql::SessionSettings& settings) {
  if (!returns_rows(function)) return {in_type(0, rows[0].type, function.result, settings)};
  std::vector<sql::Type> types;
  for (const sql::ResultColumn& column : rows) types.push_back(column.type);
  std::vector<ExpressionPtr> fields;
  std::vector<std::string> names;
  if (is_whole_row(function, types)) {
    const ExpressionPtr row = sql::make_column(types[0], 0, "");
    if (as_value) return {sql::try_coerce(row, function.result, sql::CastContext::kAssignment, settings)};
    return fields_of_row(function, row, settings);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool declared = i < function.columns.size();
    names.push_back(declared ? function.columns[i].name : rows[i].name);
    fields.push_back(in_type(i, rows[i].type, declared ? function.columns[i].type : rows[i].type, settings));
  }
  if (!as_value) return fields;
  if (sql::is_composite_type(function.result.oid)) {
    return {sql::make_expression(function.result, sql::FunctionCall{&sql::row_constructor(), std::move(fields)})};
  }
  return {record_of(names, std::move(fields))};
}

namespace {

/// Returns the procedure's call as it was written. Null: the grammar made something else of it.
const ast::FunctionCall* written_call(const ast::Call& call) {
  const auto& query = std::get<ast::Select>(call.query->node);
  const auto& procedure = std::get<ast::FunctionRef>(query.from.at(0).node);
  return std::get_if<ast::FunctionCall>(&procedure.functions.at(0).call->node);
}

/// Throws 0A000 for a CALL within a body that gives something: no caller takes it.
void check_no_output(const ast::Statement& statement, const sql::CatalogSnapshot& catalog) {
  const auto* call = std::get_if<ast::Call>(&statement.node);
  const ast::FunctionCall* written = call == nullptr ? nullptr : written_call(*call);
  if (written == nullptr) return;
  const bool has_output = std::ranges::any_of(catalog.functions, [&](const auto& entry) {
    const FunctionDef& procedure = *entry.second;
    return procedure.procedure && procedure.name == written->name.back() && procedure.parameters.size() == written->arguments.size() &&
           !procedure.columns.empty();
  });
  if (has_output) throw SqlError(sqlstate::kFeatureNotSupported, "calling procedures with output arguments is not supported in SQL functions");
}

}  // namespace

void check_function(std::shared_ptr<const FunctionDef> function, const sql::CatalogSnapshot& catalog, const BindSettings& settings) {
  const std::vector<BodyStatement> statements = parse_function_body(*function);
  if (is_polymorphic(*function)) return;
  std::vector<sql::Type> declared;
  for (const FunctionDef::Parameter& parameter : function->parameters) declared.push_back(parameter.type);
  const std::shared_ptr<const FunctionDef> concrete = concrete_function(catalog, function, declared);
  BindSettings inside = settings;
  inside.function = concrete;
  std::optional<std::vector<sql::Type>> types;
  for (const BodyStatement& one : statements) {
    types.reset();
    check_no_output(*one.statement, catalog);
    if (!is_data_statement(*one.statement)) continue;
    BoundStatement bound;
    try {
      bound = planner::bind(*one.statement, catalog, declared, inside);
    } catch (const MissingArbiter&) {
      return;  // pg_dump creates the index after the function; the result is not known yet
    }
    const bool gives_rows = std::holds_alternative<ast::Select>(one.statement->node) || !bound.plan->columns.empty();
    if (!gives_rows) continue;
    types.emplace();
    for (const LogicalColumn& column : bound.plan->columns) types->push_back(column.type);
  }
  const auto table = catalog.find_table(function->result_relation);
  const auto view = catalog.find_view(function->result_relation);
  try {
    check_result_types(*concrete, types, settings.session);
  } catch (const SqlError& error) {
    if (!table && !view) throw;
    throw SqlError(error.sqlstate(), fmt::format("return type mismatch in function declared to return {}", table ? table->name : view->name))
        .detail(error.detail());
  }
}

}  // namespace redquel::planner
