// pg_depend: what goes when something is dropped. pg_description: comments.

#include "sql/system_tables/constraints.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {
namespace {

// The catalogs that rows stand in.
constexpr Oid kType = 1247, kClass = 1259, kAttrdef = 2604, kConstraint = 2606, kNamespace = 2615, kRewrite = 2618, kProcedure = 1255,
              kExtension = 3079, kForeignDataWrapper = 2328, kForeignServer = 1417;
constexpr Oid kRedquelExtension = 15898;

void add_table(RowWriter& out, const CatalogSnapshot& catalog, const TableDef& table) {
  if (table.mapping) out.add(kClass, table.oid, 0, kForeignServer, kRedisServer, 0, 'n');
  out.add(kType, table.row_type, 0, kClass, table.oid, 0, 'i');
  out.add(kClass, table.oid, 0, kNamespace, schema_oid(catalog, table.schema), 0, 'n');
  for (const ColumnDef& column : table.columns) {
    if (!has_shown_default(catalog, column)) continue;
    out.add(kAttrdef, default_oid(table, column), 0, kClass, table.oid, column.number, 'a');
    if (column.sequence != 0) out.add(kAttrdef, default_oid(table, column), 0, kClass, column.sequence, 0, 'n');
  }
  for (const Constraint& constraint : constraints_of(table)) {
    for (std::int16_t number : constraint.columns) out.add(kConstraint, constraint.oid, 0, kClass, table.oid, number, 'a');
    if (const ForeignKeyDef* key = constraint.foreign_key) {
      for (std::int16_t number : key->referenced_columns) out.add(kConstraint, constraint.oid, 0, kClass, key->referenced, number, 'n');
      out.add(kConstraint, constraint.oid, 0, kClass, constraint.index, 0, 'n');
      continue;
    }
    if (constraint.index != 0) out.add(kClass, constraint.index, 0, kConstraint, constraint.oid, 0, 'i');
  }
  for (const IndexDef& index : table.indexes) {
    if (index.constraint || index.is_hidden()) continue;
    for (const IndexDef::Part& part : index.parts) {
      const std::int16_t column = part.shown_column != 0 ? part.shown_column : std::max(part.column, std::int16_t{0});
      out.add(kClass, index.oid, 0, kClass, table.oid, column, 'a');
    }
  }
}

void add_sequence(RowWriter& out, const CatalogSnapshot& catalog, const SequenceDef& sequence) {
  out.add(kClass, sequence.oid, 0, kNamespace, schema_oid(catalog, sequence.schema), 0, 'n');
  const CatalogSnapshot::TablePtr owner = catalog.find_table(sequence.owner_table);
  if (owner == nullptr) return;
  const ColumnDef* column = owner->find_column(sequence.owner_column);
  const bool identity = column != nullptr && column->identity != ColumnDef::Identity::kNone;
  out.add(kClass, sequence.oid, 0, kClass, owner->oid, sequence.owner_column, identity ? 'i' : 'a');
}

/// The rule of a view, and what its query reads.
void add_rule(RowWriter& out, const CatalogSnapshot& catalog, const ViewDef& view, Oid relation) {
  out.add(kRewrite, view.rule, 0, kClass, relation, 0, 'i');
  out.add(kRewrite, view.rule, 0, kClass, relation, 0, 'n');
  for (const ViewDef::Reference& reference : view.references) {
    if (catalog.functions.contains(reference.relation)) {
      out.add(kRewrite, view.rule, 0, kProcedure, reference.relation, 0, 'n');
      continue;
    }
    if (reference.columns.empty()) out.add(kRewrite, view.rule, 0, kClass, reference.relation, 0, 'n');
    for (std::int16_t column : reference.columns) out.add(kRewrite, view.rule, 0, kClass, reference.relation, column, 'n');
  }
}

/// A view hangs on its rule, and the rule on what the query reads.
void add_view(RowWriter& out, const CatalogSnapshot& catalog, const ViewDef& view) {
  out.add(kType, view.row_type, 0, kClass, view.oid, 0, 'i');
  out.add(kClass, view.oid, 0, kNamespace, schema_oid(catalog, view.schema), 0, 'n');
  add_rule(out, catalog, view, view.oid);
}

/// The schema redis is what an extension that came with the server would have made: pg_dump leaves it where it is.
void extensions(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  out.add(kRedquelExtension, "redquel", kPostgresRole, oid::kRedisSchema, false, "1.0", kNull, kNull);
}

void add_extension(RowWriter& out) {
  out.add(kNamespace, oid::kRedisSchema, 0, kExtension, kRedquelExtension, 0, 'e');
  out.add(kForeignDataWrapper, kRedisWrapper, 0, kExtension, kRedquelExtension, 0, 'e');
  out.add(kForeignServer, kRedisServer, 0, kExtension, kRedquelExtension, 0, 'e');
  for (const SystemTable& table : all_system_tables()) {
    if (table.schema == kRedisSchema) out.add(kClass, table.oid, 0, kExtension, kRedquelExtension, 0, 'e');
  }
}

void dependencies(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  add_extension(out);
  for (const auto& [oid, table] : catalog.tables) {
    add_table(out, catalog, *table);
    if (table->materialized) add_rule(out, catalog, *table->materialized, oid);
  }
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (!sequence.foreign) add_sequence(out, catalog, sequence);
  }
  for (const auto& [oid, view] : catalog.views) add_view(out, catalog, *view);
  for (const auto& [oid, function] : catalog.functions) {
    out.add(kProcedure, oid, 0, kNamespace, schema_oid(catalog, function->schema), 0, 'n');
    if (const auto table = catalog.find_table(function->result_relation)) out.add(kProcedure, oid, 0, kType, table->row_type, 0, 'n');
    if (const auto view = catalog.find_view(function->result_relation)) out.add(kProcedure, oid, 0, kType, view->row_type, 0, 'n');
  }
}

void descriptions(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  const auto add = [&](Oid object, Oid in, std::int32_t part, const std::string& comment) {
    if (!comment.empty()) out.add(object, in, part, comment);
  };
  for (const auto& [name, schema] : catalog.schemas) add(schema.oid, kNamespace, 0, schema.comment);
  for (const Relation& relation : all_relations(catalog)) add(relation.oid, kClass, 0, relation.comment);
  for (const auto& [oid, table] : catalog.tables) {
    for (const ColumnDef& column : table->columns) add(oid, kClass, column.number, column.comment);
    for (const Constraint& constraint : constraints_of(*table)) add(constraint.oid, kConstraint, 0, constraint.comment);
  }
  for (const auto& [oid, type] : catalog.types) add(oid, kType, 0, type->comment);
  for (const auto& [oid, view] : catalog.views) {
    for (std::size_t i = 0; i < view->columns.size(); ++i) {
      add(oid, kClass, static_cast<std::int32_t>(i + 1), view->columns[i].comment);
    }
  }
}

const SystemTableDefinition kTables[] = {
    {"pg_catalog", "pg_extension", 3079, 'r',
     "oid oid!, extname name!, extowner oid!, extnamespace oid!, extrelocatable bool!, extversion text!, "
     "extconfig _oid, extcondition _text", extensions},
    {"pg_catalog", "pg_depend", 2608, 'r',
     "classid oid!, objid oid!, objsubid int4!, refclassid oid!, refobjid oid!, refobjsubid int4!, deptype char!", dependencies},
    {"pg_catalog", "pg_description", 2609, 'r',
     "objoid oid!, classoid oid!, objsubid int4!, description text!", descriptions},
    {"pg_catalog", "pg_shdescription", 2396, 'r', "objoid oid!, classoid oid!, description text!"},
    {"pg_catalog", "pg_shdepend", 1214, 'r',
     "dbid oid!, classid oid!, objid oid!, objsubid int4!, refclassid oid!, refobjid oid!, deptype char!"},
};

}  // namespace

SystemTableFamily dependency_tables() { return kTables; }

}  // namespace redquel::sql
