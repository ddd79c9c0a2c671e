#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// PRIMARY KEY, UNIQUE or EXCLUDE, as written.
struct KeyDraft {
  bool primary = false;
  bool nulls_not_distinct = false;
  bool deferrable = false, initially_deferred = false;
  std::string name;  // empty: to be chosen
  std::vector<std::string> columns;
  std::vector<std::string> included;  // INCLUDE (…)
  std::string using_index;  // the unique index that becomes the key's; `columns` is empty then
  const parser::ast::ExclusionConstraint* exclusion = nullptr;  // EXCLUDE; `columns` is empty then
  std::optional<std::uint32_t> offset;  // none: LIKE has taken it from another table
};

struct CheckDraft {
  std::string name;  // empty: to be chosen
  const parser::ast::Expression* condition = nullptr;
  bool no_inherit = false;
  bool not_valid = false;  // of ALTER TABLE … ADD: rows that are there are not looked at
};

/// FOREIGN KEY, as written.
struct ForeignKeyDraft {
  std::string name;  // empty: to be chosen
  std::vector<std::string> columns;
  const parser::ast::ForeignKeyConstraint* node = nullptr;
  bool deferrable = false, initially_deferred = false;
  bool not_valid = false;
};

/// A column as written, apart from its number and field.
struct ColumnDraft {
  sql::ColumnDef column;
  const parser::ast::Expression* default_value = nullptr;
  const parser::ast::Expression* generated = nullptr;
  std::optional<sql::SequenceDef> sequence;  // serial or identity; name (if given), type and bounds are set
  std::vector<KeyDraft> keys;
  std::vector<CheckDraft> checks;
  std::vector<ForeignKeyDraft> foreign_keys;
};

/// Reads a column of CREATE TABLE or ADD COLUMN. `table_name` is for messages. Throws SqlError 42601, 42704, 42P16, 22023 …
ColumnDraft read_column(const CatalogDraft& draft, const parser::ast::ColumnDefinition& definition, const std::string& table_name);
/// A table constraint. Throws as above.
KeyDraft read_key(const parser::ast::Constraint& constraint);
CheckDraft read_check(const parser::ast::Constraint& constraint);
ForeignKeyDraft read_foreign_key(const parser::ast::Constraint& constraint);
/// 0A000 for a constraint that is none of these.
void refuse_other_constraints(const parser::ast::Constraint& constraint);

/// Tablespaces and collations that mean nothing here are accepted if PostgreSQL knows them.
void check_tablespace(const std::string& tablespace);
/// Returns the collation that columns of the domain have; empty: that of the type under it.
std::string domain_collation(const CatalogDraft& draft, sql::Oid domain);
/// Returns the collation that a column stores from its COLLATE clause: none for "default".
std::string remembered_collation(const parser::ast::QualifiedName& collation);
void check_collation(const parser::ast::QualifiedName& collation, sql::Type type, std::optional<std::uint32_t> offset);

}  // namespace redquel::executor
