#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "executor/tables/read_scripts.h"

namespace redquel::executor {

// Arguments of the read-only scripts rows_of_sets and first_rows_of_sets, which decide by exact cardinalities where to begin.

/// Algebra in postfix order over `keys`: "s" takes the next key, a set; "c" the next key, a set of short members, and with the next two
/// tokens the texts that make them whole (sql::MemberEnds); "z" the next key, a zset, and with the next two tokens its
/// members with scores between these ends; "i2" intersects the last two results, "u3" unites three, "d2" takes the second from the first.
struct SetProgram {
  std::vector<std::string> keys;
  std::vector<std::string> tokens;
  std::vector<std::string> scores = {};  // zsets whose scores of the result's members are asked for, where only ids are
};

/// More rows than `more_than` are not read by the script where that is slow; the table's change counter (a key; empty: never) comes
/// with their ids.
struct ApartRows {
  std::string counter = {};
  std::size_t more_than = 8;
};

/// Reply: nil (too large), or { number of ids, flat rows (id, field…), ids whose rows were not read [, change counter] }. `max_rows` 0:
/// only ids, and then an array of scores for each of the program's zsets (nil: the id is not in it).
void append_rows_of_sets(CommandBatch& batch, const SetProgram& program, const RowArguments& rows, std::size_t max_members,
                         std::size_t max_rows, const ApartRows& apart = {});
/// Reply: nil (too large), or { number of ids }.
void append_count_of_sets(CommandBatch& batch, const SetProgram& program, std::size_t max_members);

/// The first rows of sets in a zset's order.
struct FirstRows {
  std::string key;          // of the zset
  ZsetRange range;          // only members between its ends; offset and count mean nothing
  bool members_hold_value = false;
  std::size_t wanted = 0;
  bool ties = false;        // and all that tie with the last of them
  std::string null_set;     // rows without a place in the zset; empty: none are wanted
  bool nulls_first = false;
};
/// Reply: nil (too large, or a key that Lua cannot make), or { number of ids, flat rows (id, field…) } in no order.
void append_first_rows_of_sets(CommandBatch& batch, const SetProgram& program, const FirstRows& first, const RowArguments& rows,
                               std::size_t max_members, std::size_t max_rows);

}  // namespace redquel::executor
