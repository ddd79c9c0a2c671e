#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/datum.h"
#include "sql/session_settings.h"

namespace redquel::sql {

// A partitioned table (PARTITION BY) has no rows. They lie in its partitions, which are tables with names of their own, and which may be
// partitioned again. All tables of such a tree have the same columns, with the same numbers and fields: a row of one is a row of all.

/// The values of one column of a partition key that conditions allow. As made: every value and NULL.
struct PartitionKeyLimits {
  struct End {
    Datum value;
    bool inclusive = false;
  };
  std::optional<std::vector<Datum>> equal;  // one of these, none of them NULL
  std::optional<End> lower, upper;
  bool only_null = false, not_null = false;
};

/// Knows which partition a row belongs to. Immutable.
class PartitionRouter {
 public:
  using TablePtr = std::shared_ptr<const TableDef>;

  /// A value of a bound, in the type of its column.
  struct Value {
    PartitionBoundDef::Value::Kind kind = PartitionBoundDef::Value::Kind::kValue;
    Datum value;
  };
  struct Child {
    TablePtr table;
    std::vector<Value> values;    // of a list
    std::vector<Value> from, to;  // of a range
    std::size_t first_part = 0, parts = 0;  // of those of the partitioned table: its own, or itself
  };

  /// `children`: the partitions of the table. Throws XX001 for a bound that is no value of the key's types.
  PartitionRouter(const TableDef& table, const std::vector<TablePtr>& children);

  /// Without the default one, in the order of their bounds.
  const std::vector<Child>& children() const { return children_; }
  /// nullptr: there is none.
  const Child* default_child() const { return default_ ? &*default_ : nullptr; }
  /// The tables at the leaves, in the order of their bounds.
  const std::vector<TablePtr>& parts() const { return parts_; }

  /// The numbers of the columns of the partition key, and of those below it.
  const std::vector<std::int16_t>& columns() const { return all_columns_; }

  /// Returns the values of the partition key. The row is parallel to the table's columns.
  std::vector<Datum> key_of(std::span<const Datum> row) const;
  /// Returns the partition that takes rows with the key; nullptr: there is none.
  const Child* child_of(std::span<const Datum> key) const;
  /// Returns the number of the leaf that has the row; nullopt: there is none.
  std::optional<std::size_t> part_of_row(std::span<const Datum> row) const;

  /// Gives the limits of a column by its number.
  using Limits = std::function<PartitionKeyLimits(std::int16_t)>;
  /// Returns the numbers of the leaves that may have rows within the limits, in order.
  std::vector<std::size_t> parts_within(const Limits& limits) const;

  /// Returns a partition whose rows a partition with this bound would take, too; nullptr: there is none. The default one is none such.
  const Child* overlapping(const PartitionBoundDef& bound) const;
  /// Returns true if a range has no values: its end is not behind its beginning.
  bool is_empty_range(const PartitionBoundDef& bound) const;

 private:
  std::vector<Value> parsed(const std::vector<PartitionBoundDef::Value>& values) const;
  int compare_bounds(std::span<const Value> a, std::span<const Value> b) const;
  int compare_with_key(std::span<const Value> bound, std::span<const Datum> key) const;
  bool takes(const Child& child, std::span<const Datum> key) const;
  bool may_take(const Child& child, std::span<const PartitionKeyLimits> limits) const;
  bool default_may_take(std::span<const PartitionKeyLimits> limits) const;
  std::uint64_t hash_of(std::span<const Datum> key) const;

  PartitionKeyDef::Strategy strategy_;
  std::vector<std::size_t> positions_;  // of the key's columns in rows
  std::vector<std::int16_t> columns_, all_columns_;
  std::vector<Type> types_;
  std::vector<Child> children_;
  std::optional<Child> default_;
  std::vector<TablePtr> parts_;
};

/// Gives the partitioned tables above these ones, and these ones themselves, their routers and parts. To be called after each change of
/// definitions, with the types of the snapshot known. Throws XX001 for definitions that are no tree.
void link_partitions(CatalogSnapshot& catalog, std::span<const Oid> changed);
/// Throws XX001 if one of these tables and a table above or below it have other columns, or other primary keys.
void check_partitions(const CatalogSnapshot& catalog, std::span<const Oid> changed);
/// Links all tables.
void link_all_partitions(CatalogSnapshot& catalog);

/// Returns true if both have the same columns, as all tables of a tree of partitions must.
bool have_same_columns(const TableDef& a, const TableDef& b);

/// Returns true if rows of all partitions are read as the definition of the table says: a field that is absent means the same in all of them.
bool are_read_alike(const TableDef& table);

/// Returns true if the row belongs to the partition, by its bound and those of the tables above it.
bool partition_takes(const CatalogSnapshot& catalog, const TableDef& partition, std::span<const Datum> row);

/// The condition that the bound, and those of the tables above, set for the rows of the partition: as pg_get_partition_constraintdef() shows it.
/// Empty: it sets none.
std::string partition_condition_text(const CatalogSnapshot& catalog, const TableDef& partition, const SessionSettings& settings);
/// "RANGE (a, b text_ops)": as pg_get_partkeydef() shows it.
std::string partition_key_text(const TableDef& table);
/// "FOR VALUES FROM (1) TO (MAXVALUE)": as pg_get_expr(relpartbound) shows it.
std::string partition_bound_text(const TableDef& parent, const TableDef& partition, const SessionSettings& settings);

}  // namespace redquel::sql
