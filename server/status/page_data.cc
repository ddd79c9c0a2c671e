#include "server/status/page_data.h"

namespace redquel::server {

namespace {

const PagePart kLiveParts[] = {
    {"sessions",
     "/* status page */ SELECT pid, usename AS role, datname AS database, application_name AS application, client_addr AS client, state, "
     "coalesce(wait_event_type || ': ' || wait_event, '') AS waits, "
     "round(extract(epoch FROM clock_timestamp() - coalesce(CASE WHEN state = 'active' THEN query_start ELSE state_change END, backend_start))::numeric, 1) AS seconds, "
     "query FROM pg_stat_activity WHERE application_name <> 'redquel status page' ORDER BY state <> 'active', seconds DESC LIMIT 200"},
    {"statements",
     "/* status page */ SELECT query, s.calls, rows, round(r2.round_trips::numeric / greatest(s.calls, 1), 1) AS trips, round(r2.commands::numeric / greatest(s.calls, 1), 1) AS commands, round(total_exec_time::numeric, 1) AS total_ms, round(mean_exec_time::numeric, 3) AS mean_ms, "
     "round(max_exec_time::numeric, 1) AS max_ms, r.rolname AS role, d.datname AS database, s.queryid::text AS id FROM pg_stat_statements s "
     "LEFT JOIN pg_stat_statements_redis r2 USING (userid, dbid, queryid) "
     "LEFT JOIN pg_roles r ON r.oid = s.userid LEFT JOIN pg_database d ON d.oid = s.dbid ORDER BY total_exec_time DESC LIMIT 30"},
    {"databases",
     "/* status page */ SELECT datname AS database, numbackends AS sessions, xact_commit AS commits, xact_rollback AS rollbacks, tup_returned AS rows_read, "
     "tup_inserted AS inserted, tup_updated AS updated, tup_deleted AS deleted, deadlocks FROM pg_stat_database WHERE datname NOT LIKE 'template%'"},
    {"locks",
     "/* status page */ SELECT l.pid, a.usename AS role, l.locktype AS kind, coalesce(c.relname, l.relation::text, '') AS relation, l.mode, l.granted, a.query FROM pg_locks l "
     "LEFT JOIN pg_stat_activity a USING (pid) LEFT JOIN pg_class c ON c.oid = l.relation "
     "WHERE l.pid IS DISTINCT FROM pg_backend_pid() ORDER BY l.granted, l.pid LIMIT 100"},
    {"progress",
     "/* status page */ SELECT pid, command, relid::regclass AS relation, tuples_processed AS rows, NULL::bigint AS of_rows FROM pg_stat_progress_copy UNION ALL "
     "SELECT pid, command, relid::regclass, tuples_done, tuples_total FROM pg_stat_progress_create_index UNION ALL "
     "SELECT pid, command, relid::regclass, heap_tuples_written, NULL FROM pg_stat_progress_cluster"},
    {"discovery", "/* status page */ SELECT state, keys_seen, keys_total, tables, left_out, seconds_left FROM redquel.discovery"},
    {"memory", "/* status page */ SELECT * FROM redquel.cached_tables()"},
    {"redis",
     "/* status page */ SELECT section, name, value FROM redis.info WHERE name IN ('redis_version', 'valkey_version', 'uptime_in_seconds', 'used_memory', 'maxmemory', "
     "'maxmemory_policy', 'mem_fragmentation_ratio', 'aof_enabled', 'aof_last_write_status', 'rdb_last_bgsave_status', 'rdb_last_save_time', "
     "'rdb_changes_since_last_save', 'role', 'connected_slaves', 'connected_clients', 'instantaneous_ops_per_sec', 'evicted_keys', 'slave0', 'slave1')"},
};

const PagePart kTableParts[] = {
    {"tables",
     "/* status page */ SELECT n.nspname AS schema, c.relname AS table, CASE c.relkind WHEN 'f' THEN 'foreign' WHEN 'm' THEN 'materialized view' ELSE 'table' END AS kind, "
     "c.reltuples::bigint AS rows, pg_table_size(c.oid) AS bytes, pg_indexes_size(c.oid) AS index_bytes, "
     "s.seq_scan AS full_scans, s.idx_scan AS index_scans, "
     "(SELECT string_agg(i.relname || ' (' || m.amname || ')', ', ' ORDER BY i.relname) FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid "
     "JOIN pg_am m ON m.oid = i.relam WHERE x.indrelid = c.oid) AS indexes "
     "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid "
     "WHERE c.relkind IN ('r', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'redis') AND n.nspname NOT LIKE 'pg_temp%' "
     "ORDER BY bytes DESC NULLS LAST, 1, 2 LIMIT 500"},
};

/// For the completion: columns of tables with their indexes, names as SQL writes them.
const PagePart kCatalogParts[] = {
    {"columns",
     "/* status page */ SELECT n.nspname AS schema, c.relname AS table, CASE WHEN n.nspname = 'public' THEN '' ELSE quote_ident(n.nspname) || '.' END || quote_ident(c.relname) AS name, "
     "quote_ident(a.attname) AS column, format_type(a.atttypid, a.atttypmod) AS type, "
     "EXISTS (SELECT FROM pg_constraint p WHERE p.conrelid = c.oid AND p.contype = 'p' AND a.attnum = ANY (p.conkey)) AS key, "
     "(SELECT string_agg(m.amname, ', ') FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam "
     "WHERE x.indrelid = c.oid AND x.indkey[0] = a.attnum AND NOT x.indisprimary) AS index "
     "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid "
     "WHERE c.relkind IN ('r', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname NOT IN ('pg_catalog', 'information_schema') "
     "AND n.nspname NOT LIKE 'pg_temp%' ORDER BY 1, 2, a.attnum LIMIT 5000"},
};

}  // namespace

std::span<const PagePart> catalog_parts() { return kCatalogParts; }
std::span<const PagePart> live_parts() { return kLiveParts; }
std::span<const PagePart> table_parts() { return kTableParts; }

}  // namespace redquel::server
