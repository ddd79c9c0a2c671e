#include "executor/ddl/index_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "executor/ddl/column_definition.h"
#include "executor/ddl/index_expressions.h"
#include "executor/ddl/indexable.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/generalized_index.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/range_value.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// Returns the name of the operator class that the type has by itself. Types without a class of their own name use that of their kind.
std::string own_operator_class(sql::Type type) {
  if (type.oid == sql::oid::kVarchar) return "text_ops";
  if (type.oid == sql::oid::kCidr) return "inet_ops";
  if (sql::is_enum_type(type.oid)) return "enum_ops";
  if (sql::is_array_type(type.oid) && !sql::is_vector_type(type.oid)) return "array_ops";
  if (sql::is_range_type(type.oid)) return "range_ops";
  if (sql::is_multirange_type(type.oid)) return "multirange_ops";
  if (sql::is_row_type(type.oid)) return "record_ops";
  return std::string(sql::type_info(type.oid).name) + "_ops";
}

/// Operator classes that sort as the types do here: in C order patterns need no class of their own. Its name where it is not the type's own.
std::string read_operator_class(const ast::IndexElement& element, sql::Type type, std::string_view method) {
  if (element.operator_class.empty()) return {};
  const std::string& name = element.operator_class.back();
  const auto info = sql::type_info(type.oid);
  const bool is_text = info.category == sql::TypeCategory::kString;
  constexpr std::array<std::string_view, 6> kTextClasses{"text_ops",         "varchar_ops",         "bpchar_ops",
                                                         "text_pattern_ops", "varchar_pattern_ops", "bpchar_pattern_ops"};
  if (type.oid == sql::oid::kCitext && name == "citext_pattern_ops") return name;
  const bool is_text_class = std::find(kTextClasses.begin(), kTextClasses.end(), name) != kTextClasses.end();
  if (name == own_operator_class(type)) return {};
  if (is_text && is_text_class) return name;
  const bool is_network = type.oid == sql::oid::kInet || type.oid == sql::oid::kCidr;
  if (is_network && name == "cidr_ops") return name;
  if (is_text_class || sql::find_type(std::string_view(name).substr(0, name.find("_ops"))) != nullptr) {
    throw SqlError(sqlstate::kDatatypeMismatch,
                   fmt::format("operator class \"{}\" does not accept data type {}", name, sql::format_type(sql::Type{type.oid})));
  }
  throw SqlError(sqlstate::kUndefinedObject, fmt::format("operator class \"{}\" does not exist for access method \"{}\"", name, method));
}

}  // namespace

IndexPart read_index_part(const CatalogDraft& draft, const ast::IndexElement& element,
                          const sql::TableDef& table, std::string_view method) {
  if (is_system_column(element.column)) throw SqlError(sqlstate::kFeatureNotSupported, "index creation on system columns is not supported");
  const sql::ColumnDef* column = element.expression ? bare_column(table, *element.expression) : table.find_column(element.column);
  sql::IndexDef::Part part;
  sql::Type type;
  std::string name;
  if (column != nullptr) {
    part.column = column->number;
    type = column->type;
    name = column->name;
  } else if (element.expression) {
    IndexExpression expression = read_index_expression(draft, table, *element.expression, false);
    part.expression_sql = std::move(expression.text);
    type = expression.type;
    name = std::move(expression.name);
  } else {
    throw sql::undefined_column(element.column);
  }
  check_collation(element.collation, type, std::nullopt);
  if (generalized_method(method)) {
    part.operator_class = generalized_operator_class(draft.catalog(), element, type, method);
    return {std::move(part), std::move(name), type};
  }
  if (!element.operator_class_options.empty()) {
    const std::string own = std::string(sql::type_info(type.oid).name) + "_ops";
    throw SqlError(sqlstate::kInvalidParameterValue,
                   fmt::format("operator class {} has no options", element.operator_class.empty() ? own : element.operator_class.back()));
  }
  part.operator_class = read_operator_class(element, type, method);
  check_indexable(type, method);
  part.descending = element.direction == ast::SortDirection::kDescending;
  part.nulls_first = element.nulls == ast::SortNulls::kFirst || (element.nulls == ast::SortNulls::kDefault && part.descending);
  return {std::move(part), std::move(name), type};
}

}  // namespace redquel::executor
