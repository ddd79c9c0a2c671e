#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/column_definition.h"
#include "planner/bind/bind.h"
#include "sql/error.h"

namespace redquel::executor {

// Columns, keys and checks put into a table's definition: what CREATE TABLE and ALTER TABLE … ADD have in common. The table must
// be in the draft already (its name is taken); the changed definition is the caller's to put back.

/// Gives the column its number and field, binds its default, keeps its generation expression, makes its sequence. `is_key`: the
/// single column of the primary key, whose counter is `emp:id`. Returns the column.
sql::ColumnDef& add_column(CatalogDraft& draft, sql::TableDef& table, const ColumnDraft& column, bool is_key);
/// 42P16 for a column of a type that has the table's rows within it.
void check_not_within_itself(const CatalogDraft& draft, const sql::TableDef& table, sql::Type type);
/// DEFAULT: the next value of a sequence, or an expression.
void set_default(const CatalogDraft& draft, const sql::TableDef& table, sql::ColumnDef& column, const parser::ast::Expression& written);
/// GENERATED ALWAYS AS, once all columns are there and know whether they are generated. 42P17, 42804 …
void check_generated(const CatalogDraft& draft, const sql::TableDef& table, std::int16_t number, const parser::ast::Expression& written);
/// A new sequence for a column (identity, serial).
void add_column_sequence(CatalogDraft& draft, const sql::TableDef& table, sql::ColumnDef& column, sql::SequenceDef sequence,
                         bool is_key);

/// The constraint that the written key is, for its index.
sql::IndexConstraint constraint_of(const KeyDraft& key);
/// The columns' numbers. 42703 `column "x" named in key does not exist`, 42701 `column "a" appears twice in …`.
std::vector<std::int16_t> key_columns(const sql::TableDef& table, const KeyDraft& key, bool with_position);
/// The numbers of the columns that INCLUDE names. 42703.
std::vector<std::int16_t> included_columns(const sql::TableDef& table, const std::vector<std::string>& names,
                                           std::optional<std::uint32_t> position);
/// PRIMARY KEY that is not DEFERRABLE: sets the key and makes its columns NOT NULL.
void add_primary_key(CatalogDraft& draft, sql::TableDef& table, const KeyDraft& key, bool with_position);
/// 0A000 where another unique index over the same columns treats NULLs in the other way: both would have one structure in Redis.
void check_nulls_of_unique(const sql::TableDef& table, const sql::IndexDef& index);
/// The name that an index or its constraint gets: the given one, which must be free (42P07, 42710), or one made of the columns' names.
std::string index_name(const CatalogDraft& draft, const sql::TableDef& table, const std::string& given,
                       const std::vector<std::string>& columns, std::string_view label);
/// UNIQUE, EXCLUDE, or a DEFERRABLE primary key (whose columns the caller makes NOT NULL): an index in the given state; returns its oid.
sql::Oid add_unique(CatalogDraft& draft, sql::TableDef& table, const KeyDraft& key, sql::IndexState state, bool with_position);
/// CHECK: binds and names it. `duplicate_wording`: of CREATE TABLE or ALTER TABLE.
void add_check(CatalogDraft& draft, sql::TableDef& table, const CheckDraft& check, bool in_create_table);

/// Runs work that PostgreSQL does without the statement's text (ALTER TABLE, domains): its errors have no position.
template <class Body>
void without_positions(const Body& body) {
  try {
    body();
  } catch (const sql::SqlError& error) {
    throw error.without_position();
  }
}

/// Decides where a row's existence is seen (for a table without rows).
void choose_presence(sql::TableDef& table);

bool constraint_exists(const sql::TableDef& table, std::string_view name);
/// A constraint or relation of the schema has that name: what chosen names avoid.
bool constraint_name_is_taken(const CatalogDraft& draft, std::string_view schema, std::string_view name);

/// ON COMMIT of a new table in that schema. 42P16 where it is no temporary one.
sql::TableDef::OnCommit on_commit(parser::ast::OnCommit written, std::string_view schema);

}  // namespace redquel::executor
