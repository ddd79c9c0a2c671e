#pragma once

#include <cstdint>
#include <string_view>

namespace redquel::sql {

/// The number by which keyvalue() tells the objects of a document apart: where `object`, a view into `document`, begins in
/// PostgreSQL's binary form of the document. 0 for the document itself.
std::int64_t object_number(std::string_view document, std::string_view object);

}  // namespace redquel::sql
