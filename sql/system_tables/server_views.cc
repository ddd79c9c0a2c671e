// Statistics and views of the server's own things (write-ahead log, replication, memory, configuration files) that PostgreSQL has and
// redquel has not: those with one row have it, full of zeros; the others have none.

#include "sql/system_tables/families.h"

namespace redquel::sql {
namespace {

const SystemTableDefinition kServerViews[] = {
    {"pg_catalog", "pg_stat_all_indexes", 12183, 'v',
     "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8, idx_tup_read int8, "
     "idx_tup_fetch int8", nullptr, "SELECT i.* FROM pg_catalog.pg_stat_user_indexes AS i"},
    {"pg_catalog", "pg_stat_archiver", 12285, 'v',
     "archived_count int8, last_archived_wal text, last_archived_time timestamptz, failed_count int8, "
     "last_failed_wal text, last_failed_time timestamptz, stats_reset timestamptz", nullptr,
     "SELECT 0::int8, NULL::text, NULL::timestamptz, 0::int8, NULL::text, NULL::timestamptz, pg_catalog.pg_postmaster_start_time()"},
    {"pg_catalog", "pg_stat_bgwriter", 12289, 'v',
     "checkpoints_timed int8, checkpoints_req int8, checkpoint_write_time float8, checkpoint_sync_time float8, "
     "buffers_checkpoint int8, buffers_clean int8, maxwritten_clean int8, buffers_backend int8, "
     "buffers_backend_fsync int8, buffers_alloc int8, stats_reset timestamptz", nullptr,
     "SELECT 0::int8, 0::int8, 0::float8, 0::float8, 0::int8, 0::int8, 0::int8, 0::int8, 0::int8, 0::int8, "
     "pg_catalog.pg_postmaster_start_time()"},
    {"pg_catalog", "pg_stat_wal", 12293, 'v',
     "wal_records int8, wal_fpi int8, wal_bytes numeric, wal_buffers_full int8, wal_write int8, wal_sync int8, "
     "wal_write_time float8, wal_sync_time float8, stats_reset timestamptz", nullptr,
     "SELECT 0::int8, 0::int8, 0::numeric, 0::int8, 0::int8, 0::int8, 0::float8, 0::float8, pg_catalog.pg_postmaster_start_time()"},
    {"pg_catalog", "pg_backend_memory_contexts", 12138, 'v',
     "name text, ident text, parent text, level int4, total_bytes int8, total_nblocks int8, free_bytes int8, "
     "free_chunks int8, used_bytes int8"},
    {"pg_catalog", "pg_config", 12130, 'v', "name text, setting text"},
    {"pg_catalog", "pg_file_settings", 12110, 'v',
     "sourcefile text, sourceline int4, seqno int4, name text, setting text, applied bool, error text"},
    {"pg_catalog", "pg_largeobject", 2613, 'r', "loid oid!, pageno int4!, data bytea!"},
    {"pg_catalog", "pg_replication_origin", 6000, 'r', "roident oid!, roname text!"},
    {"pg_catalog", "pg_replication_origin_status", 12332, 'v',
     "local_id oid, external_id text, remote_lsn pg_lsn, local_lsn pg_lsn"},
    {"pg_catalog", "pg_shmem_allocations", 12134, 'v', "name text, off int8, size int8, allocated_size int8"},
    {"pg_catalog", "pg_stat_database_conflicts", 12271, 'v',
     "datid oid, datname name, confl_tablespace int8, confl_lock int8, confl_snapshot int8, confl_bufferpin int8, "
     "confl_deadlock int8"},
    {"pg_catalog", "pg_stat_progress_analyze", 12297, 'v',
     "pid int4, datid oid, datname name, relid oid, phase text, sample_blks_total int8, sample_blks_scanned int8, "
     "ext_stats_total int8, ext_stats_computed int8, child_tables_total int8, child_tables_done int8, "
     "current_child_table_relid oid"},
    {"pg_catalog", "pg_stat_progress_basebackup", 12317, 'v',
     "pid int4, phase text, backup_total int8, backup_streamed int8, tablespaces_total int8, tablespaces_streamed "
     "int8"},
    {"pg_catalog", "pg_stat_progress_vacuum", 12302, 'v',
     "pid int4, datid oid, datname name, relid oid, phase text, heap_blks_total int8, heap_blks_scanned int8, "
     "heap_blks_vacuumed int8, index_vacuum_count int8, max_dead_tuples int8, num_dead_tuples int8"},
    {"pg_catalog", "pg_stat_recovery_prefetch", 12240, 'v',
     "stats_reset timestamptz, prefetch int8, hit int8, skip_init int8, skip_new int8, skip_fpw int8, skip_rep int8, "
     "wal_distance int4, block_distance int4, io_depth int4"},
    {"pg_catalog", "pg_stat_replication_slots", 12262, 'v',
     "slot_name text, spill_txns int8, spill_count int8, spill_bytes int8, stream_txns int8, stream_count int8, "
     "stream_bytes int8, total_txns int8, total_bytes int8, stats_reset timestamptz"},
    {"pg_catalog", "pg_stat_slru", 12232, 'v',
     "name text, blks_zeroed int8, blks_hit int8, blks_read int8, blks_written int8, blks_exists int8, flushes int8, "
     "truncates int8, stats_reset timestamptz"},
    {"pg_catalog", "pg_stat_subscription", 12244, 'v',
     "subid oid, subname name, pid int4, relid oid, received_lsn pg_lsn, last_msg_send_time timestamptz, "
     "last_msg_receipt_time timestamptz, latest_end_lsn pg_lsn, latest_end_time timestamptz"},
    {"pg_catalog", "pg_stat_subscription_stats", 12336, 'v',
     "subid oid, subname name, apply_error_count int8, sync_error_count int8, stats_reset timestamptz"},
    {"pg_catalog", "pg_stat_sys_indexes", 12188, 'v',
     "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8, idx_tup_read int8, "
     "idx_tup_fetch int8"},
    {"pg_catalog", "pg_stat_sys_tables", 12152, 'v',
     "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, "
     "n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, n_dead_tup int8, "
     "n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz, "
     "last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count int8, "
     "analyze_count int8, autoanalyze_count int8", nullptr,
     "SELECT t.* FROM pg_catalog.pg_stat_all_tables AS t WHERE t.schemaname IN ('pg_catalog', 'information_schema')"},
    {"pg_catalog", "pg_stat_user_functions", 12275, 'v',
     "funcid oid, schemaname name, funcname name, calls int8, total_time float8, self_time float8"},
    {"pg_catalog", "pg_stat_wal_receiver", 12236, 'v',
     "pid int4, status text, receive_start_lsn pg_lsn, receive_start_tli int4, written_lsn pg_lsn, flushed_lsn "
     "pg_lsn, received_tli int4, last_msg_send_time timestamptz, last_msg_receipt_time timestamptz, latest_end_lsn "
     "pg_lsn, latest_end_time timestamptz, slot_name text, sender_host text, sender_port int4, conninfo text"},
    {"pg_catalog", "pg_stat_xact_all_tables", 12147, 'v',
     "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, "
     "n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8"},
    {"pg_catalog", "pg_stat_xact_sys_tables", 12157, 'v',
     "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, "
     "n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8"},
    {"pg_catalog", "pg_stat_xact_user_functions", 12280, 'v',
     "funcid oid, schemaname name, funcname name, calls int8, total_time float8, self_time float8"},
    {"pg_catalog", "pg_stat_xact_user_tables", 12166, 'v',
     "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, "
     "n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8"},
    {"pg_catalog", "pg_statio_all_indexes", 12196, 'v',
     "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read int8, idx_blks_hit "
     "int8"},
    {"pg_catalog", "pg_statio_all_sequences", 12209, 'v',
     "relid oid, schemaname name, relname name, blks_read int8, blks_hit int8"},
    {"pg_catalog", "pg_statio_all_tables", 12170, 'v',
     "relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8, "
     "idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, tidx_blks_hit int8", nullptr,
     "SELECT t.* FROM pg_catalog.pg_statio_user_tables AS t"},
    {"pg_catalog", "pg_statio_sys_indexes", 12201, 'v',
     "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read int8, idx_blks_hit "
     "int8"},
    {"pg_catalog", "pg_statio_sys_sequences", 12214, 'v',
     "relid oid, schemaname name, relname name, blks_read int8, blks_hit int8"},
    {"pg_catalog", "pg_statio_sys_tables", 12175, 'v',
     "relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8, "
     "idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, tidx_blks_hit int8"},
    {"pg_catalog", "pg_statio_user_indexes", 12205, 'v',
     "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read int8, idx_blks_hit "
     "int8"},
    {"pg_catalog", "pg_statio_user_sequences", 12218, 'v',
     "relid oid, schemaname name, relname name, blks_read int8, blks_hit int8"},
    {"pg_catalog", "pg_stats_ext", 12058, 'v',
     "schemaname name, tablename name, statistics_schemaname name, statistics_name name, statistics_owner name, "
     "attnames _name, exprs _text, kinds _char, inherited bool, n_distinct pg_ndistinct, dependencies "
     "pg_dependencies, most_common_vals _text, most_common_val_nulls _bool, most_common_freqs _float8, "
     "most_common_base_freqs _float8"},
    {"pg_catalog", "pg_stats_ext_exprs", 12063, 'v',
     "schemaname name, tablename name, statistics_schemaname name, statistics_name name, statistics_owner name, expr "
     "text, inherited bool, null_frac float4, avg_width int4, n_distinct float4, most_common_vals anyarray, "
     "most_common_freqs _float4, histogram_bounds anyarray, correlation float4, most_common_elems anyarray, "
     "most_common_elem_freqs _float4, elem_count_histogram _float4"},
};

}  // namespace

SystemTableFamily server_views() { return kServerViews; }

}  // namespace redquel::sql
