// Views that put the catalogs into words: pg_tables, pg_indexes, pg_sequences; and the statistics of tables and indexes.

#include <algorithm>

#include "sql/statistics.h"
#include "sql/system_tables/constraints.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/shown_row_counts.h"

namespace redquel::sql {
namespace {

void tables(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const Relation& relation : all_relations(catalog)) {
    if (relation.kind != 'r' && relation.kind != 'p') continue;
    const bool indexed = relation.table != nullptr && !all_indexes(*relation.table).empty();
    // PostgreSQL keeps foreign keys by triggers.
    const bool has_triggers = relation.table != nullptr && (relation.table->has_foreign_keys() || !relation.table->triggers.empty());
    out.add(relation.schema, relation.name, relation.owner, kNull, indexed, false, has_triggers,
            relation.table != nullptr && relation.table->security.enabled);
  }
}

/// PostgreSQL's system views, without their definitions: here they are computed.
void views(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Relation& relation : all_relations(catalog)) {
    if (relation.view != nullptr) {
      const std::string text = view_definition(catalog, *relation.view, false, context.search_path);
      out.add(relation.schema, relation.name, relation.owner, text);
    } else if (relation.kind == 'v') {
      out.add(relation.schema, relation.name, relation.owner, kNull);
    }
  }
}

void materialized_views(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Relation& relation : all_relations(catalog)) {
    if (relation.kind != 'm') continue;
    const std::string text = view_definition(catalog, *relation.table->materialized, false, context.search_path);
    out.add(relation.schema, relation.name, relation.owner, kNull, !all_indexes(*relation.table).empty(), relation.table->populated, text);
  }
}

void indexes_in_words(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Relation& relation : all_relations(catalog)) {
    if (!relation.index) continue;
    const std::optional<Relation> table = find_relation(catalog, relation.table->oid);
    out.add(relation.schema, table->name, relation.name, kNull,
            index_definition(*relation.table, *relation.index, qualified_name(*table), false, context));
  }
}

RelationStatistics statistics_of(const EvaluationContext& context) {
  return statistics_hooks().relations == nullptr ? RelationStatistics{} : statistics_hooks().relations(context.database);
}

void add_table_statistics(RowWriter& out, const Relation& relation, const RelationStatistics& statistics) {
  const std::int64_t rows = std::max<std::int64_t>(ShownRowCounts::of(relation.oid), 0);
  const auto found = statistics.tables.find(relation.oid);
  const RelationStatistics::Table counts = found == statistics.tables.end() ? RelationStatistics::Table{} : found->second;
  const bool has_indexes = relation.table == nullptr || !all_indexes(*relation.table).empty();
  const auto of_indexes = [&](std::uint64_t count) { return has_indexes ? std::optional(count) : std::nullopt; };
  out.add(relation.oid, relation.schema, relation.name, counts.whole_scans, counts.rows_of_whole_scans, of_indexes(counts.index_scans),
          of_indexes(counts.rows_of_index_scans), counts.inserted, counts.updated, counts.deleted, 0, rows, 0, 0, 0, kNull, kNull, kNull, kNull, 0, 0, 0,
          0);
}

void all_table_statistics(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const RelationStatistics statistics = statistics_of(context);
  for (const Relation& relation : all_relations(catalog)) {
    if (relation.kind == 'r' || relation.kind == 'm') add_table_statistics(out, relation, statistics);
  }
}

void user_table_statistics(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const RelationStatistics statistics = statistics_of(context);
  for (const Relation& relation : all_relations(catalog)) {
    if ((relation.kind == 'r' || relation.kind == 'm') && relation.system == nullptr) add_table_statistics(out, relation, statistics);
  }
}

void user_table_blocks(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, table] : catalog.tables) out.add(oid, table->schema, table->name, 0, 0, 0, 0, kNull, kNull, kNull, kNull);
}

void user_index_statistics(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const RelationStatistics statistics = statistics_of(context);
  for (const Relation& relation : all_relations(catalog)) {
    if (!relation.index) continue;
    const auto found = statistics.indexes.find(relation.oid);
    const RelationStatistics::Index counts = found == statistics.indexes.end() ? RelationStatistics::Index{} : found->second;
    out.add(relation.table->oid, relation.oid, relation.schema, relation.table->name, relation.name, counts.scans, counts.rows, counts.rows);
  }
}

const SystemTableDefinition kSummaryViews[] = {
    {"pg_catalog", "pg_tables", 12033, 'v',
     "schemaname name, tablename name, tableowner name, tablespace name, hasindexes bool, hasrules bool, "
     "hastriggers bool, rowsecurity bool", tables},
    {"pg_catalog", "pg_views", 12028, 'v', "schemaname name, viewname name, viewowner name, definition text", views},
    {"pg_catalog", "pg_matviews", 12038, 'v',
     "schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes bool, ispopulated bool, "
     "definition text", materialized_views},
    {"pg_catalog", "pg_indexes", 12043, 'v',
     "schemaname name, tablename name, indexname name, tablespace name, indexdef text", indexes_in_words},
    {"pg_catalog", "pg_sequences", 12048, 'v',
     "schemaname name, sequencename name, sequenceowner name, data_type regtype, start_value int8, "
     "min_value int8, max_value int8, increment_by int8, cycle bool, cache_size int8, last_value int8", nullptr,
     "SELECT n.nspname, c.relname, pg_catalog.pg_get_userbyid(c.relowner), s.seqtypid::pg_catalog.regtype, s.seqstart, "
     "s.seqmin, s.seqmax, s.seqincrement, s.seqcycle, s.seqcache, "
     "CASE WHEN pg_catalog.has_sequence_privilege(c.oid, 'SELECT,USAGE') THEN "
     "pg_catalog.pg_sequence_last_value(c.oid::pg_catalog.regclass) END "
     "FROM pg_catalog.pg_sequence AS s JOIN pg_catalog.pg_class AS c ON c.oid = s.seqrelid "
     "JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE NOT pg_catalog.pg_is_other_temp_schema(n.oid)"},
    {"pg_catalog", "pg_stat_all_tables", 12142, 'v',
     "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, "
     "idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, "
     "n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, "
     "last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, "
     "autovacuum_count int8, analyze_count int8, autoanalyze_count int8", all_table_statistics},
    {"pg_catalog", "pg_stat_user_tables", 12161, 'v',
     "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, "
     "idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, "
     "n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, "
     "last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, "
     "autovacuum_count int8, analyze_count int8, autoanalyze_count int8", user_table_statistics},
    {"pg_catalog", "pg_statio_user_tables", 12179, 'v',
     "relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8, "
     "idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, tidx_blks_hit int8", user_table_blocks},
    {"pg_catalog", "pg_stat_user_indexes", 12192, 'v',
     "relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8, "
     "idx_tup_read int8, idx_tup_fetch int8", user_index_statistics},
};

}  // namespace

SystemTableFamily summary_views() { return kSummaryViews; }

}  // namespace redquel::sql
