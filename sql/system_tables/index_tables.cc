// pg_index, pg_constraint and the methods and operator classes of indexes.

#include <algorithm>

#include "sql/catalog/counterparts.h"
#include "sql/definition_words.h"
#include "sql/functions/key_comparison.h"
#include "sql/system_tables/constraints.h"
#include "sql/system_tables/facts.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/type_layout.h"

namespace redquel::sql {
namespace {

void add_index(RowWriter& out, const TableDef& table, const IndexDef& index, const EvaluationContext& context) {
  std::vector<Oid> collations, classes;
  std::vector<std::int16_t> keys, options;
  std::string expressions, predicate;
  for (const IndexDef::Part& part : index.parts) {
    const ColumnDef* column = table.find_column(part.column);
    if (column == nullptr) continue;
    keys.push_back(part.shown_column != 0 ? part.shown_column : std::max(part.column, std::int16_t{0}));
    if (!part.expression_sql.empty()) {
      if (!expressions.empty()) expressions += ", ";
      expressions += written_expression(table, part.expression_sql, false, context);
    }
    collations.push_back(collation_of(column->type, column->collation));
    const Oid method = method_oid(index.method);
    const Oid named = part.operator_class.empty() ? 0 : named_operator_class(method, part.operator_class);
    classes.push_back(named != 0 ? named : operator_class_of(method, column->type.oid));
    options.push_back(static_cast<std::int16_t>((part.descending ? 1 : 0) | (part.nulls_first ? 2 : 0)));
  }
  const std::size_t key_count = keys.size();
  keys.insert(keys.end(), index.included.begin(), index.included.end());
  if (!index.predicate_sql.empty()) predicate = written_expression(table, index.predicate_sql, false, context);
  const bool ready = index.state == IndexState::kReady, live = index.state != IndexState::kDropping;
  out.add(index.oid, table.oid, keys.size(), key_count, index.unique && !index.is_exclusion(), index.nulls_not_distinct,
          index.is_primary_key(), index.is_exclusion(), !index.is_deferrable(), false,
          ready, false, live, live, false, vector_text(keys), vector_text(collations), vector_text(classes), vector_text(options),
          null_if_empty(expressions), null_if_empty(predicate));
}

/// The indexes of the catalogs themselves.
void add_catalog_indexes(RowWriter& out) {
  for (const CatalogIndex& index : catalog_indexes()) {
    if (find_system_table(index.catalog) == nullptr) continue;
    const std::vector<std::int16_t> options(index.columns.size(), 0);
    out.add(index.oid, index.catalog, index.columns.size(), index.columns.size(), index.unique, false, index.primary, false, true, false, true,
            false, true, true, false, vector_text(index.columns), index.collations, index.classes, vector_text(options), kNull, kNull);
  }
}

void indexes(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  add_catalog_indexes(out);
  for (const auto& [oid, table] : catalog.tables) {
    for (const IndexDef& index : all_indexes(*table)) add_index(out, *table, index, context);
  }
}

/// The operators that compare referenced with referring columns, and either with themselves.
struct KeyOperators {
  std::vector<Oid> across, referenced, referring;
};
KeyOperators key_operators(const CatalogSnapshot& catalog, const TableDef& table, const ForeignKeyDef& key) {
  KeyOperators operators;
  const CatalogSnapshot::TablePtr other = catalog.find_table(key.referenced);
  for (std::size_t i = 0; other && i < key.columns.size(); ++i) {
    const ColumnDef *column = table.find_column(key.columns[i]), *target = other->find_column(key.referenced_columns[i]);
    if (column == nullptr || target == nullptr) continue;
    const std::optional<KeyComparison> comparison = key_comparison(target->type.oid, column->type.oid);
    if (!comparison) continue;
    operators.across.push_back(comparison->across);
    operators.referenced.push_back(comparison->referenced);
    operators.referring.push_back(comparison->referring);
  }
  return operators;
}

/// Where a constraint comes from.
struct Inheritance {
  Oid parent = 0;             // the constraint of the partitioned table; 0: it is none, or a CHECK, which names tell
  bool is_inherited = false;  // from the partitioned table
  bool is_own_only = false;   // connoinherit: no partition would have it
};

Inheritance inheritance_of(const CatalogSnapshot& catalog, const Constraint& constraint) {
  const TableDef& table = *constraint.table;
  const CatalogSnapshot::TablePtr parent = table.partition ? catalog.find_table(table.partition->parent) : nullptr;
  if (constraint.check != nullptr) {
    const bool is_inherited = parent && std::ranges::find(parent->checks, constraint.name, &CheckDef::name) != parent->checks.end();
    return {.is_inherited = is_inherited, .is_own_only = constraint.check->no_inherit};
  }
  Oid above = 0;
  if (constraint.foreign_key != nullptr) {
    const ForeignKeyDef* key = inherited_foreign_key(catalog, table, *constraint.foreign_key);
    above = key != nullptr ? key->oid : 0;
  } else {
    above = partitioned_index(catalog, table, constraint.index);
  }
  const bool is_of_partitioned = constraint.foreign_key != nullptr && table.partition_key;
  return {.parent = above, .is_inherited = above != 0, .is_own_only = above == 0 && !is_of_partitioned};
}

void add_foreign_key(RowWriter& out, const CatalogSnapshot& catalog, const Constraint& constraint) {
  constexpr std::string_view kActions = "arcnd";
  const ForeignKeyDef& key = *constraint.foreign_key;
  std::optional<std::string> set_columns;
  if (!key.set_columns.empty()) set_columns = array_text(key.set_columns);
  const KeyOperators operators = key_operators(catalog, *constraint.table, key);
  const Inheritance inheritance = inheritance_of(catalog, constraint);
  out.add(constraint.oid, constraint.name, schema_oid(catalog, constraint.table->schema), 'f', key.deferrable, key.initially_deferred,
          !key.not_valid, constraint.table->oid, 0, constraint.index, inheritance.parent, key.referenced,
          kActions[static_cast<std::size_t>(key.on_update)], kActions[static_cast<std::size_t>(key.on_delete)],
          key.match_full ? 'f' : 's', !inheritance.is_inherited, inheritance.is_inherited ? 1 : 0, inheritance.is_own_only, array_text(key.columns), array_text(key.referenced_columns), array_text(operators.across),
          array_text(operators.referenced), array_text(operators.referring),
          set_columns, kNull, kNull);
}

void add_domain_constraints(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Constraint& constraint : domain_constraints(catalog)) {
    out.add(constraint.oid, constraint.name, schema_oid(catalog, constraint.domain->schema), constraint.type, false, false, true, 0,
            constraint.domain->oid, 0, 0, 0, ' ', ' ', ' ', true, 0, false, kNull, kNull, kNull, kNull, kNull, kNull, kNull,
            null_if_empty(written_domain_check(context, constraint.expression, *constraint.domain, false)));
  }
}

/// The constraints behind them.
void add_catalog_constraints(RowWriter& out) {
  for (const CatalogIndex& index : catalog_indexes()) {
    if (index.constraint == 0 || find_system_table(index.catalog) == nullptr) continue;
    out.add(index.constraint, index.name, oid::kPgCatalogSchema, index.primary ? 'p' : 'u', false, false, true, index.catalog, 0, index.oid, 0, 0,
            ' ', ' ', ' ', true, 0, true, array_text(index.columns), kNull, kNull, kNull, kNull, kNull, kNull, kNull);
  }
}

void constraints(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  add_catalog_constraints(out);
  for (const Constraint& constraint : all_constraints(catalog)) {
    if (constraint.foreign_key != nullptr) {
      add_foreign_key(out, catalog, constraint);
      continue;
    }
    const Inheritance inheritance = inheritance_of(catalog, constraint);
    out.add(constraint.oid, constraint.name, schema_oid(catalog, constraint.table->schema), constraint.type, constraint.deferrable,
            constraint.initially_deferred, constraint.check == nullptr || !constraint.check->not_valid, constraint.table->oid, 0,
            constraint.index, inheritance.parent, 0, ' ', ' ', ' ', !inheritance.is_inherited, inheritance.is_inherited ? 1 : 0, inheritance.is_own_only,
            array_text(constraint.columns), kNull, kNull, kNull, kNull, kNull, kNull,
            null_if_empty(constraint.check == nullptr ? "" : written_expression(*constraint.table, constraint.expression, false, context)));
  }
  add_domain_constraints(out, catalog, context);
}

void methods(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  out.add(oid::kHeapMethod, "heap", 3, 't');
  out.add(oid::kBtreeMethod, "btree", 330, 'i');
  out.add(oid::kHashMethod, "hash", 331, 'i');
  out.add(oid::kGistMethod, "gist", 332, 'i');
  out.add(oid::kGinMethod, "gin", 333, 'i');
  out.add(oid::kSpgistMethod, "spgist", 334, 'i');
  out.add(oid::kBrinMethod, "brin", 335, 'i');
  out.add(oid::kZsetMethod, "zset", 0, 'i');
  out.add(oid::kSetMethod, "set", 0, 'i');
  out.add(oid::kLookupMethod, "lookup", 0, 'i');
  out.add(oid::kListMethod, "list", 0, 'i');
}

void add_facts(RowWriter& out, const FactTable& facts) {
  for (const std::string_view line : facts.lines()) out.add_texts(facts.values(line));
}

void operator_classes(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) { add_facts(out, operator_class_facts()); }
void operator_families(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) { add_facts(out, operator_family_facts()); }
void family_operators(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) { add_facts(out, family_operator_facts()); }
void family_functions(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) { add_facts(out, family_function_facts()); }

const SystemTableDefinition kIndexTables[] = {
    {"pg_catalog", "pg_index", 2610, 'r',
     "indexrelid oid!, indrelid oid!, indnatts int2!, indnkeyatts int2!, indisunique bool!, "
     "indnullsnotdistinct bool!, indisprimary bool!, indisexclusion bool!, indimmediate bool!, "
     "indisclustered bool!, indisvalid bool!, indcheckxmin bool!, indisready bool!, indislive bool!, "
     "indisreplident bool!, indkey int2vector!, indcollation oidvector!, indclass oidvector!, "
     "indoption int2vector!, indexprs pg_node_tree, indpred pg_node_tree", indexes},
    {"pg_catalog", "pg_constraint", 2606, 'r',
     "oid oid!, conname name!, connamespace oid!, contype char!, condeferrable bool!, condeferred bool!, "
     "convalidated bool!, conrelid oid!, contypid oid!, conindid oid!, conparentid oid!, confrelid oid!, "
     "confupdtype char!, confdeltype char!, confmatchtype char!, conislocal bool!, coninhcount int4!, "
     "connoinherit bool!, conkey _int2, confkey _int2, conpfeqop _oid, conppeqop _oid, conffeqop _oid, "
     "confdelsetcols _int2, conexclop _oid, conbin pg_node_tree", constraints},
    {"pg_catalog", "pg_am", 2601, 'r', "oid oid!, amname name!, amhandler regproc!, amtype char!", methods},
    {"pg_catalog", "pg_opclass", 2616, 'r',
     "oid oid!, opcmethod oid!, opcname name!, opcnamespace oid!, opcowner oid!, opcfamily oid!, "
     "opcintype oid!, opcdefault bool!, opckeytype oid!", operator_classes},
    {"pg_catalog", "pg_opfamily", 2753, 'r',
     "oid oid!, opfmethod oid!, opfname name!, opfnamespace oid!, opfowner oid!", operator_families},
    {"pg_catalog", "pg_amop", 2602, 'r',
     "oid oid!, amopfamily oid!, amoplefttype oid!, amoprighttype oid!, amopstrategy int2!, amoppurpose char!, "
     "amopopr oid!, amopmethod oid!, amopsortfamily oid!", family_operators},
    {"pg_catalog", "pg_amproc", 2603, 'r',
     "oid oid!, amprocfamily oid!, amproclefttype oid!, amprocrighttype oid!, amprocnum int2!, amproc regproc!", family_functions},
};

}  // namespace

SystemTableFamily index_tables() { return kIndexTables; }

}  // namespace redquel::sql
