#pragma once

#include <span>
#include <string_view>

#include "sql/system_tables.h"

namespace redquel::sql {

/// The definition of a system table. `columns`: "oid oid!, nspname name!, nspacl _aclitem": name, pg_type.typname, and ! for NOT NULL. A
/// column without a type is information_schema's sql_identifier.
struct SystemTableDefinition {
  std::string_view schema, name;
  Oid oid;
  char kind;
  std::string_view columns;
  void (*fill)(RowWriter&, const CatalogSnapshot&, const EvaluationContext&) = nullptr;
  std::string_view query = {};
};

/// Types that redquel does not have are replaced by the nearest that prints alike.
SystemTable make_system_table(const SystemTableDefinition& definition);

using SystemTableFamily = std::span<const SystemTableDefinition>;

// One per file; system_tables.cc puts them together.

SystemTableFamily relation_tables();        // pg_namespace, pg_class, pg_attribute, pg_attrdef, pg_sequence
SystemTableFamily index_tables();           // pg_index, pg_constraint, pg_am, pg_opclass, pg_opfamily
SystemTableFamily dependency_tables();      // pg_depend, pg_description, pg_shdescription
SystemTableFamily extension_tables();       // pg_extension, pg_available_extensions
SystemTableFamily publication_tables();     // pg_publication, pg_publication_rel, pg_publication_tables
SystemTableFamily policy_tables();          // pg_policy, pg_policies
SystemTableFamily trigger_tables();         // pg_trigger, information_schema.triggers
SystemTableFamily type_tables();            // pg_type, pg_cast, pg_collation
SystemTableFamily partition_tables();       // pg_inherits, pg_partitioned_table
SystemTableFamily text_search_tables();    // pg_ts_config, pg_ts_dict and their kin
SystemTableFamily function_tables();        // pg_proc, pg_aggregate, pg_operator, pg_language
SystemTableFamily cluster_tables();         // pg_database, pg_authid, pg_roles, pg_user, pg_tablespace
SystemTableFamily view_tables();            // pg_rewrite, information_schema.views
SystemTableFamily summary_views();          // pg_tables, pg_indexes, pg_sequences, pg_stat_user_tables
SystemTableFamily server_views();           // pg_stat_bgwriter, pg_config and other views of server parts that redquel lacks
SystemTableFamily rule_file_views();        // pg_hba_file_rules, pg_ident_file_mappings
SystemTableFamily session_views();          // pg_settings, pg_prepared_statements, pg_cursors
SystemTableFamily statistics_views();       // pg_stat_activity, pg_stat_database, pg_stat_statements
SystemTableFamily foreign_tables();         // pg_foreign_table, pg_foreign_server
SystemTableFamily privilege_tables();       // pg_default_acl, pg_init_privs
SystemTableFamily empty_tables();           // of what redquel has none: event triggers, subscriptions
SystemTableFamily empty_views();
SystemTableFamily information_tables();       // schemata, tables, columns, sequences
SystemTableFamily information_constraints();  // table_constraints, key_column_usage
SystemTableFamily information_grants();         // enabled_roles, table_privileges, usage_privileges
SystemTableFamily information_implementation(); // collations, sql_implementation_info
SystemTableFamily empty_information_views();
SystemTableFamily redis_tables();  // redis.keys, redis.info and so on

}  // namespace redquel::sql
