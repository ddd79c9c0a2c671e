// Partitioned tables and their partitions.

#include <algorithm>

#include "sql/catalog/partitions.h"
#include "sql/catalog/counterparts.h"
#include "sql/system_tables/facts.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/partition_index.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {

bool is_part_of_partitioned(const CatalogSnapshot& catalog, const Relation& relation) {
  if (relation.table == nullptr || !relation.table->partition) return false;
  return !relation.index || partitioned_index(catalog, *relation.table, relation.index->oid) != 0;
}

namespace {

void inherits(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, table] : catalog.tables) {
    if (!table->partition) continue;
    out.add(oid, table->partition->parent, 1, false);
    std::vector<Oid> indexes;
    if (table->primary_key_index.oid != 0) indexes.push_back(table->primary_key_index.oid);
    for (const IndexDef& index : table->indexes) {
      if (!index.is_hidden()) indexes.push_back(index.oid);
    }
    for (const Oid index : indexes) {
      if (const Oid parent = partitioned_index(catalog, *table, index); parent != 0) out.add(index, parent, 1, false);
    }
  }
}

void partitioned_tables(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, table] : catalog.tables) {
    if (!table->partition_key) continue;
    constexpr char kStrategies[] = {'l', 'r', 'h'};
    std::vector<std::int16_t> columns;
    std::vector<Oid> classes, collations;
    for (const PartitionKeyDef::Part& part : table->partition_key->parts) {
      columns.push_back(part.column);
      const ColumnDef& column = *table->find_column(part.column);
      const Oid method = table->partition_key->strategy == PartitionKeyDef::Strategy::kHash ? oid::kHashMethod : oid::kBtreeMethod;
      const Oid named = part.operator_class.empty() ? 0 : named_operator_class(method, part.operator_class);
      collations.push_back(collation_of(column.type, column.collation));
      classes.push_back(named != 0 ? named : operator_class_of(method, column.type.oid));
    }
    const auto* fallback = table->router ? table->router->default_child() : nullptr;
    out.add(oid, kStrategies[static_cast<std::size_t>(table->partition_key->strategy)], columns.size(), fallback != nullptr ? fallback->table->oid : 0,
            vector_text(columns), vector_text(classes), vector_text(collations), kNull);
  }
}

const SystemTableDefinition kPartitionTables[] = {
    {"pg_catalog", "pg_inherits", 2611, 'r', "inhrelid oid!, inhparent oid!, inhseqno int4!, inhdetachpending bool!", inherits},
    {"pg_catalog", "pg_partitioned_table", 3350, 'r',
     "partrelid oid!, partstrat char!, partnatts int2!, partdefid oid!, partattrs int2vector!, "
     "partclass oidvector!, partcollation oidvector!, partexprs pg_node_tree", partitioned_tables},
};

}  // namespace

SystemTableFamily partition_tables() { return kPartitionTables; }

}  // namespace redquel::sql
