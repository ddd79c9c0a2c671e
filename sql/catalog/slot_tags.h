#pragma once

#include <string>

namespace redquel::sql {

/// Returns the least decimal number, in braces, whose hash slot this is: a tag for keys beside those of an application.
/// `slot`: 0 to kSlotCount - 1.
std::string slot_tag(int slot);

}  // namespace redquel::sql
