#pragma once

#include <cstddef>
#include <string>

namespace redquel::sql {

/// Makes room for so many bytes more. The text moves in pieces, between which the interrupts are checked: a text of hundreds of megabytes
/// holds up other sessions for none of its moves.
void make_room(std::string& text, std::size_t bytes);

}  // namespace redquel::sql
