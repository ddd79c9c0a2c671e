#pragma once

#include <cstdint>
#include <string_view>

namespace redquel::sql {

/// Returns the number that identifies an object of a document in keyvalue(): the offset of `object`, a view into `document`, in
/// PostgreSQL's binary form. 0 for the document itself.
std::int64_t object_number(std::string_view document, std::string_view object);

}  // namespace redquel::sql
