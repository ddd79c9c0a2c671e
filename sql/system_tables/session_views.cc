// What the session knows about itself: pg_settings, pg_prepared_statements, pg_cursors, pg_stat_activity, pg_stat_ssl, pg_stat_database.

#include "sql/connection_hooks.h"
#include "sql/functions/function.h"
#include "sql/session_hooks.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

void settings(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  if (context.run_time_parameters == nullptr) return;
  const auto is_pending_restart = connection_hooks().is_pending_restart;
  for (const RunTimeParameter& parameter : context.run_time_parameters(context.session)) {
    out.add(parameter.name, parameter.setting, null_if_empty(parameter.unit), parameter.category, parameter.description, kNull,
            parameter.context, parameter.type, parameter.source, null_if_empty(parameter.minimum), null_if_empty(parameter.maximum),
            null_if_empty(parameter.choices), parameter.boot_value, parameter.reset_value, kNull, kNull,
            is_pending_restart != nullptr && is_pending_restart(parameter.name));
  }
}

void prepared_statements(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  if (session_hooks().names == nullptr || context.session == nullptr) return;
  for (const SessionStatement& statement : session_hooks().names(context.session).statements) {
    std::vector<Oid> types;
    for (const Type type : statement.parameter_types) types.push_back(type.oid);
    out.add(statement.name, statement.text, statement.prepared_at, array_text(types), statement.from_sql, types.empty() ? statement.runs : 0,
            types.empty() ? 0 : statement.runs);
  }
}

void cursors(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  if (session_hooks().names == nullptr || context.session == nullptr) return;
  for (const SessionCursor& cursor : session_hooks().names(context.session).cursors) {
    out.add(cursor.name, cursor.text, cursor.holdable, cursor.binary, cursor.scrollable, cursor.created_at);
  }
}

std::optional<ConnectionFacts> connection(const EvaluationContext& context) {
  return connection_hooks().facts == nullptr ? std::nullopt : connection_hooks().facts(context.backend_pid);
}

/// The client's address as an inet stores it; empty: it came by a unix socket.
std::string address_value(const std::optional<ConnectionFacts>& client) {
  if (!client || client->client_address.empty()) return {};
  return std::get<std::string>(parse_value(kInet, client->client_address, {}));
}

/// Other sessions may be in other processes: only this one is told of.
void activity(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  const std::string* application = context.show == nullptr ? nullptr : context.show(context.session, "application_name");
  const std::optional<ConnectionFacts> client = connection(context);
  out.add(database_oid(context.database), context.database, context.backend_pid, kNull, role_oid(context.user), context.user,
          application == nullptr ? std::string() : *application, null_if_empty(address_value(client)), kNull,
          client ? std::optional(client->client_port) : std::nullopt, kNull, context.transaction_timestamp,
          context.statement_timestamp, context.statement_timestamp, kNull, kNull, "active", kNull, kNull, kNull, kNull,
          "client backend");
}

void encryption(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  const std::optional<ConnectionFacts> client = connection(context);
  if (!client || !client->encryption) return out.add(context.backend_pid, false, kNull, kNull, kNull, kNull, kNull, kNull);
  const EncryptionFacts& facts = *client->encryption;
  out.add(context.backend_pid, true, facts.version, facts.cipher, facts.bits, null_if_empty(facts.client_subject),
          TextForm{facts.client_serial}, null_if_empty(facts.client_issuer));
}

void kerberos(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  out.add(context.backend_pid, false, kNull, false);
}

void database_statistics(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  out.add(database_oid(context.database), context.database, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, kNull, kNull, 0.0, 0.0, 0.0,
          0.0, 0.0, 0, 0, 0, 0, kNull);
}

const SystemTableDefinition kSessionViews[] = {
    {"pg_catalog", "pg_prepared_statements", 12095, 'v',
     "name text, statement text, prepare_time timestamptz, parameter_types _regtype, from_sql bool, "
     "generic_plans int8, custom_plans int8", prepared_statements},
    {"pg_catalog", "pg_cursors", 12077, 'v',
     "name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool, creation_time timestamptz", cursors},
    {"pg_catalog", "pg_settings", 12104, 'v',
     "name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, "
     "vartype text, source text, min_val text, max_val text, enumvals _text, boot_val text, reset_val text, "
     "sourcefile text, sourceline int4, pending_restart bool", settings},
    {"pg_catalog", "pg_timezone_names", 12126, 'v', "name text, abbrev text, utc_offset interval, is_dst bool", nullptr,
     "SELECT z.name, z.abbrev, z.utc_offset, z.is_dst FROM pg_catalog.pg_timezone_names() AS z"},
    {"pg_catalog", "pg_timezone_abbrevs", 12122, 'v', "abbrev text, utc_offset interval, is_dst bool", nullptr,
     "SELECT a.abbrev, a.utc_offset, a.is_dst FROM pg_catalog.pg_timezone_abbrevs() AS a"},
    {"pg_catalog", "pg_stat_activity", 12222, 'v',
     "datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, application_name text, "
     "client_addr inet, client_hostname text, client_port int4, backend_start timestamptz, "
     "xact_start timestamptz, query_start timestamptz, state_change timestamptz, wait_event_type text, "
     "wait_event text, state text, backend_xid xid, backend_xmin xid, query_id int8, query text, "
     "backend_type text", activity},
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
};

}  // namespace

SystemTableFamily session_views() { return kSessionViews; }

}  // namespace redquel::sql
