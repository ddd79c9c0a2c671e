#pragma once

#include <string>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/evaluation_context.h"

namespace redquel::sql {

/// A row of pg_constraint.
struct Constraint {
  Oid oid = 0;
  std::string name;
  char type = 'c';  // p, u, c, f, x
  const TableDef* table = nullptr;
  const UserType* domain = nullptr;  // instead of a table
  Oid index = 0;    // p, u, x; f: of the referenced table
  std::vector<std::int16_t> columns, included;
  bool nulls_not_distinct = false;
  bool deferrable = false, initially_deferred = false;
  std::string expression;  // c
  const ForeignKeyDef* foreign_key = nullptr;  // f
  const CheckDef* check = nullptr;             // c
  std::string comment;
};

/// Returns the constraints of tables.
std::vector<Constraint> all_constraints(const CatalogSnapshot& catalog);
std::vector<Constraint> domain_constraints(const CatalogSnapshot& catalog);
std::vector<Constraint> constraints_of(const TableDef& table);

/// pg_get_constraintdef(): PRIMARY KEY (id), CHECK ((salary > (0)::numeric)); `pretty`: CHECK (salary > 0::numeric).
std::string constraint_definition(const CatalogSnapshot& catalog, const Constraint& constraint, bool pretty, const EvaluationContext& context);
/// Returns an expression of the table's definition in PostgreSQL's words, or as it is stored if it cannot be bound.
std::string written_expression(const TableDef& table, const std::string& text, bool pretty, const EvaluationContext& context);

/// pg_get_indexdef(): CREATE UNIQUE INDEX emp_pkey ON public.emp USING btree (id). `table_name` as it is to be written.
std::string index_definition(const TableDef& table, const IndexDef& index, const std::string& table_name, bool pretty,
                             const EvaluationContext& context);
/// One column of it: a name, or an expression in its parentheses.
std::string index_part_text(const TableDef& table, const IndexDef::Part& part, bool pretty, const EvaluationContext& context);

/// pg_get_expr() of a column's default; empty: it has none.
std::string default_expression(const CatalogSnapshot& catalog, const TableDef& table, const ColumnDef& column,
                               const EvaluationContext& context);
/// Like default_expression() of a table, for a view's column (ALTER VIEW … SET DEFAULT).
std::string default_expression(const ViewDef& view, const ViewDef::Column& column, const EvaluationContext& context);
/// pg_attrdef has a row for it.
bool has_default(const ColumnDef& column);
/// Returns true if pg_dump shall see the default: the counter of a foreign table is an application's, and the table's options restore it.
bool has_shown_default(const CatalogSnapshot& catalog, const ColumnDef& column);

// Oids of what the snapshot does not number: made from the table's and a position, above all that are handed out.

inline Oid check_oid(const TableDef& table, std::size_t position) {
  return 0x80000000U | ((table.oid & 0x7fffffU) << 7) | static_cast<Oid>(position & 0x7fU);
}
inline Oid default_oid(Oid relation, std::int16_t column) {
  return 0xC0000000U | ((relation & 0x7ffffU) << 11) | static_cast<Oid>(column & 0x7ff);
}
inline Oid default_oid(const TableDef& table, const ColumnDef& column) { return default_oid(table.oid, column.number); }

}  // namespace redquel::sql
