// pg_namespace, pg_class and what hangs on a relation: attributes, defaults, sequences.

#include <algorithm>
#include <deque>

#include "sql/catalog/index_text.h"
#include "sql/privileges/acl_text.h"
#include "sql/privileges/object_acl.h"
#include "sql/catalog/partitions.h"
#include "sql/system_tables/partition_index.h"
#include "sql/system_tables/constraints.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/shown_row_counts.h"
#include "sql/system_tables/type_layout.h"
#include "sql/types/array_value.h"
#include "sql/types/server_numbers.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

void namespaces(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const std::string_view name : {"pg_toast", "pg_catalog", "information_schema", "redis", "redquel"}) {
    const Oid oid = schema_oid(catalog, name);
    const std::optional<ObjectAcl> acl = acl_of(catalog, catalog_class::kSchemas, oid);
    out.add(oid, name, kPostgresRole, acl ? acl_text(acl->acl) : std::nullopt);
  }
  for (const auto& [name, schema] : catalog.schemas) out.add(schema.oid, name, owner_oid(schema.owner), acl_text(acl_of(schema).acl));
}

Oid access_method(const Relation& relation) {
  if (relation.catalog_index != nullptr) return oid::kBtreeMethod;
  if (relation.index) return method_oid(relation.index->method);
  return relation.kind == 'r' || relation.kind == 'm' ? oid::kHeapMethod : 0;
}

/// pg_class.reloptions.
std::optional<std::string> options_of(const Relation& relation) {
  if ((relation.kind == 'r' || relation.kind == 'p' || relation.kind == 'm') && relation.table != nullptr) {
    std::deque<std::string> texts;
    if (relation.table->rows_expire()) {
      const RowExpiry& expiry = relation.table->managed().expiry;
      texts.push_back(expiry.column != 0 ? "ttl_column=" + relation.table->find_column(expiry.column)->name : "ttl=" + expiry.written);
    }
    if (const std::optional<SpreadDef>& spread = relation.table->spread; spread && !spread->by_default) {
      texts.push_back("buckets=" + std::to_string(spread->buckets));
      if (spread->names_column) texts.push_back("bucket_by=" + relation.table->find_column(spread->column)->name);
    }
    if (relation.table->materialized && !relation.table->materialized->options.empty()) texts.push_back(relation.table->materialized->options);
    if (texts.empty()) return std::nullopt;
    ArrayValue options;
    for (const std::string& text : texts) options.elements.emplace_back(text);
    options.make_vector();
    return array_text(oid::kTextArray, options);
  }
  if (relation.index && relation.table != nullptr) {
    const IndexOptions parameters = read_index_options(relation.index->definition_suffix);
    if (parameters.empty()) return std::nullopt;
    ArrayValue options;
    std::deque<std::string> texts;
    for (const auto& [name, value] : parameters) options.elements.emplace_back(texts.emplace_back(name + "=" + value));
    options.make_vector();
    return array_text(oid::kTextArray, options);
  }
  if (relation.view == nullptr) return std::nullopt;
  std::string options = relation.view->options;
  if (relation.view->check_option != ViewDef::CheckOption::kNone) {
    if (!options.empty()) options += ",";
    options += relation.view->check_option == ViewDef::CheckOption::kLocal ? "check_option=local" : "check_option=cascaded";
  }
  return options.empty() ? std::nullopt : std::optional("{" + options + "}");
}

/// Catalogs that all databases of a cluster share.
bool is_shared(const Relation& relation) {
  if (relation.catalog_index != nullptr) return relation.catalog_index->shared;
  switch (relation.oid) {
    case 1213: case 1214: case 1260: case 1261: case 1262: case 2396: case 2964: case 3592: case 6100: case 6243: return true;
    default: return false;
  }
}

std::size_t catalog_index_count(Oid catalog) {
  return static_cast<std::size_t>(std::ranges::count(catalog_indexes(), catalog, &CatalogIndex::catalog));
}

Oid row_type_of(const Relation& relation) {
  if (relation.view != nullptr) return relation.view->row_type;
  if (relation.type != nullptr) return relation.type->oid;
  return relation.table != nullptr && !relation.index ? relation.table->row_type : 0;
}

/// Indexes and composite types have none.
std::optional<std::string> shown_acl(const CatalogSnapshot& catalog, const Relation& relation) {
  if (relation.kind == 'i' || relation.kind == 'I' || relation.kind == 'c') return std::nullopt;
  const std::optional<ObjectAcl> acl = acl_of(catalog, catalog_class::kRelations, relation.oid);
  return acl ? acl_text(acl->acl) : std::nullopt;
}

/// pg_class.relpartbound.
std::optional<std::string> bound_of(const CatalogSnapshot& catalog, const Relation& relation, const EvaluationContext& context) {
  if (relation.table == nullptr || relation.index || !relation.table->partition) return std::nullopt;
  const CatalogSnapshot::TablePtr parent = catalog.find_table(relation.table->partition->parent);
  return parent && parent->partition_key ? std::optional(partition_bound_text(*parent, *relation.table, *context.settings)) : std::nullopt;
}

/// Returns true for a partitioned table or index that has partitions.
bool has_partitions(const CatalogSnapshot& catalog, const Relation& relation) {
  return relation.table != nullptr && relation.table->partition_key && !catalog.partitions_of(relation.table->oid).empty();
}

/// pg_class.relreplident.
char identity_of(const Relation& relation) {
  const bool is_table = relation.table != nullptr && !relation.index;
  return is_table && relation.table->replica_identity == TableDef::ReplicaIdentity::kDefault ? 'd' : 'n';
}

void classes(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Relation& relation : all_relations(catalog)) {
    const bool is_table = relation.table != nullptr && !relation.index;
    const std::size_t columns = std::max(attributes_of(relation).size(), is_table ? static_cast<std::size_t>(relation.table->next_column - 1) : 0);
    const std::size_t indexes = is_table ? all_indexes(*relation.table).size() : relation.system != nullptr ? catalog_index_count(relation.oid) : 0;
    const std::size_t checks = is_table ? relation.table->checks.size() : 0;
    const bool shared = is_shared(relation);
    // PostgreSQL keeps foreign keys by triggers.
    const bool has_triggers = (is_table && (relation.table->has_foreign_keys() || !relation.table->triggers.empty())) ||
                              (relation.view != nullptr && !relation.view->triggers.empty());
    // reltuples: -1 says that the rows are not counted; a sequence has one.
    const double rows = relation.kind == 'S' ? 1.0 : relation.kind == 'i' || relation.kind == 'I' ? 0.0 : is_table ? static_cast<double>(ShownRowCounts::of(relation.oid)) : -1.0;
    out.add(relation.oid, relation.name, schema_oid(catalog, relation.schema), row_type_of(relation), 0,
            role_oid(relation.owner), access_method(relation), relation.kind == 'v' || relation.kind == 'c' || relation.kind == 'f' || relation.kind == 'p' || relation.kind == 'I' ? 0 : relation.oid,
            shared ? oid::kGlobalTablespace : 0, relation.kind == 'S' ? 1 : 0, rows, 0, 0, indexes > 0, shared,
            is_temporary_schema(relation.schema) ? 't' : 'p', relation.kind,
            columns, checks, relation.kind == 'v' || relation.kind == 'm', has_triggers, has_partitions(catalog, relation),
            is_table && relation.table->security.enabled, is_table && relation.table->security.forced,
            !is_table || relation.table->populated,
            identity_of(relation), relation.table != nullptr && is_part_of_partitioned(catalog, relation), 0, 0, 0, shown_acl(catalog, relation), options_of(relation),
            bound_of(catalog, relation, context));
  }
}

char identity_letter(const ColumnDef* column) {
  if (column == nullptr) return '\0';
  switch (column->identity) {
    case ColumnDef::Identity::kNone: return '\0';
    case ColumnDef::Identity::kAlways: return 'a';
    case ColumnDef::Identity::kByDefault: return 'd';
  }
  return '\0';
}

/// pg_attribute.attfdwoptions.
std::optional<std::string> foreign_options(const CatalogSnapshot& catalog, const Relation& relation, std::int16_t column) {
  if (relation.table == nullptr || relation.index || !relation.table->is_mapped()) return std::nullopt;
  return option_array(catalog, *relation.table, column);
}

/// Numbers of columns are never used again: pg_dump wants to see each of them.
void add_dropped_attributes(RowWriter& out, const Relation& relation) {
  if (relation.table == nullptr || relation.index) return;
  for (std::int16_t number = 1; number < relation.table->next_column; ++number) {
    if (relation.table->find_column(number) != nullptr) continue;
    out.add(relation.oid, "........pg.dropped." + std::to_string(number) + "........", 0, 0, 4, number, 0, -1, -1, true, 'i', 'p', '\0', false,
            false, false, '\0', '\0', true, true, 0, 0, kNull, kNull, kNull, kNull);
  }
}

/// The columns that every relation with rows of its own has besides.
void add_system_attributes(RowWriter& out, const Relation& relation) {
  struct SystemColumn {
    std::int16_t number;
    std::string_view name;
    Oid type;
  };
  constexpr SystemColumn kColumns[] = {{-6, "tableoid", oid::kOid}, {-5, "cmax", oid::kCid},  {-4, "xmax", oid::kXid},
                                       {-3, "cmin", oid::kCid},     {-2, "xmin", oid::kXid}, {-1, "ctid", oid::kTid}};
  if (relation.kind != 'r' && relation.kind != 'p' && relation.kind != 'm' && relation.kind != 'f' && relation.kind != 'S') return;
  for (const SystemColumn& column : kColumns) {
    const TypeInfo& type = type_info(column.type);
    out.add(relation.oid, column.name, column.type, 0, type.length, column.number, 0, -1, -1, passed_by_value(type), type.alignment,
            storage_letter(type), '\0', true, false, false, '\0', '\0', false, true, 0, 0, kNull, kNull, kNull, kNull);
  }
}

void attributes(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const Relation& relation : all_relations(catalog)) {
    for (const Attribute& attribute : attributes_of(relation)) {
      const TypeInfo& type = type_info(attribute.type.oid);
      const ColumnDef* column = attribute.column;
      const bool has_domain = attribute.domain != 0;
      const bool is_inherited = relation.table != nullptr && !relation.index && relation.table->partition.has_value();
      const bool has_view_default = relation.view != nullptr && !relation.view->columns[static_cast<std::size_t>(attribute.number) - 1].default_sql.empty();
      std::string missing;
      if (column != nullptr && column->missing) {
        append_array_element(*column->missing, missing);
        finish_array_text(missing);
      }
      out.add(relation.oid, attribute.name, has_domain ? attribute.domain : attribute.type.oid, -1, type.length, attribute.number,
              is_true_array(type) ? 1 : 0, -1, has_domain ? -1 : attribute.type.modifier, passed_by_value(type), type.alignment,
              storage_letter(type), '\0', attribute.not_null, has_view_default || (column != nullptr && has_shown_default(catalog, *column)), !missing.empty(),
              identity_letter(column), column != nullptr && !column->generated_sql.empty() ? 's' : '\0', false, !is_inherited, is_inherited ? 1 : 0,
              attribute_collation(relation, attribute),
              relation.kind == 'i' || relation.kind == 'I' ? std::nullopt : acl_text(column_acl(catalog, relation.oid, attribute.number)), kNull,
              foreign_options(catalog, relation, attribute.number),
              null_if_empty(missing));
    }
    add_dropped_attributes(out, relation);
    add_system_attributes(out, relation);
  }
}

void defaults(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const auto& [oid, table] : catalog.tables) {
    for (const ColumnDef& column : table->columns) {
      if (!has_shown_default(catalog, column)) continue;
      out.add(default_oid(*table, column), oid, column.number, default_expression(catalog, *table, column, context));
    }
  }
  for (const auto& [oid, view] : catalog.views) {
    std::int16_t number = 0;
    for (const ViewDef::Column& column : view->columns) {
      ++number;
      if (!column.default_sql.empty()) out.add(default_oid(oid, number), oid, number, default_expression(*view, column, context));
    }
  }
}

void sequences(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (sequence.foreign) continue;
    out.add(oid, sequence.type.oid, sequence.start, sequence.increment, sequence.maximum, sequence.minimum, sequence.cache,
            sequence.cycle);
  }
}

const SystemTableDefinition kRelationTables[] = {
    {"pg_catalog", "pg_namespace", 2615, 'r', "oid oid!, nspname name!, nspowner oid!, nspacl _aclitem", namespaces},
    {"pg_catalog", "pg_class", 1259, 'r',
     "oid oid!, relname name!, relnamespace oid!, reltype oid!, reloftype oid!, relowner oid!, relam oid!, "
     "relfilenode oid!, reltablespace oid!, relpages int4!, reltuples float4!, relallvisible int4!, "
     "reltoastrelid oid!, relhasindex bool!, relisshared bool!, relpersistence char!, relkind char!, "
     "relnatts int2!, relchecks int2!, relhasrules bool!, relhastriggers bool!, relhassubclass bool!, "
     "relrowsecurity bool!, relforcerowsecurity bool!, relispopulated bool!, relreplident char!, "
     "relispartition bool!, relrewrite oid!, relfrozenxid xid!, relminmxid xid!, relacl _aclitem, "
     "reloptions _text, relpartbound pg_node_tree", classes},
    {"pg_catalog", "pg_attribute", 1249, 'r',
     "attrelid oid!, attname name!, atttypid oid!, attstattarget int4!, attlen int2!, attnum int2!, "
     "attndims int4!, attcacheoff int4!, atttypmod int4!, attbyval bool!, attalign char!, attstorage char!, "
     "attcompression char!, attnotnull bool!, atthasdef bool!, atthasmissing bool!, attidentity char!, "
     "attgenerated char!, attisdropped bool!, attislocal bool!, attinhcount int4!, attcollation oid!, "
     "attacl _aclitem, attoptions _text, attfdwoptions _text, attmissingval anyarray", attributes},
    {"pg_catalog", "pg_attrdef", 2604, 'r', "oid oid!, adrelid oid!, adnum int2!, adbin pg_node_tree!", defaults},
    {"pg_catalog", "pg_sequence", 2224, 'r',
     "seqrelid oid!, seqtypid oid!, seqstart int8!, seqincrement int8!, seqmax int8!, seqmin int8!, "
     "seqcache int8!, seqcycle bool!", sequences},
};

}  // namespace

SystemTableFamily relation_tables() { return kRelationTables; }

}  // namespace redquel::sql
