#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/command_batch.h"
#include "executor/redis/script.h"
#include "executor/tables/row_reader.h"

namespace redquel::executor {

/// Read-only scripts: index and rows in one atomic unit and one round trip. They know no schema; all of it is arguments.
/// A script that would hold Redis too long, or needs a key that Lua cannot make (a hashed one), refuses with a nil reply and its
/// caller takes a path of bounded commands instead.
struct ReadScripts {
  /// Set algebra and the rows of its result. See `append_rows_of_sets`.
  static const Script& rows_of_sets();
  /// A piece of a zset in order, and its rows. See `append_range_rows`.
  static const Script& range_rows();
  /// Row keys from a hash of unique values, and their rows. See `append_unique_rows`.
  static const Script& unique_rows();
  /// Values of an index with the cardinality of their sets. See `append_group_counts`.
  static const Script& group_counts();
};

/// How a script makes row keys and which fields it reads of them.
struct RowArguments {
  std::string prefix;                      // "emp:"
  bool escape = false;                     // members need escaping to become keys
  const std::vector<std::string>* fields;  // of the row
};
RowArguments row_arguments(const RowReader& reader);

/// Algebra in postfix order over `keys`: "s" takes the next key, "i2" intersects the last two results, "u3" unites three,
/// "d2" takes the second from the first.
struct SetProgram {
  std::vector<std::string> keys;
  std::vector<std::string> tokens;
};

/// Reply: nil (too large), or { number of ids, flat rows (id, field…), ids whose rows were not read }.
void append_rows_of_sets(CommandBatch& batch, const SetProgram& program, const RowArguments& rows, std::size_t max_members,
                         std::size_t max_rows);

struct ZsetRange {
  std::string low, high;  // as ZRANGE takes them, low end first whatever the direction
  enum class By : std::uint8_t { kScore, kLex } by = By::kScore;
  bool descending = false;
  std::size_t offset = 0, count = 0;
};
/// Reply: flat (member, score or "", field…) per element; `fetch` false or a key that Lua cannot make: without fields, as
/// { nil, member, score, … }.
void append_range_rows(CommandBatch& batch, std::string_view key, const ZsetRange& range, bool members_hold_value,
                       const RowArguments& rows);

/// Reply: flat (member, field…) of the values that are there; nil: a key that Lua cannot make.
void append_unique_rows(CommandBatch& batch, std::string_view uniques, std::span<const std::string> values, const RowArguments& rows);

/// Reply: nil (too many values), or flat (value, cardinality)…; the NULL set's cardinality first, under nil.
void append_group_counts(CommandBatch& batch, std::string_view values, std::string_view null_set, std::size_t max_values, bool counts);

}  // namespace redquel::executor
