#pragma once

#include <functional>
#include <string>

#include "executor/storage/row_reader.h"
#include "sql/catalog/member_form.h"

namespace redquel::executor {

// Rows of many small sets by plain commands: SCARD of each, then SORT_RO of each. All leave together, in two round trips, and cost Redis half of what
// a script for each set costs it.

/// Members of a set that is small enough: SORT_RO of a set copies all of it.
inline constexpr std::int64_t kSmallSet = 256;

/// Returns true if SORT_RO can name the table's rows. It gives no values of rows that move to another node of a cluster, and does not say so.
bool may_sort_sets(const RowReader& reader);
/// Appends the SORT_RO that reads the rows of the set. `ends`: what its members leave out.
void append_sorted_set(CommandBatch& batch, const RowReader& reader, const std::string& set, const sql::MemberEnds& ends);
/// Adds the rows of its reply to the reader, which keeps them alive, and calls `added` for each row that there is. Returns false for an error: the
/// login has no right to SORT … GET.
bool add_sorted_set(RowReader& reader, const RepliesPtr& replies, std::size_t index, const sql::MemberEnds& ends,
                    const std::function<void()>& added = {});

}  // namespace redquel::executor
