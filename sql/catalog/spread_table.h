#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/catalog/partitions.h"
#include "sql/datum.h"

namespace redquel::sql {

// A table that lies in several buckets of a cluster (SpreadDef) has a part in each: the same definition with another oid and with the
// prefix behind the tag of that bucket. Parts are read, written and locked like tables. The table itself has no keys but counters.
//
// Index entries lie beside their rows. Only unique values over columns without that of bucket_by lie by value: in the part that the hash of the
// value chooses. There two rows with one value meet.

/// Checks whether the buckets of the table allow its definition: 0A000. The first column of a new primary key takes the place of the hidden key
/// in bucket_by.
void settle_spread(TableDef& table);
/// Makes TableDef::parts of TableDef::spread. To be called after each change of a definition.
void make_parts(TableDef& table);

/// Returns what keeps the table's rows from being spread by that column over several buckets, as a construct for 0A000; nullopt: nothing.
std::optional<std::string> obstacle_to_spread(const TableDef& table, std::int16_t column);

/// Returns the part that has the row. The row is parallel to the table's columns, with the hidden key behind them if the table has one. Throws
/// 23514 if no partition takes it.
const std::shared_ptr<const TableDef>& part_of_row(const TableDef& table, std::span<const Datum> row);
/// Returns the number of the part that has the rows with this value in the column of bucket_by, in the column's type.
std::size_t part_of_value(const TableDef& table, const Datum& value);
/// Returns the numbers of the parts that may have rows within the limits, in order.
std::vector<std::size_t> parts_within(const TableDef& table, const PartitionRouter::Limits& limits);
/// Returns the columns that decide which part a row belongs to; 0: the hidden key.
std::vector<std::int16_t> columns_of_parts(const TableDef& table);

/// Returns true if unique values over these columns lie by value. `table`: in several buckets, or a part of such a table.
bool lies_by_value(const TableDef& table, std::span<const std::int16_t> columns);
/// Returns true for a unique index whose entries lie by value.
bool lies_by_value(const TableDef& table, const IndexDef& index);
/// Returns true if some unique values of the table lie by value.
bool has_values_elsewhere(const TableDef& table);
/// Returns the number of the part that has a unique value which lies by value. `field`: TableKeys::unique_field.
std::size_t part_of_unique_value(const TableDef& table, std::string_view field);
/// Returns the key of a row of any part, from its member. `part`: one of the parts. Throws XX001 if the member does not parse.
std::string row_key_in_parts(const TableDef& part, std::string_view member);

/// Returns the parts that lie in buckets: none of a partitioned table, whose parts are tables of their own.
inline std::span<const std::shared_ptr<const TableDef>> bucket_parts(const TableDef& table) {
  if (table.partition_key) return {};
  return table.parts;
}

/// Returns the definitions whose keys are this table's alone: its parts in buckets, or the table itself; of a partitioned table none.
std::vector<std::shared_ptr<const TableDef>> own_stored_tables(const std::shared_ptr<const TableDef>& table);
/// Returns the definitions that have the table's rows: its parts, or the table itself.
std::vector<std::shared_ptr<const TableDef>> stored_tables(const std::shared_ptr<const TableDef>& table);
/// Returns one of them, for questions whose answer is the same for all.
const TableDef& any_stored_table(const TableDef& table);

}  // namespace redquel::sql
