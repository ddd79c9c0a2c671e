#include "sql/privileges/initial_acls.h"

#include <algorithm>
#include <array>

#include "sql/catalog/role_set.h"
#include "sql/privileges/held_rights.h"

namespace redquel::sql {

namespace {

/// The owner's rights and others after them.
Acl with_owner(AclKind kind, Oid grantee, Rights rights, Oid owner = kPostgresRole) {
  return {{owner, owner, all_rights(kind), 0}, {grantee, owner, rights, 0}};
}
Acl owner_alone(AclKind kind) { return {{kPostgresRole, kPostgresRole, all_rights(kind), 0}}; }

template <class Names, class T>
bool contains(const Names& names, const T& name) {
  return std::ranges::find(names, name) != std::end(names);
}

constexpr std::string_view kSecretRelations[] = {
    "pg_statistic", "pg_statistic_ext_data", "pg_authid", "pg_shadow", "pg_file_settings", "pg_hba_file_rules", "pg_ident_file_mappings",
    "pg_config", "pg_user_mapping", "pg_replication_origin_status", "pg_subscription", "pg_largeobject",
};
constexpr std::string_view kStatisticsRelations[] = {"pg_shmem_allocations", "pg_backend_memory_contexts"};
constexpr std::string_view kUngrantedInformation[] = {"sql_parts", "transforms", "_pg_foreign_table_columns", "_pg_foreign_data_wrappers",
                                                      "_pg_foreign_servers", "_pg_foreign_tables", "_pg_user_mappings"};
/// The tables of Redis that pg_monitor reads: no keys and no values. In slowlog, all columns but the commands' arguments.
constexpr std::string_view kMonitoredRedis[] = {"info", "clients", "commandstats"};

/// pg_subscription shows all but the connection string.
constexpr std::string_view kSubscriptionColumns[] = {"oid", "subdbid", "subskiplsn", "subname", "subowner", "subenabled", "subbinary",
                                                     "substream", "subtwophasestate", "subdisableonerr", "subslotname", "subsynccommit",
                                                     "subpublications"};

// Functions that PostgreSQL revokes from PUBLIC (system_functions.sql), by oid, in order.
constexpr Oid kSecretFunctions[] = {
    764,  765,  767,  2172, 2274, 2307, 2621, 2622, 2623, 2624, 2625, 2739, 2848, 3071, 3072, 3098, 3293, 3295, 3297, 3307, 3329, 3400, 3401,
    3436, 3775, 3776, 3777, 3800, 3801, 3826, 3827, 3828, 4543, 6003, 6004, 6005, 6006, 6007, 6008, 6009, 6010, 6011, 6012, 6013, 6014, 6170,
    6230, 6232, 6250};
constexpr Oid kMonitorFunctions[] = {3353, 3354, 5029, 5030, 5031, 6270, 6271, 6272};
constexpr Oid kStatisticsFunctions[] = {2282, 5052};

}  // namespace

OptionalAcl initial_relation_acl(std::string_view schema, std::string_view name) {
  if (schema == "redis") {
    if (contains(kMonitoredRedis, name)) return with_owner(AclKind::kTable, kMonitorRole, right::kSelect);
    return std::nullopt;
  }
  if (schema == "redquel" && name == "left_out") return std::nullopt;  // shows keys
  if (schema == "information_schema") {
    if (contains(kUngrantedInformation, name)) return std::nullopt;
    return with_owner(AclKind::kTable, kPublic, right::kSelect);
  }
  if (contains(kSecretRelations, name)) return owner_alone(AclKind::kTable);
  if (contains(kStatisticsRelations, name)) return with_owner(AclKind::kTable, kReadAllStatsRole, right::kSelect);
  return with_owner(AclKind::kTable, kPublic, name == "pg_settings" ? right::kSelect | right::kUpdate : right::kSelect);
}

OptionalAcl initial_column_acl(std::string_view schema, std::string_view relation, std::string_view column) {
  if (schema == "redis" && relation == "slowlog" && column != "arguments") return Acl{{kMonitorRole, kPostgresRole, right::kSelect, 0}};
  if (schema != "pg_catalog" || relation != "pg_subscription" || !contains(kSubscriptionColumns, column)) return std::nullopt;
  return Acl{{kPublic, kPostgresRole, right::kSelect, 0}};
}

OptionalAcl initial_function_acl(Oid function, std::string_view name) {
  if (name.starts_with("redis.")) return owner_alone(AclKind::kFunction);
  if (std::ranges::binary_search(kSecretFunctions, function)) return owner_alone(AclKind::kFunction);
  if (contains(kMonitorFunctions, function)) return with_owner(AclKind::kFunction, kMonitorRole, right::kExecute);
  if (contains(kStatisticsFunctions, function)) return with_owner(AclKind::kFunction, kReadAllStatsRole, right::kExecute);
  return std::nullopt;
}

OptionalAcl initial_schema_acl(std::string_view name) {
  if (name == "public") return with_owner(AclKind::kSchema, kPublic, right::kUsage, kDatabaseOwnerRole);
  if (name == "pg_catalog" || name == "information_schema" || name == "redquel") return with_owner(AclKind::kSchema, kPublic, right::kUsage);
  // Keys and streams show what rows hide: PUBLIC has nothing.
  if (name == "redis") return with_owner(AclKind::kSchema, kMonitorRole, right::kUsage);
  return std::nullopt;
}

OptionalAcl initial_database_acl(std::string_view name) {
  if (name != "template0" && name != "template1") return std::nullopt;
  return Acl{{kPublic, kPostgresRole, right::kConnect, 0}, {kPostgresRole, kPostgresRole, all_rights(AclKind::kDatabase), 0}};
}

}  // namespace redquel::sql
