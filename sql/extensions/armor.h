#pragma once

#include <string>
#include <string_view>

namespace redquel::sql {

// ASCII armor of OpenPGP (RFC 4880, section 6).

/// Appends the armor. `headers`: lines "Key: value" that end with a newline.
void append_armor(std::string_view data, std::string_view headers, std::string& out);
/// Appends the data of an armor. 39000 "Corrupt ascii-armor".
void append_dearmored(std::string_view text, std::string& out);

}  // namespace redquel::sql
