#include "executor/runtime/plpgsql_declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "parser/parse.h"
#include "parser/plpgsql_parse.h"
#include "planner/bind/bind_type.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::FunctionDef;
using sql::SqlError;
using Mode = FunctionDef::Parameter::Mode;

VariableShape shape_of(sql::Type type, sql::Oid domain, const sql::CatalogSnapshot& catalog) {
  VariableShape shape;
  shape.type = type;
  shape.domain = domain;
  if (type.oid == sql::oid::kRecord) shape.kind = VariableShape::Kind::kRecord;
  const sql::KnownTypesScope known_types(catalog.user_types);
  const sql::UserType* composite = sql::is_composite_type(type.oid) ? sql::find_user_type(type.oid) : nullptr;
  if (composite == nullptr) return shape;
  shape.kind = VariableShape::Kind::kRow;
  for (const sql::CompositeField& field : composite->fields) {
    shape.fields.push_back({field.name, field.type});
    shape.field_domains.push_back(field.domain);
  }
  return shape;
}

namespace {

/// The words of a name: `s.t.c`, with quoted ones.
std::vector<std::string> split_name(const std::string& text) {
  std::vector<std::string> words = {""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      while (++i < text.size() && text[i] != '"') words.back() += text[i];
    } else if (text[i] == '.') {
      words.emplace_back();
    } else if (text[i] != ' ' && text[i] != '\n' && text[i] != '\t') {
      words.back() += text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    }
  }
  return words;
}

/// The part of a type's text in front of %TYPE or %ROWTYPE; nullopt: it does not end so.
std::optional<std::string> copied(const std::string& text, std::string_view ending) {
  const std::size_t sign = text.rfind('%');
  if (sign == std::string::npos) return std::nullopt;
  std::string word;
  for (const char c : text.substr(sign + 1)) {
    if (c != ' ' && c != '\n' && c != '\t') word += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  if (word != ending) return std::nullopt;
  return text.substr(0, sign);
}

VariableShape declared_shape(const PlpgsqlDeclarations& made, const pl::Variable& variable, const sql::CatalogSnapshot& catalog,
                             const SessionState& session) {
  if (variable.same_as) return made.shapes.at(*variable.same_as);
  if (variable.is_integer) return shape_of(sql::kInt4, 0, catalog);
  if (variable.type.empty()) return shape_of(sql::kText, 0, catalog);  // of CASE
  ast::TypeName name;
  if (const std::optional<std::string> column = copied(variable.type, "type")) {
    name.names = split_name(*column);
    name.percent_type = true;
    if (name.names.size() < 2) throw SqlError(sqlstate::kUndefinedObject, fmt::format("variable \"{}\" does not exist", name.names[0]));
  } else if (const std::optional<std::string> row = copied(variable.type, "rowtype")) {
    name.names = split_name(*row);
    const std::string_view schema = name.names.size() > 1 ? std::string_view(name.names[0]) : std::string_view();
    const bool exists = catalog.find_table(schema, name.names.back(), session.search_path) || catalog.find_view(schema, name.names.back(), session.search_path) ||
                        catalog.find_user_type(schema, name.names.back(), session.search_path);
    if (!exists) throw SqlError(sqlstate::kUndefinedTable, fmt::format("relation \"{}\" does not exist", fmt::join(name.names, ".")));
  } else {
    name = parser::parse_type_name(variable.type);
  }
  if (name.names.size() == 1 && name.names[0] == "record" && name.array_bounds.empty()) return shape_of(sql::Type{sql::oid::kRecord}, 0, catalog);
  planner::DeclaredType declared;
  try {
    declared = planner::bind_declared_type(name, catalog, session.search_path);
  } catch (const SqlError& error) {
    throw error.without_position();
  }
  const bool is_pseudo = sql::type_info(declared.type.oid).category == sql::TypeCategory::kPseudo && declared.type.oid != sql::oid::kRecord;
  if (is_pseudo) {
    throw SqlError(sqlstate::kFeatureNotSupported,
                   fmt::format("variable \"{}\" has pseudo-type {}", variable.name, sql::format_type(declared.type)));
  }
  return shape_of(declared.type, declared.domain, catalog);
}

PlpgsqlDeclarations declare(const FunctionDef& definition, const pl::Signature& signature, const std::vector<sql::Type>& argument_types,
                            const sql::CatalogSnapshot& catalog, const SessionState& session) {
  PlpgsqlDeclarations made;
  made.body = pl::parse_body(definition.body, signature);
  for (const pl::Variable& variable : made.body.variables) {
    if (variable.argument) {
      made.shapes.push_back(shape_of(argument_types.at(*variable.argument), 0, catalog));
      continue;
    }
    try {
      made.shapes.push_back(declared_shape(made, variable, catalog, session));
    } catch (const SqlError& error) {
      throw SqlError(error.without_position()).context(fmt::format("compilation of PL/pgSQL function \"{}\" near line {}", definition.name, variable.line));
    }
  }
  return made;
}

}  // namespace

PlpgsqlDeclarations declare_trigger_function(const FunctionDef& definition, const sql::TableDef* table, const sql::CatalogSnapshot& catalog,
                                             const SessionState& session) {
  pl::Signature signature;
  signature.name = definition.name;
  std::vector<sql::Type> types;
  const sql::Type record{sql::oid::kRecord};
  const std::pair<const char*, sql::Type> variables[kTriggerVariables] = {
      {"new", record},           {"old", record},           {"tg_name", sql::kName},         {"tg_when", sql::kText},
      {"tg_level", sql::kText},  {"tg_op", sql::kText},     {"tg_relid", sql::kOidType},     {"tg_relname", sql::kName},
      {"tg_table_name", sql::kName}, {"tg_table_schema", sql::kName}, {"tg_nargs", sql::kInt4}, {"tg_argv", sql::Type{sql::oid::kTextArray}},
  };
  for (const auto& [name, type] : variables) {
    signature.arguments.push_back({.name = name, .has_number = false});
    types.push_back(type);
  }
  PlpgsqlDeclarations made = declare(definition, signature, types, catalog, session);
  if (table == nullptr) return made;
  VariableShape row;
  row.kind = VariableShape::Kind::kRow;
  row.type = sql::Type{table->row_type};
  if (table->of_view) row.type = record;
  for (const sql::ColumnDef& column : table->columns) {
    // The type of the table's rows has the hidden columns of foreign tables, too.
    if (column.hidden) row.type = record;
    if (column.hidden) continue;
    row.fields.push_back({column.name, column.type});
    row.field_domains.push_back(column.domain);
  }
  for (std::size_t i = 0; i < made.body.variables.size(); ++i) {
    const std::optional<std::size_t> argument = made.body.variables[i].argument;
    if (argument && *argument < 2) made.shapes[i] = row;
  }
  return made;
}

PlpgsqlDeclarations declare_plpgsql(const FunctionDef& definition, bool has_outputs, const sql::CatalogSnapshot& catalog, const SessionState& session) {
  if (definition.result.oid == 2279) return declare_trigger_function(definition, nullptr, catalog, session);
  pl::Signature signature;
  signature.name = definition.name;
  signature.returns_set = definition.returns_set;
  signature.procedure = definition.procedure;
  signature.returns_void = definition.result.oid == sql::oid::kVoid;
  signature.has_outputs = has_outputs;
  std::vector<sql::Type> types;
  for (const FunctionDef::Parameter& parameter : definition.parameters) {
    signature.arguments.push_back({parameter.name, parameter.mode != Mode::kOut});
    types.push_back(parameter.type);
  }
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; has_outputs && i < definition.columns.size(); ++i) {
    const FunctionDef::Column& column = definition.columns[i];
    const auto parameter = std::ranges::find_if(definition.parameters, [&](const FunctionDef::Parameter& one) {
      return !one.name.empty() && one.name == column.name && !definition.table_syntax;
    });
    if (parameter != definition.parameters.end()) {
      outputs.push_back(static_cast<std::size_t>(parameter - definition.parameters.begin()));
      continue;
    }
    outputs.push_back(types.size());
    signature.arguments.push_back({column.name, false});
    types.push_back(column.type);
  }
  PlpgsqlDeclarations made = declare(definition, signature, types, catalog, session);
  made.has_outputs = has_outputs;
  made.outputs = std::move(outputs);
  return made;
}

PlpgsqlDeclarations declare_plpgsql_code(const FunctionDef& definition, const sql::CatalogSnapshot& catalog, const SessionState& session) {
  pl::Signature signature;
  signature.procedure = true;
  return declare(definition, signature, {}, catalog, session);
}

}  // namespace redquel::executor
