#pragma once

#include <cstdint>
#include <span>

namespace redquel::sql {

// The tables of RFC 3454 that SASLprep (RFC 4013) names, in ascending order.

struct CodePointRange {
  char32_t first, last;
};

extern const std::span<const CodePointRange> kOtherSpaces;  // C.1.2: spaces that are not ASCII.
extern const std::span<const CodePointRange> kMappedToNothing;  // B.1: characters that are left out.
extern const std::span<const CodePointRange> kProhibited;  // C.1.2, C.2 to C.9: characters that a password must not have.
extern const std::span<const CodePointRange> kUnassigned;  // A.1: code points without a character in Unicode 3.2.
extern const std::span<const CodePointRange> kRightToLeft;  // D.1: letters written from right to left.
extern const std::span<const CodePointRange> kLeftToRight;  // D.2: letters written from left to right.

}  // namespace redquel::sql
