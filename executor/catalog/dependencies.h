#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "sql/expressions/expression.h"

namespace redquel::executor {

/// An object that is dropped, or that goes along because it depends on one.
struct DropObject {
  enum class Kind : std::uint8_t { kSchema, kTable, kView, kSequence, kColumn, kDefault, kType, kIndex, kKeyConstraint, kForeignKey, kFunction, kCheck, kPolicy, kTrigger, kExtension };
  Kind kind;
  sql::Oid oid = 0;         // kColumn, kDefault: of the table; kKeyConstraint: of its index
  std::int16_t column = 0;  // kColumn, kDefault
  std::string name = {};    // kCheck, kPolicy, kTrigger: of the one of table `oid`
  friend bool operator==(const DropObject&, const DropObject&) = default;
};

/// The objects that depend on one directly, the oldest first.
std::vector<DropObject> direct_dependents(const CatalogDraft& draft, const DropObject& object);
/// The tables, views, sequences, types and functions that would be changed or dropped if the object with that oid were.
std::set<sql::Oid> dependents_of(const CatalogDraft& draft, sql::Oid object);

/// Returns true if the view's query reads the relation, or the column of it.
bool reads(const sql::ViewDef& view, const DropObject& object);
/// Returns true if the policy's expressions use the relation or function, or the column of it.
bool reads(const sql::PolicyDef& policy, const DropObject& object);
/// Returns true if the trigger calls the function, or its UPDATE OF or WHEN names the column or function.
bool reads(const sql::TriggerDef& trigger, const DropObject& object);
/// The table that has the foreign key.
sql::CatalogSnapshot::TablePtr table_of_foreign_key(const CatalogDraft& draft, sql::Oid key);

/// Returns true if values of the type (or of the domain) contain values of the other: the same type, an array of it, or a row with it.
bool contains_type(const sql::CatalogSnapshot& catalog, sql::Oid outer, sql::Oid inner);
/// The column's values contain values of the type, or it is declared with the domain.
bool uses_type(const sql::CatalogSnapshot& catalog, const sql::ColumnDef& column, sql::Oid type);

/// The columns that an expression over the table's positions uses.
std::vector<std::int16_t> columns_of(const sql::ExpressionPtr& expression, const sql::TableDef& table);
/// The columns that a generated column is made of.
std::vector<std::int16_t> columns_of_generation(const CatalogDraft& draft, const sql::TableDef& table, const sql::ColumnDef& column);
/// Columns that a stored expression uses.
std::vector<std::int16_t> columns_of_check(const CatalogDraft& draft, const sql::TableDef& table, const sql::CheckDef& check);

}  // namespace redquel::executor
