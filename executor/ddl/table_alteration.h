#pragma once

#include <string>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_parts.h"
#include "parser/ast.h"
#include "sql/expressions/expression.h"

namespace redquel::executor {

/// A column whose values another type gets.
struct ColumnRewrite {
  std::int16_t column;
  const parser::ast::Expression* using_value;  // null: the old value, converted
  sql::ExpressionPtr value = nullptr;          // over the old row, instead of both
};

/// Where ALTER TABLE of a table with partitions is in their tree.
struct TreePlace {
  bool only = false;  // the table alone: its partitions keep what they have
  /// The table that the statement names, before and after it; null: the altered table is that one. A partition below it takes the names of its
  /// constraints over.
  const sql::TableDef* root_before = nullptr;
  const sql::TableDef* root_after = nullptr;
};

/// The commands of one ALTER TABLE applied to a copy of the table's definition, and what must be true of the rows, or done with
/// them, before and after it is committed. Column commands are in table_alteration.cc, constraints in constraint_alteration.cc.
class TableAlteration {
 public:
  /// `is_empty`: the table has no rows, and the change will be refused if that is not so any more when it is committed.
  TableAlteration(CatalogDraft& draft, TablePtr table, bool is_empty, const TreePlace& place = {});

  /// Applies the commands in PostgreSQL's order: drops first, so that additions can take their place.
  void apply(const std::vector<parser::ast::Alteration>& commands);
  void apply(const parser::ast::Alteration& command);
  /// Puts the changed definition into the draft.
  void finish();

  const sql::TableDef& result() const { return table_; }
  /// Columns that no row may have NULL in, as `result` numbers them.
  const std::vector<std::int16_t>& new_not_null() const { return new_not_null_; }
  /// CHECKs that every row must satisfy.
  const std::vector<std::string>& new_checks() const { return new_checks_; }
  /// Unique indexes in state building, to be filled afterwards.
  const std::vector<sql::Oid>& new_indexes() const { return new_indexes_; }
  /// Foreign keys that every row must satisfy: to be validated once they are committed and their indexes built, or before
  /// (VALIDATE CONSTRAINT).
  const std::vector<sql::Oid>& new_foreign_keys() const { return new_foreign_keys_; }
  const std::vector<sql::Oid>& validated_foreign_keys() const { return validated_foreign_keys_; }
  /// The column that rows are recognised by goes, or may be NULL from now on: the rows must hold their key as a field first.
  /// All rows must be written anew (table_rewrite.h).
  bool needs_rewrite() const { return needs_rewrite_; }
  const std::vector<ColumnRewrite>& rewrites() const { return rewrites_; }
  /// Sequences of identity columns that begin anew, once the change is committed: their oids and first values.
  const std::vector<std::pair<sql::Oid, std::int64_t>>& restarts() const { return restarts_; }
  bool needs_stored_keys() const { return needs_stored_keys_; }

 private:
  using Option = parser::ast::Option;

  void command(const parser::ast::AddColumn&);
  void command(const parser::ast::DropColumn&);
  void command(const parser::ast::AlterColumnDefault&);
  void command(const parser::ast::AlterColumnNotNull&);
  void command(const parser::ast::AlterColumnType&);
  void command(const parser::ast::AddIdentity&);
  void command(const parser::ast::SetIdentity&);
  void command(const parser::ast::DropIdentity&);
  void command(const parser::ast::AddConstraint&);
  void command(const parser::ast::DropConstraint&);
  void command(const parser::ast::ValidateConstraint&);
  void command(const parser::ast::SetTableOptions&);
  void command(const parser::ast::SetColumnOptions&);
  void command(const parser::ast::SetIndexStatistics&);
  void command(const parser::ast::ChangeOwner&);
  void command(const parser::ast::DropExpression&);
  void command(const parser::ast::AlterForeignOptions&);
  void command(const parser::ast::AlterConstraint&);
  void command(const parser::ast::SetTriggerFiring&);
  void command(const parser::ast::SetRowSecurity&);
  void command(const parser::ast::SetReplicaIdentity&);
  void command(const parser::ast::AttachPartition&);
  void command(const parser::ast::AttachIndex&);
  void command(const parser::ast::DetachPartition&);
  void command(const parser::ast::OtherAlteration&);

  /// 42703 `column "x" of relation "t" does not exist`.
  sql::ColumnDef& column(const std::string& name);
  /// Sets the value of an absent field in older rows: the default's value. 23502 if it is NULL and must not be.
  void set_missing(sql::ColumnDef& column, const ColumnDraft& written);
  void add_key(const KeyDraft& key);
  /// 42P16: there is a primary key.
  void check_single_key(const KeyDraft& key) const;
  /// ADD … USING INDEX: the index becomes the constraint's.
  void take_index(const KeyDraft& key);
  void take_dropped_references();
  void add_foreign(const ForeignKeyDraft& key);
  void check_type_is_free(std::int16_t number) const;
  void change_identity_type(const sql::ColumnDef& changed, sql::Type);
  void add_new_check(const CheckDraft& check, bool validate);
  /// Returns true if there may be rows that new indexes must be filled with. A partitioned table has none.
  bool has_rows_of_its_own() const { return !is_empty_ && !table_.partition_key; }
  /// Returns true if rows lie under the new key. Tables of one tree have the same keys of rows, so one that a table of it gets alone is an index.
  bool makes_row_key(const KeyDraft& key) const;
  /// Returns the table's own name of a constraint that the statement names, which is one of the partitioned table's.
  std::string own_constraint_name(const std::string& written) const;
  void require_not_null(sql::ColumnDef& column);
  void check_no_expiry(const sql::ColumnDef& changed) const;
  void leave_presence(std::int16_t number);
  void leave_primary_key();
  void drop_indexes_over(std::int16_t number);
  std::vector<sql::Oid> computed_indexes_over(std::int16_t number) const;
  void take_column(sql::ColumnDef dropped);

  CatalogDraft& draft_;
  const TablePtr before_;
  sql::TableDef table_;
  const bool is_empty_;
  const TreePlace place_;
  std::vector<std::int16_t> new_not_null_;
  std::vector<std::string> new_checks_;
  std::vector<sql::Oid> new_indexes_, new_foreign_keys_, validated_foreign_keys_;
  bool needs_stored_keys_ = false, needs_rewrite_ = false;
  std::vector<ColumnRewrite> rewrites_;
  std::vector<std::pair<sql::Oid, std::int64_t>> restarts_;
};

}  // namespace redquel::executor
