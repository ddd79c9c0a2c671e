// The activity of sessions: pg_stat_activity, pg_stat_progress_…, pg_stat_ssl, pg_stat_gssapi, pg_stat_database, pg_stat_statements.

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "sql/catalog/role_set.h"
#include "sql/statistics.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/shown_sessions.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

constexpr Oid kReadAllStatistics = 3375;
constexpr std::string_view kHiddenQuery = "<insufficient privilege>";

/// Returns true if the current role may see what sessions of a role do.
bool may_see(const EvaluationContext& context, Oid role) {
  const RoleDef* current = known_roles()->find(context.user);
  if (current == nullptr) return false;
  return known_roles()->has_privileges_of(current->oid, kReadAllStatistics, context.database) ||
         known_roles()->has_privileges_of(current->oid, role, context.database);
}

/// Returns the sessions of this process and, where they are shown, of the others.
std::vector<SessionStatistics> sessions() {
  std::vector<SessionStatistics> all;
  if (statistics_hooks().sessions != nullptr) all = statistics_hooks().sessions();
  if (const auto* others = ShownSessions::current()) all.insert(all.end(), others->begin(), others->end());
  return all;
}

/// NULL where there is no such moment.
std::optional<std::int64_t> moment(std::int64_t microseconds) { return microseconds == 0 ? std::nullopt : std::optional(microseconds); }

/// The client's address as an inet stores it; empty: it came by a unix socket.
std::string address_value(const std::string& address) {
  return address.empty() ? std::string() : std::get<std::string>(parse_value(kInet, address, {}));
}

void activity(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  for (const SessionStatistics& one : sessions()) {
    if (!may_see(context, one.role)) {
      out.add(database_oid(one.database), one.database, one.process_id, kNull, one.role, one.role_name, one.application_name, kNull, kNull, kNull,
              kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kHiddenQuery, kNull);
      continue;
    }
    const bool waits_within = !one.awaited_event.empty();
    const std::string_view type_within = one.awaited_event == kReplicationWait ? "IPC" : "Lock";
    const std::string_view wait_type = waits_within ? type_within : one.waits_for_client ? "Client" : "";
    const std::string_view wait_event = waits_within ? one.awaited_event : one.waits_for_client ? "ClientRead" : "";
    out.add(database_oid(one.database), one.database, one.process_id, kNull, one.role, one.role_name, one.application_name,
            null_if_empty(address_value(one.client_address)), kNull, one.client_port, one.started, moment(one.transaction_started),
            moment(one.statement_started), moment(one.state_changed), null_if_empty(wait_type), null_if_empty(wait_event), null_if_empty(one.state), kNull, kNull,
            moment(one.query_id), one.query, "client backend");
  }
}

/// Calls `add` with each session whose long work is one of these, and its figures; without figures if the current role may not see them.
template <class Add, class Hide>
void visit_work(const EvaluationContext& context, std::initializer_list<LongWork> works, const Add& add, const Hide& hide) {
  for (const SessionStatistics& one : sessions()) {
    if (std::ranges::find(works, one.progress.work) == works.end()) continue;
    may_see(context, one.role) ? add(one, one.progress) : hide(one);
  }
}

void copy_progress(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  visit_work(
      context, {LongWork::kCopyFrom, LongWork::kCopyTo},
      [&](const SessionStatistics& one, const ProgressFigures& work) {
        const std::string_view command = work.work == LongWork::kCopyFrom ? "COPY FROM" : "COPY TO";
        out.add(one.process_id, database_oid(one.database), one.database, work.table, command, "PIPE", work.bytes, 0, work.rows, work.excluded_rows);
      },
      [&](const SessionStatistics& one) {
        out.add(one.process_id, database_oid(one.database), one.database, kNull, kNull, kNull, kNull, kNull, kNull, kNull);
      });
}

/// Blocks, lockers and partitions are not counted: they stay 0.
void index_progress(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  visit_work(
      context, {LongWork::kCreateIndex, LongWork::kReindex},
      [&](const SessionStatistics& one, const ProgressFigures& work) {
        const std::string_view command = work.work == LongWork::kReindex ? "REINDEX" : "CREATE INDEX";
        out.add(one.process_id, database_oid(one.database), one.database, work.table, work.index, command, "building index: scanning table", 0, 0,
                0, 0, 0, work.all_rows, work.rows, 0, 0);
      },
      [&](const SessionStatistics& one) {
        out.add(one.process_id, database_oid(one.database), one.database, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull,
                kNull, kNull);
      });
}

/// Rewrites of tables by ALTER TABLE, which PostgreSQL does not show: redquel's CLUSTER and VACUUM FULL rewrite nothing.
void rewrite_progress(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  visit_work(
      context, {LongWork::kRewrite},
      [&](const SessionStatistics& one, const ProgressFigures& work) {
        out.add(one.process_id, database_oid(one.database), one.database, work.table, "ALTER TABLE", "seq scanning heap", 0, work.rows, work.rows, 0, 0, 0);
      },
      [&](const SessionStatistics& one) {
        out.add(one.process_id, database_oid(one.database), one.database, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull);
      });
}

void encryption(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  for (const SessionStatistics& one : sessions()) {
    if (!may_see(context, one.role)) {
      out.add(one.process_id, kNull, kNull, kNull, kNull, kNull, kNull, kNull);
    } else if (!one.encryption) {
      out.add(one.process_id, false, kNull, kNull, kNull, kNull, kNull, kNull);
    } else {
      const EncryptionFacts& facts = *one.encryption;
      out.add(one.process_id, true, facts.version, facts.cipher, facts.bits, null_if_empty(facts.client_subject), TextForm{facts.client_serial},
              null_if_empty(facts.client_issuer));
    }
  }
}

void kerberos(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  for (const SessionStatistics& one : sessions()) {
    if (may_see(context, one.role)) out.add(one.process_id, false, kNull, false);
    else out.add(one.process_id, kNull, kNull, kNull);
  }
}

/// Blocks, temporary files and conflicts are not counted: they stay 0, as the times of blocks.
void database_statistics(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  std::vector<DatabaseStatistics> counted;
  if (statistics_hooks().databases != nullptr) counted = statistics_hooks().databases();
  const std::vector<SessionStatistics> open = sessions();
  const auto add = [&](const std::string& name) {
    const auto found = std::ranges::find(counted, name, &DatabaseStatistics::database);
    const DatabaseStatistics one = found == counted.end() ? DatabaseStatistics{} : *found;
    const auto backends = std::ranges::count(open, name, &SessionStatistics::database);
    out.add(database_oid(name), name, backends, one.commits, one.rollbacks, 0, 0, one.returned, one.returned, one.inserted, one.updated,
            one.deleted, 0, 0, 0, one.deadlocks, kNull, kNull, 0.0, 0.0, one.session_time, one.active_time, one.idle_in_transaction_time,
            one.sessions, one.abandoned, one.fatal, one.killed, kNull);
  };
  std::ranges::for_each(context.databases, add);
  for (const char* name : {"template0", "template1"}) {
    if (std::ranges::find(context.databases, name) == context.databases.end()) add(name);
  }
}

void statements(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  if (statistics_hooks().statements == nullptr) return;
  for (const StatementStatistics& one : statistics_hooks().statements()) {
    const bool is_shown = may_see(context, one.role);
    const double deviation = one.calls > 1 ? std::sqrt(one.squares / static_cast<double>(one.calls)) : 0;
    out.add(one.role, database_oid(one.database), true, is_shown ? std::optional(one.query_id) : std::nullopt,
            is_shown ? std::string_view(one.text) : kHiddenQuery, 0, 0.0, 0.0, 0.0, 0.0, 0.0, one.calls, one.total_time, one.least_time,
            one.most_time, one.mean_time, deviation, one.rows, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0, 0, TextForm{"0"}, 0, 0.0, 0,
            0.0, 0, 0.0, 0, 0.0);
  }
}

/// The traffic of statements with Redis: beside pg_stat_statements, whose columns are PostgreSQL's.
void statements_redis(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  if (statistics_hooks().statements == nullptr) return;
  for (const StatementStatistics& one : statistics_hooks().statements()) {
    const bool is_shown = may_see(context, one.role);
    out.add(one.role, database_oid(one.database), is_shown ? std::optional(one.query_id) : std::nullopt, one.calls, one.round_trips, one.commands);
  }
}

void statements_info(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  if (statistics_hooks().statements_since == nullptr) return;
  out.add(statistics_hooks().forgotten_statements(), statistics_hooks().statements_since());
}

const SystemTableDefinition kStatisticsViews[] = {
    {"pg_catalog", "pg_stat_activity", 12222, 'v',
     "datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, application_name text, "
     "client_addr inet, client_hostname text, client_port int4, backend_start timestamptz, "
     "xact_start timestamptz, query_start timestamptz, state_change timestamptz, wait_event_type text, "
     "wait_event text, state text, backend_xid xid, backend_xmin xid, query_id int8, query text, "
     "backend_type text", activity},
    {"pg_catalog", "pg_stat_progress_cluster", 12307, 'v',
     "pid int4, datid oid, datname name, relid oid, command text, phase text, cluster_index_relid oid, "
     "heap_tuples_scanned int8, heap_tuples_written int8, heap_blks_total int8, heap_blks_scanned int8, "
     "index_rebuild_count int8", rewrite_progress},
    {"pg_catalog", "pg_stat_progress_copy", 12322, 'v',
     "pid int4, datid oid, datname name, relid oid, command text, type text, bytes_processed int8, bytes_total int8, "
     "tuples_processed int8, tuples_excluded int8", copy_progress},
    {"pg_catalog", "pg_stat_progress_create_index", 12312, 'v',
     "pid int4, datid oid, datname name, relid oid, index_relid oid, command text, phase text, lockers_total int8, "
     "lockers_done int8, current_locker_pid int8, blocks_total int8, blocks_done int8, tuples_total int8, "
     "tuples_done int8, partitions_total int8, partitions_done int8", index_progress},
    {"pg_catalog", "pg_stat_ssl", 12249, 'v',
     "pid int4, ssl bool, version text, cipher text, bits int4, client_dn text, client_serial numeric, "
     "issuer_dn text", encryption},
    {"pg_catalog", "pg_stat_gssapi", 12253, 'v',
     "pid int4, gss_authenticated bool, principal text, encrypted bool", kerberos},
    {"pg_catalog", "pg_stat_database", 12266, 'v',
     "datid oid, datname name, numbackends int4, xact_commit int8, xact_rollback int8, blks_read int8, "
     "blks_hit int8, tup_returned int8, tup_fetched int8, tup_inserted int8, tup_updated int8, "
     "tup_deleted int8, conflicts int8, temp_files int8, temp_bytes int8, deadlocks int8, "
     "checksum_failures int8, checksum_last_failure timestamptz, blk_read_time float8, blk_write_time float8, "
     "session_time float8, active_time float8, idle_in_transaction_time float8, sessions int8, "
     "sessions_abandoned int8, sessions_fatal int8, sessions_killed int8, stats_reset timestamptz", database_statistics},
    {"pg_catalog", "pg_stat_statements", 15890, 'v',
     "userid oid, dbid oid, toplevel bool, queryid int8, query text, plans int8, total_plan_time float8, min_plan_time float8, "
     "max_plan_time float8, mean_plan_time float8, stddev_plan_time float8, calls int8, total_exec_time float8, min_exec_time float8, "
     "max_exec_time float8, mean_exec_time float8, stddev_exec_time float8, rows int8, shared_blks_hit int8, shared_blks_read int8, "
     "shared_blks_dirtied int8, shared_blks_written int8, local_blks_hit int8, local_blks_read int8, local_blks_dirtied int8, "
     "local_blks_written int8, temp_blks_read int8, temp_blks_written int8, blk_read_time float8, blk_write_time float8, "
     "temp_blk_read_time float8, temp_blk_write_time float8, wal_records int8, wal_fpi int8, wal_bytes numeric, jit_functions int8, "
     "jit_generation_time float8, jit_inlining_count int8, jit_inlining_time float8, jit_optimization_count int8, "
     "jit_optimization_time float8, jit_emission_count int8, jit_emission_time float8", statements},
    {"pg_catalog", "pg_stat_statements_redis", 15892, 'v', "userid oid, dbid oid, queryid int8, calls int8, round_trips int8, commands int8",
     statements_redis},
    {"pg_catalog", "pg_stat_statements_info", 15891, 'v', "dealloc int8, stats_reset timestamptz", statements_info},
};

}  // namespace

SystemTableFamily statistics_views() { return kStatisticsViews; }

}  // namespace redquel::sql
