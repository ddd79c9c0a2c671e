// information_schema: constraints. NOT NULL is one of them, with a name made from oids.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "sql/system_tables/constraints.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/shown_objects.h"

namespace redquel::sql {
namespace {

/// A NOT NULL column of a table.
struct NotNull {
  Oid oid = 0;  // of the table
  std::string constraint, schema, table, column;
};

std::vector<NotNull> all_not_nulls(const CatalogSnapshot& catalog) {
  std::vector<NotNull> found;
  for (const Relation& relation : all_relations(catalog)) {
    if (relation.kind != 'r' && relation.kind != 'p') continue;
    for (const Attribute& attribute : attributes_of(relation)) {
      if (!attribute.not_null) continue;
      found.push_back({relation.oid, fmt::format("{}_{}_{}_not_null", schema_oid(catalog, relation.schema), relation.oid, attribute.number),
                       relation.schema, relation.name, attribute.name});
    }
  }
  return found;
}

std::string_view type_words(char type) {
  return type == 'p' ? "PRIMARY KEY" : type == 'u' ? "UNIQUE" : type == 'f' ? "FOREIGN KEY" : "CHECK";
}

void table_constraints(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  const std::string& database = context.database;
  for (const Constraint& constraint : all_constraints(catalog)) {
    if (constraint.type == 'x') continue;  // SQL's standard knows none
    const TableDef& table = *constraint.table;
    if (!shown.shows_constraints(table)) continue;
    std::optional<bool> nulls_distinct;
    if (constraint.type == 'u') nulls_distinct = !constraint.nulls_not_distinct;
    out.add(database, table.schema, constraint.name, database, table.schema, table.name, type_words(constraint.type), constraint.deferrable,
            constraint.initially_deferred, true, nulls_distinct);
  }
  for (const NotNull& column : all_not_nulls(catalog)) {
    if (!shown.shows_constraints(column)) continue;
    out.add(database, column.schema, column.constraint, database, column.schema, column.table, "CHECK", false, false, true, kNull);
  }
}

void check_constraints(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  std::set<std::array<std::string, 3>> seen;  // tables of a schema may have the same
  const auto add = [&](const Constraint& constraint, const std::string& schema) {
    constexpr std::size_t kAfterCheck = 6;  // "CHECK "
    const std::string clause = constraint_definition(catalog, constraint, false, context).substr(kAfterCheck);
    if (seen.insert({schema, constraint.name, clause}).second) out.add(context.database, schema, constraint.name, clause);
  };
  for (const Constraint& constraint : all_constraints(catalog)) {
    if (constraint.type == 'c' && shown.owns_relation(constraint.table->oid)) add(constraint, constraint.table->schema);
  }
  for (const Constraint& constraint : domain_constraints(catalog)) {
    if (shown.owns(catalog_class::kTypes, constraint.domain->oid)) add(constraint, constraint.domain->schema);
  }
  for (const NotNull& column : all_not_nulls(catalog)) {
    if (!shown.owns_relation(column.oid)) continue;
    out.add(context.database, column.schema, column.constraint, column.column + " IS NOT NULL");
  }
}

/// Returns the column of the referenced key, from 1, that matches column number `i` of the foreign key.
std::optional<std::int32_t> position_in_key(const CatalogSnapshot& catalog, const ForeignKeyDef& key, std::size_t i) {
  const CatalogSnapshot::TablePtr referenced = catalog.find_table(key.referenced);
  if (!referenced) return std::nullopt;
  for (const IndexDef& index : all_indexes(*referenced)) {
    if (index.oid != key.referenced_index) continue;
    const auto part = std::ranges::find(index.parts, key.referenced_columns[i], &IndexDef::Part::column);
    if (part != index.parts.end()) return static_cast<std::int32_t>(part - index.parts.begin() + 1);
  }
  return std::nullopt;
}

void key_columns(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  const std::string& database = context.database;
  for (const Constraint& constraint : all_constraints(catalog)) {
    if (constraint.type == 'c' || constraint.type == 'x') continue;
    const TableDef& table = *constraint.table;
    for (std::size_t i = 0; i < constraint.columns.size(); ++i) {
      const ColumnDef* column = table.find_column(constraint.columns[i]);
      if (column == nullptr || !shown.shows_column(table, column->number)) continue;
      std::optional<std::int32_t> position;
      if (constraint.foreign_key != nullptr) position = position_in_key(catalog, *constraint.foreign_key, i);
      out.add(database, table.schema, constraint.name, database, table.schema, table.name, column->name, i + 1, position);
    }
  }
}

void constraint_columns(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  const std::string& database = context.database;
  for (const Constraint& constraint : all_constraints(catalog)) {
    if (constraint.type == 'x') continue;
    // A foreign key uses the columns that it refers to.
    const CatalogSnapshot::TablePtr referenced =
        constraint.foreign_key == nullptr ? nullptr : catalog.find_table(constraint.foreign_key->referenced);
    const TableDef& table = referenced ? *referenced : *constraint.table;
    if (!shown.owns_relation(table.oid)) continue;
    for (std::int16_t number : referenced ? constraint.foreign_key->referenced_columns : constraint.columns) {
      const ColumnDef* column = table.find_column(number);
      if (column == nullptr) continue;
      out.add(database, table.schema, table.name, column->name, database, constraint.table->schema, constraint.name);
    }
  }
}

void domain_columns(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for (const auto& [oid, table] : catalog.tables) {
    for (const ColumnDef& column : table->columns) {
      const auto domain = catalog.types.find(column.domain);
      if (domain == catalog.types.end() || !shown.owns(catalog_class::kTypes, domain->first)) continue;
      out.add(context.database, domain->second->schema, domain->second->name, context.database, table->schema, table->name, column.name);
    }
  }
}

void constraint_tables(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  const std::string& database = context.database;
  for (const Constraint& constraint : all_constraints(catalog)) {
    if (constraint.type == 'c' || constraint.type == 'x') continue;
    const CatalogSnapshot::TablePtr referenced =
        constraint.foreign_key == nullptr ? nullptr : catalog.find_table(constraint.foreign_key->referenced);
    const TableDef& table = referenced ? *referenced : *constraint.table;
    if (!shown.owns_relation(table.oid)) continue;
    out.add(database, table.schema, table.name, database, constraint.table->schema, constraint.name);
  }
}

void referential_constraints(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  constexpr std::string_view kRules[] = {"NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"};
  const std::string& database = context.database;
  for (const Constraint& constraint : all_constraints(catalog)) {
    const ForeignKeyDef* key = constraint.foreign_key;
    if (key == nullptr || !shown.shows_constraints(*constraint.table)) continue;
    const std::optional<Relation> index = find_relation(catalog, key->referenced_index);
    if (!index) continue;
    const CatalogSnapshot::TablePtr referenced = catalog.find_table(key->referenced);
    const std::vector<Constraint> targets = constraints_of(*referenced);
    const bool is_constraint = std::ranges::any_of(targets, [&](const Constraint& target) { return target.oid == index->oid; });
    const auto when_constraint = [&](const std::string& text) { return is_constraint ? std::optional(text) : std::nullopt; };
    out.add(database, constraint.table->schema, constraint.name, when_constraint(database), when_constraint(index->schema),
            when_constraint(index->name), key->match_full ? "FULL" : "NONE", kRules[static_cast<std::size_t>(key->on_update)],
            kRules[static_cast<std::size_t>(key->on_delete)]);
  }
}

const SystemTableDefinition kInformationConstraints[] = {
    {"information_schema", "table_constraints", 13411, 'v',
     "constraint_catalog, constraint_schema, constraint_name, table_catalog, table_schema, table_name, "
     "constraint_type character_data, is_deferrable yes_or_no, initially_deferred yes_or_no, "
     "enforced yes_or_no, nulls_distinct yes_or_no", table_constraints},
    {"information_schema", "check_constraints", 13260, 'v',
     "constraint_catalog, constraint_schema, constraint_name, check_clause character_data", check_constraints},
    {"information_schema", "key_column_usage", 13329, 'v',
     "constraint_catalog, constraint_schema, constraint_name, table_catalog, table_schema, table_name, "
     "column_name, ordinal_position cardinal_number, position_in_unique_constraint cardinal_number", key_columns},
    {"information_schema", "constraint_column_usage", 13300, 'v',
     "table_catalog, table_schema, table_name, column_name, constraint_catalog, constraint_schema, "
     "constraint_name", constraint_columns},
    {"information_schema", "column_domain_usage", 13280, 'v',
     "domain_catalog, domain_schema, domain_name, table_catalog, table_schema, table_name, column_name", domain_columns},
    {"information_schema", "constraint_table_usage", 13305, 'v',
     "table_catalog, table_schema, table_name, constraint_catalog, constraint_schema, constraint_name", constraint_tables},
    {"information_schema", "referential_constraints", 13339, 'v',
     "constraint_catalog, constraint_schema, constraint_name, unique_constraint_catalog, "
     "unique_constraint_schema, unique_constraint_name, match_option character_data, "
     "update_rule character_data, delete_rule character_data", referential_constraints},
};

}  // namespace

SystemTableFamily information_constraints() { return kInformationConstraints; }

}  // namespace redquel::sql
