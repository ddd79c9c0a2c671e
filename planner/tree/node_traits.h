#pragma once

#include <cstdint>

namespace redquel::planner {

/// How a physical node itself reads its table.
enum class Reads : std::uint8_t {
  kNothing,         // no table
  kByKey,           // rows of known primary keys: no other row changes the answer
  kByValue,         // rows of known unique values
  kRows,            // other rows, each at most once
  kJoined,          // rows for each batch of the outer input
  kEntries,         // entries of indexes; rows only by the fallback
  kEntriesOfInput,  // entries of indexes for the input's rows, which it reads again in the same moment
  kForeign,         // keys of an application: nothing shows that they have changed meanwhile
  kCopy,            // rows in memory; rows in Redis only by the fallback
};

/// How a physical node reads a table of which the open transaction has changed rows.
enum class OverChanges : std::uint8_t {
  kAsItIs,       // the changed rows are laid over those in Redis
  kWithoutGoal,  // the same, unless it stops at a LIMIT
  kAnew,         // the statement is planned anew without such nodes
};

/// How many commands a physical node may need for its table.
enum class Walks : std::uint8_t {
  kNot,    // one, or one for each batch of its input
  kPart,   // several, over rows that a condition selects
  kTable,  // several, over the whole table
};

/// The traits of one kind of physical node, for walks over plans. Each struct of a node states it as `kTraits`; a struct without it does not
/// compile as a node.
struct NodeTraits {
  Reads reads = Reads::kNothing;
  OverChanges over_changes = OverChanges::kAsItIs;
  Walks walks = Walks::kNot;
  bool blocks = false;            // a row that it gives may depend on all rows that it reads
  bool is_row_wise = false;       // gives at most one row for each row of its input, made of that row alone
  const char* command = nullptr;  // of a node that writes: the name of the SQL command; null: it only reads
};

}  // namespace redquel::planner
