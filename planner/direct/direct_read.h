#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/tree/physical_plan.h"
#include "sql/catalog/row_fields.h"

namespace redquel::planner {

/// A value that is known when the statement starts.
struct DirectValue {
  sql::Type type;
  std::optional<std::uint32_t> parameter = {};  // its slot; nullopt: the constant
  sql::Datum constant = {};                     // never NULL
};

/// A read that is one turn of commands whose words are names and values, and whose replies are the answer. It stands beside the plan and
/// says the same for the usual case alone. A run that meets anything else runs the plan.
struct DirectRead {
  enum class Kind : std::uint8_t {
    kRow,        // HMGET of the row with these key values
    kUniqueRow,  // the script that finds the row of unique values
    kCount,      // ZCARD of the table, or SCARD of the set of these values
    kFirstRows,  // SORT_RO … LIMIT along a zset
    kSetRows,    // the script that reads the rows of a set, if they are few: the set of these values
  };
  Kind kind;
  PhysicalPlan plan;                // keeps what is below
  const PhysicalNode* source;       // the node that reads
  std::shared_ptr<const sql::TableDef> table;
  /// A column by which the rows are ordered.
  struct Order {
    std::size_t column;  // in fields->columns
    sql::Type type;
    bool descending, nulls_first;
  };
  std::vector<std::int16_t> columns = {};  // of the key, the unique values or the set; none (kCount): all rows
  std::vector<DirectValue> values = {};    // parallel to `columns`
  std::shared_ptr<const sql::RowFields> fields = nullptr;  // null: kCount
  std::vector<std::size_t> outputs = {};   // the columns of the answer, in fields->columns; of kCount: each is the count
  std::optional<DirectValue> limit = {};   // int8; more than kMostFirstRows of kFirstRows are not read this way
  std::optional<DirectValue> offset = {};  // int8; kFirstRows, kSetRows
  std::vector<Order> order = {};           // kSetRows; kFirstRows: rows that tie in the first of these are ordered by the others. None: as they come
  // kFirstRows
  std::string zset = {};
  bool descending = false;
  std::string null_rows = {};  // the set of rows without a place in the zset; empty: there are none
  bool nulls_first = false;
  bool proves_order = false;   // the answer counts only if no score is beyond 2^53
};
using DirectReadPtr = std::shared_ptr<const DirectRead>;

inline constexpr std::uint64_t kMostFirstRows = 100, kMostSetRows = 100;

/// Returns the direct read of a plan; null: it has none.
DirectReadPtr direct_read(const PhysicalPlan& plan);

}  // namespace redquel::planner
