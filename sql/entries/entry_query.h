#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace redquel::sql {

/// Which rows a condition finds by the entries of an index: algebra over the sets of rows that have an entry.
struct EntryQuery {
  enum class Kind : std::uint8_t { kEntry, kAll, kAny, kEverything, kNothing };
  Kind kind = Kind::kEverything;
  std::string entry = {};                 // kEntry
  std::vector<EntryQuery> operands = {};  // kAll, kAny: at least two
  /// False: rows for which the condition is not true may be among those found.
  bool exact = true;
};

EntryQuery one_entry(std::string entry);
EntryQuery every_row();  // not exact
EntryQuery no_row();
/// The rows that all, or any, of the queries find. Without queries: every row, or none.
EntryQuery all_of(std::vector<EntryQuery> queries);
EntryQuery any_of(std::vector<EntryQuery> queries);

}  // namespace redquel::sql
