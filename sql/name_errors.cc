#include "sql/name_errors.h"

#include <fmt/format.h>

#include "sql/sqlstate.h"

namespace redquel::sql {

SqlError undefined_database(std::string_view database) {
  return SqlError(sqlstate::kUndefinedDatabase, fmt::format("database \"{}\" does not exist", database));
}

SqlError undefined_schema(std::string_view schema) {
  return SqlError(sqlstate::kUndefinedSchema, fmt::format("schema \"{}\" does not exist", schema));
}

SqlError undefined_relation(std::string_view relation) {
  return SqlError(sqlstate::kUndefinedTable, fmt::format("relation \"{}\" does not exist", relation));
}

SqlError undefined_column(std::string_view column) {
  return SqlError(sqlstate::kUndefinedColumn, fmt::format("column \"{}\" does not exist", column));
}

SqlError undefined_column(std::string_view column, std::string_view relation) {
  return SqlError(sqlstate::kUndefinedColumn, fmt::format("column \"{}\" of relation \"{}\" does not exist", column, relation));
}

SqlError undefined_key_column(std::string_view column) {
  return SqlError(sqlstate::kUndefinedColumn, fmt::format("column \"{}\" named in key does not exist", column));
}

SqlError undefined_type(std::string_view type) {
  return SqlError(sqlstate::kUndefinedObject, fmt::format("type \"{}\" does not exist", type));
}

SqlError undefined_role(std::string_view role) {
  return SqlError(sqlstate::kUndefinedObject, fmt::format("role \"{}\" does not exist", role));
}

SqlError undefined_access_method(std::string_view method) {
  return SqlError(sqlstate::kUndefinedObject, fmt::format("access method \"{}\" does not exist", method));
}

SqlError undefined_table_constraint(std::string_view constraint, std::string_view table) {
  return SqlError(sqlstate::kUndefinedObject, fmt::format("constraint \"{}\" for table \"{}\" does not exist", constraint, table));
}

SqlError undefined_domain_constraint(std::string_view constraint, std::string_view domain) {
  return SqlError(sqlstate::kUndefinedObject, fmt::format("constraint \"{}\" for domain {} does not exist", constraint, domain));
}

SqlError undefined_cursor(std::string_view cursor) {
  return SqlError(sqlstate::kUndefinedCursor, fmt::format("cursor \"{}\" does not exist", cursor));
}

SqlError undefined_prepared_statement(std::string_view statement) {
  return SqlError(sqlstate::kUndefinedPreparedStatement, fmt::format("prepared statement \"{}\" does not exist", statement))
      .routine("FetchPreparedStatement");
}

SqlError duplicate_relation(std::string_view relation) {
  return SqlError(sqlstate::kDuplicateTable, fmt::format("relation \"{}\" already exists", relation));
}

SqlError duplicate_database(std::string_view database) {
  return SqlError(sqlstate::kDuplicateDatabase, fmt::format("database \"{}\" already exists", database));
}

SqlError duplicate_column(std::string_view column, std::string_view relation) {
  return SqlError(sqlstate::kDuplicateColumn, fmt::format("column \"{}\" of relation \"{}\" already exists", column, relation));
}

SqlError duplicate_constraint(std::string_view constraint, std::string_view relation) {
  return SqlError(sqlstate::kDuplicateObject, fmt::format("constraint \"{}\" for relation \"{}\" already exists", constraint, relation));
}

SqlError column_listed_twice(std::string_view column) {
  return SqlError(sqlstate::kDuplicateColumn, fmt::format("column \"{}\" specified more than once", column));
}

SqlError table_name_listed_twice(std::string_view name) {
  return SqlError(sqlstate::kDuplicateAlias, fmt::format("table name \"{}\" specified more than once", name));
}

SqlError conflicting_options() { return SqlError(sqlstate::kSyntaxError, "conflicting or redundant options"); }

SqlError wrong_object_kind(std::string_view name, std::string_view kind) {
  return SqlError(sqlstate::kWrongObjectType, fmt::format("\"{}\" is not {}", name, kind));
}

SqlError is_system_catalog(std::string_view relation) {
  return SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied: \"{}\" is a system catalog", relation));
}

SqlError has_pseudo_type(std::string_view column, std::string_view type) {
  return SqlError(sqlstate::kInvalidTableDefinition, fmt::format("column \"{}\" has pseudo-type {}", column, type));
}

SqlError unrecognized_parameter(std::string_view parameter) {
  return SqlError(sqlstate::kInvalidParameterValue, fmt::format("unrecognized parameter \"{}\"", parameter));
}

}  // namespace redquel::sql
