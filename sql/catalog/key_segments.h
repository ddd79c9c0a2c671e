#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redquel::sql {

// Names and values as segments of Redis keys (the injective rules of the key layout). escape_segment itself is declared in table_keys.h;
// this file has the other functions of the catalog room.

/// A value longer than this is named in keys by its hash.
inline constexpr std::size_t kMaxSegmentValue = 512;

/// escape_segment of `raw`, behind `out`.
void append_escaped_segment(std::string_view raw, std::string& out);
/// Like escape_segment(), for the name of a table, schema or column: also escapes ',', which joins column names.
std::string escape_name(std::string_view name);
/// Like escape_segment(), but never hashes: for composite members and fields of uniques, which are decoded again.
std::string escape_unhashed(std::string_view value);
/// The value of a segment that escape_unhashed made. Throws SqlError XX001 when no value has that segment.
std::string unescape_segment(std::string_view segment);
/// Returns true if the segment holds only the hash of its value ("%#…").
bool is_hashed_segment(std::string_view segment);

/// The parts between ':'; one part more than there are colons.
std::vector<std::string_view> split_segments(std::string_view key);

/// Words of any bytes in one text, each as "<length>:<word>".
void append_listed_word(std::string& text, std::string_view word);
/// Takes the first word away from words that append_listed_word() has written.
std::string_view take_listed_word(std::string_view& words);

}  // namespace redquel::sql
