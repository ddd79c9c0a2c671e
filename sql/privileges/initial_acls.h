#pragma once

#include <string_view>

#include "sql/privileges/acl.h"

namespace redquel::sql {

// Privileges that objects of the system have before anything is granted or revoked, as in PostgreSQL's pg_init_privs. nullopt: the default
// of the kind.

/// Returns the list of a table or view of pg_catalog, information_schema or redis.
OptionalAcl initial_relation_acl(std::string_view schema, std::string_view name);
/// Returns the list of a column: pg_subscription and redis.slowlog have columns with a list.
OptionalAcl initial_column_acl(std::string_view schema, std::string_view relation, std::string_view column);
/// Returns the list of a built-in function; redis.call and its relatives are for superusers.
OptionalAcl initial_function_acl(Oid function, std::string_view name);
/// Returns the list of a schema that every database has. `public` is found by its name.
OptionalAcl initial_schema_acl(std::string_view name);
/// Returns the list of template0 and template1.
OptionalAcl initial_database_acl(std::string_view name);

}  // namespace redquel::sql
