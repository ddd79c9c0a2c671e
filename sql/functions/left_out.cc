#include "sql/functions/left_out.h"

#include <algorithm>

namespace redquel::sql {
namespace {

// Each in the order of bytes.
constexpr std::string_view kTextSearch[] = {"ts_debug", "ts_rewrite", "ts_stat"};
constexpr std::string_view kXml[] = {
    "cursor_to_xml", "cursor_to_xmlschema", "database_to_xml", "database_to_xml_and_xmlschema", "database_to_xmlschema", "query_to_xml",
    "query_to_xml_and_xmlschema", "query_to_xmlschema", "schema_to_xml", "schema_to_xml_and_xmlschema", "schema_to_xmlschema",
    "table_to_xml", "table_to_xml_and_xmlschema", "table_to_xmlschema", "xml", "xml_is_well_formed", "xml_is_well_formed_content",
    "xml_is_well_formed_document", "xmlagg", "xmlcomment", "xmlexists", "xpath", "xpath_exists",
};
constexpr std::string_view kLargeObjects[] = {
    "lo_close", "lo_creat", "lo_create", "lo_export", "lo_from_bytea", "lo_get", "lo_import", "lo_lseek", "lo_lseek64", "lo_open",
    "lo_put", "lo_tell", "lo_tell64", "lo_truncate", "lo_truncate64", "lo_unlink", "loread", "lowrite",
};
/// Files, the server's memory, the write-ahead log, backups, replication.
constexpr std::string_view kFilesAndReplication[] = {
    "currtid2", "pg_backup_start", "pg_backup_stop", "pg_control_checkpoint", "pg_control_init", "pg_control_recovery",
    "pg_control_system", "pg_copy_logical_replication_slot", "pg_copy_physical_replication_slot", "pg_create_logical_replication_slot",
    "pg_create_physical_replication_slot", "pg_create_restore_point", "pg_drop_replication_slot", "pg_export_snapshot",
    "pg_get_wal_resource_managers", "pg_log_backend_memory_contexts", "pg_logical_emit_message", "pg_logical_slot_get_binary_changes",
    "pg_logical_slot_get_changes", "pg_logical_slot_peek_binary_changes", "pg_logical_slot_peek_changes", "pg_ls_archive_statusdir",
    "pg_ls_dir", "pg_ls_logdir", "pg_ls_logicalmapdir", "pg_ls_logicalsnapdir", "pg_ls_replslotdir", "pg_ls_tmpdir", "pg_ls_waldir",
    "pg_read_binary_file", "pg_read_file", "pg_relation_filepath", "pg_replication_origin_advance",
    "pg_replication_origin_create", "pg_replication_origin_drop", "pg_replication_origin_oid", "pg_replication_origin_progress",
    "pg_replication_origin_session_is_setup", "pg_replication_origin_session_progress", "pg_replication_origin_session_reset",
    "pg_replication_origin_session_setup", "pg_replication_origin_xact_reset", "pg_replication_origin_xact_setup",
    "pg_replication_slot_advance", "pg_rotate_logfile", "pg_stat_file", "pg_tablespace_databases", "pg_walfile_name_offset",
};

/// Fields of certificates, of which connections keep the names alone.
constexpr std::string_view kCertificates[] = {"ssl_client_dn_field", "ssl_extension_info", "ssl_issuer_field"};

}  // namespace

bool is_left_out_function(std::string_view name) {
  return std::ranges::binary_search(kTextSearch, name) || std::ranges::binary_search(kXml, name) ||
         std::ranges::binary_search(kLargeObjects, name) || std::ranges::binary_search(kFilesAndReplication, name) ||
         std::ranges::binary_search(kCertificates, name);
}

}  // namespace redquel::sql
