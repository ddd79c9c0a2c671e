#pragma once

#include <string_view>

namespace redquel::sql {

/// Whether Tcl's engine may search for ever for this advanced regular expression: it has a back-reference to a group that may be empty
/// and may be left out (`(a*)?\1`), or one that is counted (`(a*)(?:\1){2}`). PostgreSQL has mended its copy of the engine. Says yes
/// in doubt. `expanded`: blanks and comments mean nothing.
bool may_search_for_ever(std::string_view pattern, bool expanded);

}  // namespace redquel::sql
