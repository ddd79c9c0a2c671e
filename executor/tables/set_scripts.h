#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/tables/read_scripts.h"

namespace redquel::executor {

// Arguments and replies of the read-only scripts rows_of_sets and first_rows_of_sets, which decide by exact cardinalities where to begin.
// A nil reply, decoded as nullopt, says that the script would hold Redis too long, or needs a key that Lua cannot make.

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

void append_rows_of_sets(CommandBatch& batch, const SetProgram& program, const RowArguments& rows, std::size_t max_members,
                         std::size_t max_rows, const ApartRows& apart = {});
/// Rows that sets select. Views into the reply.
struct RowsOfSets {
  FlatRows rows;
  std::span<const Reply> members;           // whose rows were not read
  std::optional<std::string_view> changes;  // the table's change counter, where these rows are to be read apart
};
std::optional<RowsOfSets> decode_rows_of_sets(const Reply& reply, std::size_t fields);

/// Asks for the members alone, and their scores in the program's zsets.
void append_members_of_sets(CommandBatch& batch, const SetProgram& program, std::size_t max_members);
struct MembersOfSets {
  std::span<const Reply> members;
  std::span<const Reply> scores;  // of each zset an array, parallel to `members`; nil: the member is not in it
};
std::optional<MembersOfSets> decode_members_of_sets(const Reply& reply, std::size_t zsets);

/// Asks how many members there are.
void append_count_of_sets(CommandBatch& batch, const SetProgram& program, std::size_t max_members);
std::optional<std::size_t> decode_count_of_sets(const Reply& reply);

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
void append_first_rows_of_sets(CommandBatch& batch, const SetProgram& program, const FirstRows& first, const RowArguments& rows,
                               std::size_t max_members, std::size_t max_rows);
struct FirstRowsOfSets {
  std::size_t found = 0;  // fewer than wanted: there are no more
  FlatRows rows;          // in no order
};
std::optional<FirstRowsOfSets> decode_first_rows_of_sets(const Reply& reply, std::size_t fields);

}  // namespace redquel::executor
