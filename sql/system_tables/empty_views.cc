// Views of PostgreSQL's that have no rows because redquel has none of the objects (yet).

#include "sql/system_tables/families.h"

namespace redquel::sql {
namespace {

const SystemTableDefinition kEmptyViews[] = {
    {"pg_catalog", "pg_locks", 12073, 'v',
     "locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text, transactionid xid, "
     "classid oid, objid oid, objsubid int2, virtualtransaction text, pid int4, mode text, granted bool, "
     "fastpath bool, waitstart timestamptz"},
    {"pg_catalog", "pg_prepared_xacts", 12090, 'v',
     "transaction xid, gid text, prepared timestamptz, owner name, database name"},
    {"pg_catalog", "pg_replication_slots", 12257, 'v',
     "slot_name name, plugin name, slot_type text, datoid oid, database name, temporary bool, active bool, "
     "active_pid int4, xmin xid, catalog_xmin xid, restart_lsn pg_lsn, confirmed_flush_lsn pg_lsn, "
     "wal_status text, safe_wal_size int8, two_phase bool"},
    {"pg_catalog", "pg_rules", 12023, 'v', "schemaname name, tablename name, rulename name, definition text"},
    {"pg_catalog", "pg_seclabels", 12099, 'v',
     "objoid oid, classoid oid, objsubid int4, objtype text, objnamespace oid, objname text, provider text, "
     "label text"},
    {"pg_catalog", "pg_stat_replication", 12227, 'v',
     "pid int4, usesysid oid, usename name, application_name text, client_addr inet, client_hostname text, "
     "client_port int4, backend_start timestamptz, backend_xmin xid, state text, sent_lsn pg_lsn, "
     "write_lsn pg_lsn, flush_lsn pg_lsn, replay_lsn pg_lsn, write_lag interval, flush_lag interval, "
     "replay_lag interval, sync_priority int4, sync_state text, reply_time timestamptz"},
    {"pg_catalog", "pg_stats", 12053, 'v',
     "schemaname name, tablename name, attname name, inherited bool, null_frac float4, avg_width int4, "
     "n_distinct float4, most_common_vals anyarray, most_common_freqs _float4, histogram_bounds anyarray, "
     "correlation float4, most_common_elems anyarray, most_common_elem_freqs _float4, "
     "elem_count_histogram _float4"},
};

}  // namespace

SystemTableFamily empty_views() { return kEmptyViews; }

}  // namespace redquel::sql
