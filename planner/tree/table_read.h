#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/catalog/row_fields.h"
#include "sql/entries/entry_kind.h"
#include "sql/expressions/expression.h"

namespace redquel::planner {

/// The common part of all access paths to a table: the fetched columns and the whole WHERE clause. The clause is checked again on the
/// fetched rows, because index entries only promise a superset.
struct TableRead {
  std::shared_ptr<const sql::TableDef> table;
  std::string alias;
  std::vector<std::int16_t> numbers;  // fetched columns; 0 is the hidden row key
  sql::ExpressionPtr condition;       // over the fetched columns; null: every row
  std::vector<std::int16_t> outputs;  // the node's columns: positions in `numbers`
  /// The fields of `numbers`, if a run reads so little that looking them up again would count; otherwise null.
  std::shared_ptr<const sql::RowFields> fields = nullptr;
};

/// One end of a range. The value is in the column's type and never NULL at run time (NULL: the range is empty).
struct RangeBound {
  sql::ExpressionPtr value;
  bool inclusive = true;
};

/// Values of the first columns of an index over several columns, which name the zset that has the rows with them in the order of the last
/// column (sql::Structure::Kind::kValueZsets). Expressions over parameters alone. Empty: a zset of all rows.
struct LeadingValues {
  std::vector<std::int16_t> columns;
  std::vector<sql::ExpressionPtr> values;
  bool empty() const { return columns.empty(); }
};

/// A comparison that the entries of an index USING gin answer.
struct EntryCondition {
  const sql::EntryKind* kind = nullptr;
  sql::EntryOperation operation = sql::EntryOperation::kContains;
};

/// Sets of row keys and the algebra over them. Values are expressions over parameters alone, in the column's type.
struct SetExpression {
  enum class Kind : std::uint8_t { kSet, kNullSet, kIntersection, kUnion, kDifference, kRange, kEntries };
  Kind kind;
  std::vector<std::int16_t> columns;       // kSet, kNullSet, kEntries: of the structure; kRange: the one that a zset orders by score
  std::vector<sql::ExpressionPtr> values;  // kSet: one per column; kEntries: what the column is compared with
  std::vector<SetExpression> operands;     // kDifference: the first without all others
  std::optional<RangeBound> lower = {}, upper = {};  // kRange: members whose scores are between
  std::optional<EntryCondition> entries = {};        // kEntries
};

/// `column LIKE 'prefix%'` on lexical members.
struct PrefixBound {
  std::string prefix;
};

/// The number of wanted rows of a node from LIMIT and OFFSET (int8, over parameters alone; null: not given).
struct RowGoal {
  sql::ExpressionPtr limit, offset;
  /// True: the node itself leaves out the offset and stops at the limit. False: no more than offset + limit rows will be asked for.
  bool exact = false;
  /// True: nodes above may leave rows out and ask for more: the goal is the size of the first window. Scans in an order and sorts know such goals.
  bool open = false;
  explicit operator bool() const { return limit || offset; }
};

}  // namespace redquel::planner
