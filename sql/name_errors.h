#pragma once

#include <string_view>

#include "sql/error.h"

namespace redquel::sql {

// Errors about names: objects that do not exist, that exist already, or that are of another kind. Each has PostgreSQL's wording and
// SQLSTATE; the caller adds the position, details and hints.

// ---- objects that do not exist ----

SqlError undefined_database(std::string_view database);  // 3D000
SqlError undefined_schema(std::string_view schema);  // 3F000
SqlError undefined_relation(std::string_view relation);  // 42P01
SqlError undefined_column(std::string_view column);  // 42703
SqlError undefined_column(std::string_view column, std::string_view relation);  // 42703
SqlError undefined_key_column(std::string_view column);  // 42703: of PRIMARY KEY, UNIQUE, EXCLUDE
SqlError undefined_type(std::string_view type);  // 42704
SqlError undefined_role(std::string_view role);  // 42704
SqlError undefined_access_method(std::string_view method);  // 42704
SqlError undefined_table_constraint(std::string_view constraint, std::string_view table);  // 42704
SqlError undefined_domain_constraint(std::string_view constraint, std::string_view domain);  // 42704: `domain` as format_type has it
SqlError undefined_cursor(std::string_view cursor);  // 34000
SqlError undefined_prepared_statement(std::string_view statement);  // 26000

// ---- names that are taken ----

SqlError duplicate_relation(std::string_view relation);  // 42P07
SqlError duplicate_database(std::string_view database);  // 42P04
SqlError duplicate_column(std::string_view column, std::string_view relation);  // 42701
SqlError duplicate_constraint(std::string_view constraint, std::string_view relation);  // 42710
SqlError column_listed_twice(std::string_view column);  // 42701: in one list of columns
SqlError table_name_listed_twice(std::string_view name);  // 42712: in one FROM clause
SqlError conflicting_options();  // 42601: an option is written twice

// ---- objects of another kind ----

SqlError wrong_object_kind(std::string_view name, std::string_view kind);  // 42809: `kind` with its article, "a table"
SqlError is_system_catalog(std::string_view relation);  // 42501: a write to pg_catalog
SqlError has_pseudo_type(std::string_view column, std::string_view type);  // 42P16
SqlError unrecognized_parameter(std::string_view parameter);  // 22023: of WITH (...)

}  // namespace redquel::sql
