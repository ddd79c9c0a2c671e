#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sql/catalog/table_keys.h"

namespace redquel::planner {

/// A zset in the order of one column.
struct OrderedSource {
  enum class Encoding : std::uint8_t {
    kScore,    // the column's value (or the double nearest to it) is the score
    kMember,   // score 0; member = order-preserving bytes of the value, 0x00, row key
    kRowKey,   // score 0; member = row key, whose bytes order as the values do (all-rows zset of a text key)
  };
  std::string key;
  Encoding encoding;
  bool exact;  // equal scores (members' prefixes) mean equal values; false: ties may hide an order (int8, timestamps, long texts)
};

/// The zset that orders the table by this column: an ordered index that is ready, or the all-rows zset for a single-column
/// primary key. nullopt: there is none.
std::optional<OrderedSource> ordered_source(const sql::TableDef& table, std::int16_t column);

/// The form of the zsets that an index over several columns keeps for each value of `leading`, in the order of the column; without a key.
/// nullopt: no index that is ready has these columns.
std::optional<OrderedSource> value_ordered_source(const sql::TableDef& table, std::span<const std::int16_t> leading, std::int16_t column);

/// Returns true if the column's values, unless NULL, are the scores of its zset, digit for digit (int2, int4).
bool scores_are_values(const sql::TableDef& table, std::int16_t column);

}  // namespace redquel::planner
