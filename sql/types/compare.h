#pragma once

#include <cstddef>
#include <cstdint>

#include "sql/column.h"
#include "sql/datum.h"
#include "sql/types/type.h"

namespace redquel::sql {

// The order of values of one type, as <, =, ORDER BY and DISTINCT see it: bytes for text (C collation), char(n) without
// trailing blanks, NaN above infinity, -0 = 0, intervals by folded length. Values are not NULL, columns are not encoded
// (unless the type is text).

/// Negative, zero or positive.
int compare(Type type, const Datum& a, const Datum& b);
int compare(const Column& a, std::size_t row_a, const Column& b, std::size_t row_b);
inline bool equal(Type type, const Datum& a, const Datum& b) { return compare(type, a, b) == 0; }

/// Equal values of one type have equal hashes. Stable within a process only.
std::uint64_t hash(Type type, const Datum& value);
std::uint64_t hash(const Column& column, std::size_t row);

/// Building blocks for kernels.
int compare_text(std::string_view a, std::string_view b);
int compare_bpchar(std::string_view a, std::string_view b);
/// The order of citext: bytes decide, letters of ASCII in lower case.
int compare_citext(std::string_view a, std::string_view b);
int compare_floats(double a, double b);
std::string_view without_trailing_blanks(std::string_view text);

}  // namespace redquel::sql
