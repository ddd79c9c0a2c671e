#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redquel::sql {

// How names and values become segments of Redis keys (the injective rules of the key layout). escape_segment itself is declared in
// table_keys.h, for everybody; here is what the catalog room needs besides.

/// A value longer than this is named in keys by its hash.
inline constexpr std::size_t kMaxSegmentValue = 512;

/// escape_segment of `raw`, behind `out`.
void append_escaped_segment(std::string_view raw, std::string& out);
/// As escape_segment, of a table's, schema's or column's name: ',' is escaped too, because it joins column names.
std::string escape_name(std::string_view name);
/// As escape_segment, but never hashed: for composite members and fields of uniques, which must be decoded again.
std::string escape_unhashed(std::string_view value);
/// The value of a segment that escape_unhashed made. Throws SqlError XX001 when no value has that segment.
std::string unescape_segment(std::string_view segment);
/// Does the segment stand for a value that only its hash tells ("%#…")?
bool is_hashed_segment(std::string_view segment);

/// The parts between ':'; one part more than there are colons.
std::vector<std::string_view> split_segments(std::string_view key);

}  // namespace redquel::sql
