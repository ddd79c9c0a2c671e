// information_schema: constraints. NOT NULL is one of them, with a name made from oids.

#include <fmt/format.h>

#include "sql/system_tables/constraints.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {
namespace {

/// A NOT NULL column of a table.
struct NotNull {
  std::string constraint, schema, table, column;
};

std::vector<NotNull> all_not_nulls(const CatalogSnapshot& catalog) {
  std::vector<NotNull> found;
  for (const Relation& relation : all_relations(catalog)) {
    if (relation.kind != 'r') continue;
    for (const Attribute& attribute : attributes_of(relation)) {
      if (!attribute.not_null) continue;
      found.push_back({fmt::format("{}_{}_{}_not_null", schema_oid(catalog, relation.schema), relation.oid, attribute.number),
                       relation.schema, relation.name, attribute.name});
    }
  }
  return found;
}

std::string_view type_words(char type) { return type == 'p' ? "PRIMARY KEY" : type == 'u' ? "UNIQUE" : "CHECK"; }

void table_constraints(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const std::string& database = context.database;
  for (const Constraint& constraint : all_constraints(catalog)) {
    const TableDef& table = *constraint.table;
    std::optional<bool> nulls_distinct;
    if (constraint.type == 'u') nulls_distinct = !constraint.nulls_not_distinct;
    out.add(database, table.schema, constraint.name, database, table.schema, table.name, type_words(constraint.type), false, false,
            true, nulls_distinct);
  }
  for (const NotNull& column : all_not_nulls(catalog)) {
    out.add(database, column.schema, column.constraint, database, column.schema, column.table, "CHECK", false, false, true, kNull);
  }
}

void check_constraints(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Constraint& constraint : all_constraints(catalog)) {
    if (constraint.type != 'c') continue;
    constexpr std::size_t kAfterCheck = 6;  // "CHECK "
    out.add(context.database, constraint.table->schema, constraint.name,
            constraint_definition(constraint, false, context).substr(kAfterCheck));
  }
  for (const NotNull& column : all_not_nulls(catalog)) {
    out.add(context.database, column.schema, column.constraint, column.column + " IS NOT NULL");
  }
}

void key_columns(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const std::string& database = context.database;
  for (const Constraint& constraint : all_constraints(catalog)) {
    if (constraint.type == 'c') continue;
    const TableDef& table = *constraint.table;
    for (std::size_t i = 0; i < constraint.columns.size(); ++i) {
      const ColumnDef* column = table.find_column(constraint.columns[i]);
      if (column == nullptr) continue;
      out.add(database, table.schema, constraint.name, database, table.schema, table.name, column->name, i + 1, kNull);
    }
  }
}

void constraint_columns(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const std::string& database = context.database;
  for (const Constraint& constraint : all_constraints(catalog)) {
    const TableDef& table = *constraint.table;
    for (std::int16_t number : constraint.columns) {
      const ColumnDef* column = table.find_column(number);
      if (column == nullptr) continue;
      out.add(database, table.schema, table.name, column->name, database, table.schema, constraint.name);
    }
  }
}

void constraint_tables(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const std::string& database = context.database;
  for (const Constraint& constraint : all_constraints(catalog)) {
    if (constraint.type == 'c') continue;
    const TableDef& table = *constraint.table;
    out.add(database, table.schema, table.name, database, table.schema, constraint.name);
  }
}

const SystemTableDefinition kViews[] = {
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
    {"information_schema", "constraint_table_usage", 13305, 'v',
     "table_catalog, table_schema, table_name, constraint_catalog, constraint_schema, constraint_name", constraint_tables},
    {"information_schema", "referential_constraints", 13339, 'v',
     "constraint_catalog, constraint_schema, constraint_name, unique_constraint_catalog, "
     "unique_constraint_schema, unique_constraint_name, match_option character_data, "
     "update_rule character_data, delete_rule character_data"},
};

}  // namespace

SystemTableFamily information_constraints() { return kViews; }

}  // namespace redquel::sql
