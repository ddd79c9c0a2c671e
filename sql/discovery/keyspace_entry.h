#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/discovery/proposal.h"

namespace redquel::sql {

/// Keys of one shape and one Redis type, on their way to a table or a structure of one.
struct KeyspaceEntry {
  KeyPieces pieces;
  std::string type;
  std::size_t count = 0;
  std::vector<KeySample> samples;
  bool is_used = false;

  bool is_complete() const { return samples.size() >= count; }
  /// Returns about how many bytes its keys take.
  std::size_t bytes() const;
  std::size_t first_slot() const;  // pieces.size(): none
  std::size_t slot_count() const;
  bool has_slot() const { return first_slot() < pieces.size(); }
  const std::string& last_text() const { return pieces.back().text; }
};

/// Words that name a structure beside the rows of a table, not a value: emp:zset, emp:indices:…
bool is_structure_word(std::string_view word);
bool is_counter_word(std::string_view word);
/// Words before the values of an index: emp:indices:<column>:<value>
bool is_index_word(std::string_view word);

/// Returns true if the fields of hashes recur from key to key, as columns do.
bool has_row_fields(const KeyspaceEntry& entry);
/// One entry per shape and type. A shape with keys of several types adds a line to `notes`.
std::vector<KeyspaceEntry> entries_of(std::vector<SampledShape> shapes, std::vector<std::string>& notes);
/// Counts the keys of the entry as keys of the table, with some as its examples.
void note_keys(ProposedTable& table, const KeyspaceEntry& entry);
/// Words that are values though they are few: tag:ruby and tag:web, login:<name>:id.
void merge_few_words(std::vector<KeyspaceEntry>& entries);
/// Returns what is left out with these keys.
LeftOut left_out_of(const KeyspaceEntry& entry, std::string reason);
/// Returns the entries that are not used yet: all, or those with slots.
std::vector<KeyspaceEntry*> unused_entries(std::vector<KeyspaceEntry>& entries, bool with_slots);
/// Leaves unused single strings out if there are more than a hundred: they are names of many things.
void leave_out_single_strings(std::vector<KeyspaceEntry>& entries, std::vector<LeftOut>& left_out);
/// Leaves entries out (they are used then) if there are very many. Half of those that stay have the most keys, the others are the largest.
/// Names of plain characters come before others, structures before strings.
void leave_out_smallest(std::vector<KeyspaceEntry*> entries, std::size_t most, std::vector<LeftOut>& left_out);

}  // namespace redquel::sql
