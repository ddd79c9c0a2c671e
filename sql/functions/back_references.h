#pragma once

#include <cstdint>
#include <string_view>

namespace redquel::sql {

enum class BackReferenceRisk : std::uint8_t {
  kNone,
  kEndless,      // Tcl's engine may search for ever: a group that may be empty and may be left out (`(a*)?\1`), or is counted (`(a*)(?:\1){2}`)
  kOtherBranch,  // it may find what an alternative that was given up has caught: `^(.)\1|\1.`
  kLookaround,   // PostgreSQL takes none there
};

/// Returns the difference between Tcl's engine and PostgreSQL's corrected copy for the back-references of an advanced regular expression.
/// In doubt it assumes the greater risk. `expanded`: blanks and comments are ignored.
BackReferenceRisk back_reference_risk(std::string_view pattern, bool expanded);

}  // namespace redquel::sql
