// pg_depend: what goes when something is dropped. pg_description: comments.

#include <set>

#include "sql/catalog/view_rows.h"
#include "sql/catalog/publications.h"
#include "sql/definition_words.h"
#include "sql/extensions/extension.h"
#include "sql/system_tables/constraints.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/foreign_options.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/trigger_words.h"

namespace redquel::sql {
namespace {

// The catalogs that rows stand in.
constexpr Oid kType = 1247, kClass = 1259, kAttrdef = 2604, kConstraint = 2606, kNamespace = 2615, kRewrite = 2618, kProcedure = 1255,
              kExtension = 3079, kForeignDataWrapper = 2328, kForeignServer = 1417,
              kPolicy = 3256, kTrigger = 2620, kPublication = 6104, kPublicationTable = 6106, kPublicationSchema = 6237, kLanguage = 2612, kDictionary = 3600;
constexpr Oid kPlpgsql = 13758;  // pg_language

/// The types that users have made, and the arrays over them.
void add_type_use(RowWriter& out, Oid in, Oid object, std::int32_t part, Oid type) {
  if (type >= kFirstUserOid || is_extension_type(type)) out.add(in, object, part, kType, type, 0, 'n');
}

void add_type(RowWriter& out, const CatalogSnapshot& catalog, const UserType& type) {
  const bool is_composite = type.kind == UserType::Kind::kComposite;
  out.add(kType, type.oid, 0, kNamespace, schema_oid(catalog, type.schema), 0, 'n');
  if (type.array != 0) out.add(kType, type.array, 0, kType, type.oid, 0, 'i');
  if (type.kind == UserType::Kind::kDomain) add_type_use(out, kType, type.oid, 0, type.base_domain != 0 ? type.base_domain : type.base.oid);
  if (type.kind == UserType::Kind::kRange) {
    add_type_use(out, kType, type.oid, 0, type.base.oid);
    out.add(kType, type.range.multirange, 0, kType, type.oid, 0, 'i');
    out.add(kType, type.range.multirange_array, 0, kType, type.range.multirange, 0, 'i');
  }
  if (!is_composite) return;
  out.add(kType, type.oid, 0, kClass, type.relation, 0, 'i');
  out.add(kClass, type.relation, 0, kNamespace, schema_oid(catalog, type.schema), 0, 'n');
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const CompositeField& field = type.fields[i];
    add_type_use(out, kClass, type.relation, static_cast<std::int32_t>(i + 1), field.domain != 0 ? field.domain : field.type.oid);
  }
}

void add_table(RowWriter& out, const CatalogSnapshot& catalog, const TableDef& table) {
  if (table.is_mapped()) out.add(kClass, table.oid, 0, kForeignServer, kRedisServer, 0, 'n');
  out.add(kType, table.row_type, 0, kClass, table.oid, 0, 'i');
  if (table.row_array != 0) out.add(kType, table.row_array, 0, kType, table.row_type, 0, 'i');
  out.add(kClass, table.oid, 0, kNamespace, schema_oid(catalog, table.schema), 0, 'n');
  for (const ColumnDef& column : table.columns) {
    add_type_use(out, kClass, table.oid, column.number, column.domain != 0 ? column.domain : column.type.oid);
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
  for (const PolicyDef& policy : table.security.policies) {
    out.add(kPolicy, policy.oid, 0, kClass, table.oid, 0, 'a');
    for (const PolicyDef::Reference& reference : policy.references) {
      const Oid in = catalog.functions.contains(reference.relation) ? kProcedure : kClass;
      if (reference.columns.empty()) out.add(kPolicy, policy.oid, 0, in, reference.relation, 0, 'n');
      for (const std::int16_t column : reference.columns) out.add(kPolicy, policy.oid, 0, in, reference.relation, column, 'n');
    }
  }
  for (const IndexDef& index : table.indexes) {
    if (index.constraint || index.is_hidden()) continue;
    for (const IndexDef::Part& part : index.parts) {
      const std::int16_t column = part.shown_column != 0 ? part.shown_column : std::max(part.column, std::int16_t{0});
      out.add(kClass, index.oid, 0, kClass, table.oid, column, 'a');
    }
    for (const std::int16_t column : index.included) out.add(kClass, index.oid, 0, kClass, table.oid, column, 'a');
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
    const bool is_relation = catalog.find_table(reference.relation) || catalog.find_view(reference.relation) ||
                             find_system_table(reference.relation) != nullptr;
    const Oid kind = is_relation ? kClass : kConstraint;  // the key that its GROUP BY rests on
    if (reference.columns.empty()) out.add(kRewrite, view.rule, 0, kind, reference.relation, 0, 'n');
    for (std::int16_t column : reference.columns) out.add(kRewrite, view.rule, 0, kClass, reference.relation, column, 'n');
  }
}

/// A view hangs on its rule, and the rule on what the query reads.
void add_view(RowWriter& out, const CatalogSnapshot& catalog, const ViewDef& view) {
  out.add(kType, view.row_type, 0, kClass, view.oid, 0, 'i');
  out.add(kClass, view.oid, 0, kNamespace, schema_oid(catalog, view.schema), 0, 'n');
  add_rule(out, catalog, view, view.oid);
}

void add_extensions(RowWriter& out, const CatalogSnapshot& catalog) {
  for (const auto& [oid, extension] : catalog.extensions) {
    if (oid >= kFirstUserOid) out.add(kExtension, oid, 0, kNamespace, schema_oid(catalog, extension.schema), 0, 'n');
    if (extension.name == "unaccent") out.add(kDictionary, kUnaccentDictionary, 0, kExtension, oid, 0, 'e');
    const Extension* known = find_extension(extension.name);
    if (known == nullptr) continue;
    for (const Oid type : known->types) {
      out.add(kType, type, 0, kNamespace, schema_oid(catalog, extension.schema), 0, 'n');
      out.add(kType, type, 0, kExtension, oid, 0, 'e');
      out.add(kType, type_info(type).array, 0, kType, type, 0, 'i');
    }
  }
  out.add(kLanguage, kPlpgsql, 0, kExtension, kPlpgsqlExtension, 0, 'e');
  // The schemas redis and redquel are those of an extension, for pg_dump, which leaves them out.
  for (const Oid schema : {oid::kRedisSchema, oid::kRedquelSchema}) out.add(kNamespace, schema, 0, kExtension, kRedquelExtension, 0, 'e');
  out.add(kForeignDataWrapper, kRedisWrapper, 0, kExtension, kRedquelExtension, 0, 'e');
  out.add(kForeignServer, kRedisServer, 0, kExtension, kRedquelExtension, 0, 'e');
  for (const SystemTable& table : all_system_tables()) {
    if (table.schema == kRedisSchema || table.schema == "redquel") out.add(kClass, table.oid, 0, kExtension, kRedquelExtension, 0, 'e');
  }
  for (const CatalogFunction& function : all_catalog_functions()) {
    if (function.facts.empty()) out.add(kProcedure, function.oid, 0, kExtension, kRedquelExtension, 0, 'e');
  }
}

/// Its types, and what a body of the SQL standard's reads and calls.
void add_function_dependencies(RowWriter& out, const CatalogSnapshot& catalog, const FunctionDef& function, const EvaluationContext& context) {
  out.add(kProcedure, function.oid, 0, kNamespace, schema_oid(catalog, function.schema), 0, 'n');
  if (function.extension != 0) out.add(kProcedure, function.oid, 0, kExtension, function.extension, 0, 'e');
  std::set<Oid> types;
  for (const FunctionDef::Parameter& parameter : function.parameters) types.insert(parameter.type.oid);
  for (const FunctionDef::Column& column : function.columns) types.insert(column.type.oid);
  types.insert(function.result.oid);
  if (const auto table = catalog.find_table(function.result_relation)) types.insert(table->row_type);
  if (const auto view = catalog.find_view(function.result_relation)) types.insert(view->row_type);
  for (const Oid type : types) add_type_use(out, kProcedure, function.oid, 0, type);
  for (const ViewDef::Reference& reference : body_references(context, function)) {
    const Oid in = catalog.functions.contains(reference.relation) ? kProcedure : kClass;
    if (reference.columns.empty()) out.add(kProcedure, function.oid, 0, in, reference.relation, 0, 'n');
    for (std::int16_t column : reference.columns) out.add(kProcedure, function.oid, 0, in, reference.relation, column, 'n');
  }
}

void add_trigger_dependencies(RowWriter& out, const CatalogSnapshot& catalog, const TableDef& table) {
  for (const TriggerDef& trigger : table.triggers) {
    if (maintains_view(trigger)) continue;
    out.add(kTrigger, trigger.oid, 0, kClass, table.oid, 0, 'a');
    out.add(kTrigger, trigger.oid, 0, kProcedure, trigger.function, 0, 'n');
    for (const std::int16_t column : trigger.columns) out.add(kTrigger, trigger.oid, 0, kClass, table.oid, column, 'n');
    for (const PolicyDef::Reference& reference : trigger.references) {
      const Oid in = catalog.functions.contains(reference.relation) ? kProcedure : kClass;
      if (reference.columns.empty()) out.add(kTrigger, trigger.oid, 0, in, reference.relation, 0, 'n');
      for (const std::int16_t column : reference.columns) out.add(kTrigger, trigger.oid, 0, in, reference.relation, column, 'n');
    }
  }
}

void add_publications(RowWriter& out, const CatalogSnapshot& catalog) {
  for (const auto& [oid, publication] : catalog.publications) {
    const auto add = [&, publication = oid](Oid in, const PublicationDef::Member& member, Oid in_object) {
      out.add(in, member.oid, 0, in_object, member.object, 0, 'a');
      out.add(in, member.oid, 0, kPublication, publication, 0, 'a');
    };
    for (const PublicationDef::Member& member : existing_tables(catalog, publication)) add(kPublicationTable, member, kClass);
    for (const PublicationDef::Member& member : existing_schemas(catalog, publication)) add(kPublicationSchema, member, kNamespace);
  }
}

void dependencies(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  add_extensions(out, catalog);
  add_publications(out, catalog);
  for (const auto& [oid, table] : catalog.tables) {
    add_table(out, catalog, *table);
    if (table->materialized) add_rule(out, catalog, *table->materialized, oid);
  }
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (!sequence.foreign) add_sequence(out, catalog, sequence);
  }
  for (const auto& [oid, view] : catalog.views) add_view(out, catalog, *view);
  for_each_with_triggers(catalog, [&](const std::shared_ptr<const TableDef>& table) { add_trigger_dependencies(out, catalog, *table); });
  for (const auto& [oid, type] : catalog.types) add_type(out, catalog, *type);
  for (const Constraint& constraint : domain_constraints(catalog)) {
    out.add(kConstraint, constraint.oid, 0, kType, constraint.domain->oid, 0, 'a');
  }
  for (const auto& [oid, function] : catalog.functions) add_function_dependencies(out, catalog, *function, context);
}

void descriptions(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  const auto add = [&](Oid object, Oid in, std::int32_t part, const std::string& comment) {
    if (!comment.empty()) out.add(object, in, part, comment);
  };
  for (const auto& [name, schema] : catalog.schemas) add(schema.oid, kNamespace, 0, schema.comment);
  for (const auto& [oid, extension] : catalog.extensions) add(oid, kExtension, 0, extension.comment);
  for (const auto& [oid, publication] : catalog.publications) add(oid, kPublication, 0, publication.comment);
  for (const Relation& relation : all_relations(catalog)) add(relation.oid, kClass, 0, relation.comment);
  for (const auto& [oid, table] : catalog.tables) {
    for (const ColumnDef& column : table->columns) add(oid, kClass, column.number, column.comment);
    for (const Constraint& constraint : constraints_of(*table)) add(constraint.oid, kConstraint, 0, constraint.comment);
    for (const PolicyDef& policy : table->security.policies) add(policy.oid, kPolicy, 0, policy.comment);
  }
  for_each_with_triggers(catalog, [&](const std::shared_ptr<const TableDef>& table) {
    for (const TriggerDef& trigger : table->triggers) add(trigger.oid, kTrigger, 0, trigger.comment);
  });
  for (const auto& [oid, type] : catalog.types) {
    add(oid, kType, 0, type->comment);
    for (std::size_t i = 0; i < type->fields.size(); ++i) add(type->relation, kClass, static_cast<std::int32_t>(i + 1), type->fields[i].comment);
  }
  for (const Constraint& constraint : domain_constraints(catalog)) add(constraint.oid, kConstraint, 0, constraint.comment);
  for (const auto& [oid, function] : catalog.functions) add(oid, kProcedure, 0, function->comment);
  for (const auto& [oid, view] : catalog.views) {
    for (std::size_t i = 0; i < view->columns.size(); ++i) {
      add(oid, kClass, static_cast<std::int32_t>(i + 1), view->columns[i].comment);
    }
  }
}

const SystemTableDefinition kDependencyTables[] = {
    {"pg_catalog", "pg_depend", 2608, 'r',
     "classid oid!, objid oid!, objsubid int4!, refclassid oid!, refobjid oid!, refobjsubid int4!, deptype char!", dependencies},
    {"pg_catalog", "pg_description", 2609, 'r',
     "objoid oid!, classoid oid!, objsubid int4!, description text!", descriptions},
    {"pg_catalog", "pg_shdescription", 2396, 'r', "objoid oid!, classoid oid!, description text!"},
    {"pg_catalog", "pg_shdepend", 1214, 'r',
     "dbid oid!, classid oid!, objid oid!, objsubid int4!, refclassid oid!, refobjid oid!, deptype char!"},
};

}  // namespace

SystemTableFamily dependency_tables() { return kDependencyTables; }

}  // namespace redquel::sql
