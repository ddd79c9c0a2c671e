#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sql/discovery/proposal.h"

namespace redquel::sql {

using Values = std::vector<std::optional<std::string>>;

// The written form of values in keys and members: a text in another form than its value's is no row.

bool looks_like(PieceKind kind, const std::string& value);
/// Returns the digits of numbers that are filled up with zeros to one width; 0: they are not.
std::size_t padded_width(const Values& values);
/// Returns the digits of ids that are filled up with zeros in a structure; 0: they are not. `keys`: the ids in the keys of the rows.
std::size_t member_width(const Values& ids, const Values& keys);
/// Returns true if the column may be the score of a zset.
bool is_score(const ProposedTable& table, const std::string& column);
/// Makes a column of a key or of members text if its values are not how their type writes them, and bytea of format raw if some are no
/// UTF-8.
void read_back(ProposedColumn& made, const Values& values);

}  // namespace redquel::sql
