#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/storage/key_column.h"
#include "executor/storage/placed_table.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/member_form.h"
#include "sql/datum.h"
#include "sql/error.h"
#include "sql/session_settings.h"

namespace redquel::executor {

/// The proof in Redis that a referenced row exists: its hash, or a field of a hash of unique values.
struct ReferencedPlace {
  std::string key;
  std::optional<std::string> field;  // nullopt: the key itself is the row

  /// Different places have different ids.
  std::string id() const;
};

/// A foreign key together with both its tables. A row is a span of values parallel to its table's columns, then the hidden key.
///
/// Either table may be one in several buckets, or a part of it (sql/catalog/spread_table.h). Rows that refer to a value are in a set of their own part,
/// so the sets of all parts name all of them. A referenced row is where its key says, a unique value that lies by value where its hash says.
class ForeignKey {
 public:
  using TablePtr = std::shared_ptr<const sql::TableDef>;
  using Row = std::span<const sql::Datum>;

  /// `settings`: of the session. `declared_at`: the table that errors of referenced rows name, if it is not the referencing one.
  ForeignKey(const sql::ForeignKeyDef& definition, TablePtr referencing, TablePtr referenced,
             sql::SessionSettings settings, TablePtr declared_at = nullptr);

  const sql::ForeignKeyDef& definition() const { return definition_; }
  const TablePtr& referencing() const { return referencing_; }
  /// The table that the key was declared at: a partitioned one above, or the referencing one.
  const TablePtr& declared_at() const { return declared_at_; }
  const TablePtr& referenced() const { return referenced_; }

  /// Returns true if the tables lie in two buckets of a cluster, or one of them in several, or if the row may lie elsewhere than the value.
  bool spans_buckets() const {
    return refers_by_value_ || !referencing_->parts.empty() || !referenced_->parts.empty() || referencing_->tag() != referenced_->tag();
  }
  /// Returns true if the tables are one.
  bool refers_to_itself() const;
  /// Returns true if the row, which has no NULL, refers to a place in the referenced part. A row that can refer to nothing belongs to the first part.
  bool concerns(Row referencing_row) const;
  bool is_of_first_part() const;

  enum class Nulls { kNone, kSome, kAll };
  Nulls nulls_of(Row referencing_row) const;
  /// The place that a row without NULLs refers to; nullopt: no value of the referenced columns' types is equal to its own.
  std::optional<ReferencedPlace> place_of(Row referencing_row) const;
  /// The place of a row that may be referred to; nullopt: it has a NULL there.
  std::optional<ReferencedPlace> own_place(Row referenced_row) const;
  /// Field of the lock that keeps the place as it is (executor/storage/locks.h), a lock of the referenced table.
  std::string lock_field(Row referencing_row) const;
  std::string own_lock_field(Row referenced_row) const;

  /// The table of that lock.
  PlacedTable own_lock_table(Row referenced_row) const;

  /// Key of the set of rows that refer to a row's values; nullopt: none can. Of the referencing table, or of one part of it.
  std::optional<std::string> set_of_references(Row referenced_row) const;
  /// Key of the set that a row of the referencing table is in; nullopt: it has a NULL.
  std::optional<std::string> own_set(Row referencing_row) const;

  /// The name that such a set has for the row with this member; views into `member`.
  std::string_view name_in_set(std::string_view member) const;
  /// Texts that make names in the set of references to a row whole members.
  sql::MemberEnds ends_of_references(Row referenced_row) const;

  /// Returns the values that ON UPDATE CASCADE gives the referencing columns, NULLs included. Throws errors of
  /// assigning them.
  std::vector<sql::Datum> cascaded_values(Row referenced_row) const;

  /// Returns true if removing a referenced row deletes or changes its references.
  bool acts() const { return acts_on(false) || acts_on(true); }
  /// Returns true for the action of a deletion, or (`is_update`) of a change of the key.
  bool acts_on(bool is_update) const;
  /// RESTRICT of the same event, whose check waits for no commit, even where the constraint is deferred.
  bool restricts(bool is_update) const;

  /// 23503 of a row that refers to nothing, or mixes NULLs and values under MATCH FULL.
  sql::SqlError missing(Row referencing_row, const sql::SessionSettings& settings) const;
  /// 23503 of a row that is still referred to.
  sql::SqlError still_referenced(Row referenced_row, const sql::SessionSettings& settings) const;

 private:
  std::optional<std::vector<sql::Datum>> values_as_referenced(Row referencing_row) const;
  /// The values by which the rows that refer to this one are in a set; nullopt: none can.
  std::optional<std::vector<sql::Datum>> values_for_references(Row referenced_row) const;
  ReferencedPlace place(std::span<const sql::Datum> in_key_order) const;
  std::string lock_of(std::span<const sql::Datum> in_key_order) const;
  /// The number of the part that has the place with these values; nullopt: the referenced table lies in one bucket.
  std::optional<std::size_t> part_of_place(std::span<const sql::Datum> in_key_order) const;
  std::string uniques_key(std::span<const sql::Datum> in_key_order, std::string_view field) const;

  const sql::ForeignKeyDef definition_;
  const TablePtr referencing_, referenced_, declared_at_;
  std::vector<std::size_t> referencing_positions_, referenced_positions_;  // in the order of the foreign key
  std::vector<KeyColumn> columns_;                                         // likewise
  std::vector<std::int16_t> columns_in_sets_;                                  // likewise: of the hidden index
  std::vector<std::int16_t> key_columns_;                                  // in the order of the referenced index
  std::vector<std::size_t> key_order_;                                     // of each key column, in the foreign key
  bool is_primary_ = false;
  bool refers_by_value_ = false;  // to a unique value that lies by value
  sql::OmittedParts omitted_;  // of members in the sets of references
  const sql::SessionSettings settings_;
};
using ForeignKeyPtr = std::shared_ptr<const ForeignKey>;

/// Returns the columns of the sets of references: those of the key's hidden index, in the order of the foreign key.
std::vector<std::int16_t> columns_of_references(const sql::TableDef& referencing, const sql::ForeignKeyDef& key);

/// The foreign keys of the table, and those that refer to it. Those of a partitioned table are foreign keys of each of its partitions. `table`: also one in several buckets, or a part of it. A referencing table in several
/// buckets is there once for each part.
std::vector<ForeignKeyPtr> foreign_keys_of(const sql::CatalogSnapshot& catalog, const ForeignKey::TablePtr& table,
                                           const sql::SessionSettings& settings);
std::vector<ForeignKeyPtr> foreign_keys_to(const sql::CatalogSnapshot& catalog, const ForeignKey::TablePtr& table,
                                           const sql::SessionSettings& settings);
/// Like foreign_keys_of(), with a referenced table in several buckets once for each part.
std::vector<ForeignKeyPtr> foreign_keys_by_part(const sql::CatalogSnapshot& catalog, const ForeignKey::TablePtr& table,
                                                const sql::SessionSettings& settings);

/// Name of a row inside sets (sql::TableKeys::member).
std::string member_of(const sql::TableDef& table, ForeignKey::Row row);

}  // namespace redquel::executor
