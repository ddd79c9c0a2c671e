#pragma once

#include <string>
#include <string_view>

#include "sql/datum.h"
#include "sql/types/type.h"

namespace redquel::sql {

// The forms of values that index structures in Redis hold (design-review, items 17 and 20). Values are not NULL.

/// Equal values, and only they, have the same text: numeric trimmed ("1.00" → "1"), -0 → "0", char(n) without trailing
/// blanks, interval folded ('24:00:00' and '1 day' are one), timestamptz in UTC. Other types: their stored text. It
/// parses back to an equal value.
std::string canonical_text(Type type, const Datum& value);
/// Returns true if equal values of the type have one canonical text and SELECT prints it, so that a set of canonical texts may answer
/// DISTINCT.
bool canonical_text_is_output(Type type);

/// Returns true if an ordered index (zset) of the type orders by score (int2, int4, int8, date, timestamps, floats). All other types are
/// ordered lexically: score 0, and the member begins with bytes in order.
bool has_score(Type type);
/// Returns true if different values have different scores. False for int8 and timestamps (only the nearest double) and for floats (NaN and
/// +infinity share +inf): the reader compares rows of equal score again.
bool score_is_exact(Type type);
/// The score as ZADD takes it: the shortest text of the double, "+inf", "-inf". Order of scores = SQL order, weakly.
std::string ordered_score(Type type, const Datum& value);
double score_of(Type type, const Datum& value);

/// Longest prefix of a lexical member. Longer ones are cut there (or one byte before): values that share a cut prefix
/// are compared again by the reader.
inline constexpr std::size_t kMaxOrderedPrefix = 256;
/// Bytes whose memcmp order is the SQL order of the type (weakly where cut). The caller appends 0x00 and the primary
/// key; no shorter prefix followed by 0x00 comes after a longer one.
std::string ordered_member_prefix(Type type, const Datum& value);
/// Follows the members of the value with this prefix and precedes those of greater ones: bytes after a prefix that are 0x00 and then
/// 0xFF are a zero byte of a longer bytea, and a primary key begins with neither.
inline std::string end_of_ordered_members(std::string prefix) { return prefix.append("\0\xFF", 2); }
/// Returns true if a prefix may have been cut, so that different values may share it.
inline bool ordered_prefix_may_be_cut(std::string_view prefix) { return prefix.size() + 1 >= kMaxOrderedPrefix; }

}  // namespace redquel::sql
